"""The tripwire of a run: what the driver saw, and in a worker what is seen when channels begin and end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from anabranch.graph.model import Operator
from anabranch.tripwire.arrays import protect
from anabranch.tripwire.reached import Change, Entry, Memory, reached

is_on = True  # for measurements of what it costs


class Tripwire:
    """What is expected at each place, from the driver; as it is sent, and as a worker goes on with it."""

    def __init__(self, expected: Mapping[str, Sequence[Entry]] | None = None) -> None:
        self._expected = dict(expected or {})
        self._begun: dict[str, list[Entry]] = {}
        self._memories: dict[str, Memory] = {}
        self._here: dict[str, Memory] = {}  # of the driver, which looks again in the end
        self._is_sent = False  # whether this process has objects of its own

    @classmethod
    def of(cls, operators: Mapping[str, Sequence[Operator]]) -> Tripwire:
        """In the driver: what the operators of each place reach now."""
        if not is_on:
            return cls()
        here = {place: Memory() for place in operators}
        made = cls({place: reached(each, here[place]).entries for place, each in operators.items()})
        made._here = here
        return made

    @property
    def places(self) -> Collection[str]:
        return self._expected.keys()

    def __getstate__(self) -> dict[str, Any]:
        return {"expected": self._expected}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["expected"])  # type: ignore[misc]  # a new one, with what was sent
        self._is_sent = True

    def begin(self, place: str, operators: Callable[[], Sequence[Operator]]) -> Change | None:
        """Before a channel of a place begins. Of several in one process, each begins where the last one ended."""
        if place not in self._expected or place in self._begun:
            return None
        memory = self._memories[place] = Memory()
        look = reached(operators(), memory)
        change = difference(self._expected[place], look.entries)
        if change is not None:
            return Change(change, "begin")
        self._begun[place] = look.entries
        if self._is_sent:
            protect(look.large)
        return None

    def end(self, place: str, operators: Callable[[], Sequence[Operator]]) -> Change | None:
        """When a channel has ended, and before anything of it is taken for good."""
        if place not in self._begun:
            return None
        change = difference(self._begun[place], reached(operators(), self._memories[place]).entries, locally=True)
        return None if change is None else Change(change, "end")

    def look_again(self, operators: Callable[[str], Sequence[Operator]]) -> Change | None:
        """In the driver, before anything is taken for good: what was sent is still what is here.

        Operators that run in one place run here, and in the sequential meaning all others see what they change.
        """
        for place, memory in self._here.items():
            now = reached(operators(place), memory).entries
            change = difference(self._expected[place], now, locally=True)
            if change is not None:
                return Change(change, "here")
        return None


def difference(before: Sequence[Entry], after: Sequence[Entry], *, locally: bool = False) -> Entry | None:
    """The first name that stands for something else; as it was before, where it was there."""
    for old, new in zip(before, after, strict=False):
        if old.what != new.what:  # one of them is new, or is gone
            return old if all(old.what != each.what for each in after) else new
        if old.portable != new.portable or (locally and old.local != new.local):
            return old
    longer = before if len(before) > len(after) else after
    return longer[min(len(before), len(after))] if len(before) != len(after) else None
