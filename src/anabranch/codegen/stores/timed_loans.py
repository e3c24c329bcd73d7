"""Loans of windows by time: the stream's clock closes them, or one of each key."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from anabranch.codegen.native.clocks import clocks_of
from anabranch.codegen.stores.loans import Write
from anabranch.codegen.stores.tables import Table, apart, together
from anabranch.codegen.stores.window_loans import Accumulators, Place, WindowsLoan
from anabranch.codegen.stores.words import Unfit, value_of, word_of
from anabranch.errors import PlainProblem
from anabranch.graph.model import Operator
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.windows import CLOCK

if TYPE_CHECKING:
    from anabranch.codegen.native.state import NativeState

_STREAM = ("stream",)
_LARGEST_INDEX = 2**62


class TimedLoan(WindowsLoan):
    """What is lent of windows by time, and where their clock stands."""

    def begin(self) -> None:
        super().begin()
        self.meaning.reached = {}

    def keep_open(self, place: Place, made: Accumulators, size: int) -> None:
        end, key, group = place
        windows = self.meaning.open.setdefault(end, {})
        windows.setdefault(key, self.meaning.new_window()).groups[group] = made

    def open_groups(self) -> Iterator[tuple[Place, Accumulators, int]]:
        for end, windows in self.meaning.open.items():
            for key, window in windows.items():
                for group, made in window.groups.items():
                    yield (end, key, group), made, 0

    def boundary(self, item: Any) -> int | None:
        """The boundary that a tuple's time has reached; None where it has none, which is an error of the tuple."""
        try:
            return int(self.meaning.axis.boundary(self.meaning.axis.time(item)))
        except PlainProblem:
            return None

    def clock_words(self, reached: int) -> dict[str, int]:
        """What a clock keeps that has reached a boundary: it, and the stretch of time behind it."""
        axis = self.meaning.axis
        if abs(reached) > _LARGEST_INDEX:
            raise Unfit("of windows whose number needs more than 64 bits")
        edges = axis.point(reached), axis.point(reached + 1)
        if not all(map(math.isfinite, edges)):
            raise Unfit("of a window whose edge is beyond all floats")
        kind = "float" if axis.kind == "float" else "int"
        low, high = (word_of(kind, each, self.table.pool) for each in edges)
        return {"begun": 1, "reached": reached, "low": low, "high": high}


class StreamClockLoan(TimedLoan):
    """Windows of all keys, which close together when the stream's time passes their end."""

    def begin(self) -> None:
        super().begin()
        self.reached = self.table.cell("reached") if self.table.cell("begun") else None
        if self.reached is not None:
            self.meaning.reached[_STREAM] = self.reached

    def lend(self, port: int, item: Any) -> None:
        boundary = self.boundary(item)
        if boundary is None:
            return
        if self.reached is None or boundary > self.reached:
            self.lend_all()
        elif port != CLOCK:
            key, group = self.key_of(item)
            for end in self.meaning.axis.windows(self.meaning.axis.time(item)):
                if end > self.reached:
                    self.lend_place((end, key, group))

    def writes(self) -> Iterable[Write]:
        reached = self.meaning.reached.get(_STREAM)
        if reached is None:
            return
        now = list(self.open_groups())
        if any(end <= reached for (end, _, _), _, _ in now if end is not None):
            raise Unfit("of windows that have not all closed")
        writes = [self.store(*each) for each in now]
        if reached == self.reached:
            yield from writes
            return
        clock = self.clock_words(reached)
        yield self.forget_all
        for what, word in clock.items():
            yield partial(self.table.set_cell, what, word)
        yield from writes


class SharedLoan(StreamClockLoan):
    """Tumbling: one window is open. With a key and groups, records are a list in the order in which they close."""

    def __init__(self, meaning: Any, state: NativeState, operator: Operator, definition: WindowAggregate) -> None:
        super().__init__(meaning, state, operator, definition)
        name = f"{operator.id}: its keys"
        self.of_keys = Table(state, name) if name in state.operators else None

    def place_of(self, row: list[int], values: list[Any]) -> Place:
        _, key, group = super().place_of(row, values)
        return self.table.cell("reached") + 1, key, group

    def forget_all(self) -> None:
        super().forget_all()
        if self.of_keys is not None:
            self.of_keys.forget_all()
            self.of_keys.set_cell("last", -1)

    def slot_for(self, place: Place) -> int:
        table, keys, words = self.table, self.of_keys, self.words_of_place(place)
        slot = table.find(words)
        if slot >= 0:
            return slot
        is_first = table.count == 0
        slot = table.add(words)
        if keys is None:
            return slot
        if is_first:  # what is left there is of a window that has closed
            keys.forget_all()
            keys.set_cell("last", -1)
        of_key = words[: table.record.of_key]
        last, key = keys.cell("last"), keys.find(of_key)
        after = keys.get(key, "tail") if key >= 0 else last
        follower = -1
        if after >= 0:
            follower = table.get(after, "next")
            table.put(after, next=slot)
        table.put(slot, next=follower)
        if after == last:
            keys.set_cell("last", slot)
        keys.put(key if key >= 0 else keys.add(of_key), tail=slot)
        return slot


class SlidingLoan(StreamClockLoan):
    """Sliding by the stream's clock, of keys or of groups: the end of a window is part of the key of its record."""

    def place_of(self, row: list[int], values: list[Any]) -> Place:
        _, key, group = super().place_of(row, values[1:])
        return values[0], key, group

    def words_of_place(self, place: Place) -> tuple[int, ...]:
        end, key, group = place
        return self.table.key_words([end, *apart(key, self.keys), *apart(group, self.groups)])


class KeyClockLoan(TimedLoan):
    """Of each key what is lent is its clock, and all that is open of it."""

    def begin(self) -> None:
        super().begin()
        self.clocks: dict[Any, int | None] = {}  # by key, what it has reached

    def clock_of(self, key: Any) -> tuple[Any, ...]:
        return ("key", key) if self.meaning.has_key_clock else _STREAM

    def lend(self, port: int, item: Any) -> None:
        if port != CLOCK:
            self.lend_key(self.meaning.key_of(item))

    def lend_key(self, key: Any) -> None:
        if key in self.clocks:
            return
        reached = self.clocks[key] = self.reached_by(key)
        if reached is not None:
            self.meaning.reached[self.clock_of(key)] = reached
            for place, slot in self.open_of(key, reached):
                self.lend_slot(place, slot)

    def reached_by(self, key: Any) -> int | None:
        raise NotImplementedError

    def open_of(self, key: Any, reached: int) -> Iterable[tuple[Place, int]]:
        """What is open of a key."""
        raise NotImplementedError

    def all_reached(self) -> Iterator[tuple[Any, int]]:
        """The keys' clocks."""
        raise NotImplementedError

    def lend_all(self) -> None:
        for key, reached in self.all_reached():
            if key not in self.clocks:
                self.clocks[key] = self.meaning.reached[self.clock_of(key)] = reached
        super().lend_all()

    def now_by_key(self) -> Mapping[Any, list[tuple[Place, Accumulators, int]]]:
        found: dict[Any, list[tuple[Place, Accumulators, int]]] = {key: [] for key in self.clocks}
        for each in self.open_groups():
            found[each[0][1]].append(each)
        return found


class OwnClockLoan(KeyClockLoan):
    """Tumbling without groups: the record of a key has its clock and its only window."""

    def place_of(self, row: list[int], values: list[Any]) -> Place:
        _, key, group = super().place_of(row, values)
        return row[self.table.places["", "reached"]] + 1, key, group

    def _slot(self, key: Any) -> int:
        return self.table.find(self.words_of_place((None, key, ())))

    def reached_by(self, key: Any) -> int | None:
        slot = self._slot(key)
        return self.table.get(slot, "reached") if slot >= 0 and self.table.get(slot, "begun") else None

    def open_of(self, key: Any, reached: int) -> Iterable[tuple[Place, int]]:
        slot = self._slot(key)
        if self.table.get(slot, "size"):
            yield (reached + 1, key, ()), slot

    def all_reached(self) -> Iterator[tuple[Any, int]]:
        for slot in range(self.table.count):
            if self.table.get(slot, "begun"):
                key = together(self.table.key(self.table.row(slot)))
                yield key, self.table.get(slot, "reached")

    def writes(self) -> Iterable[Write]:
        for key, now in self.now_by_key().items():
            reached = self.meaning.reached.get(self.clock_of(key))
            if reached is None:
                continue
            if any(place[0] != reached + 1 for place, _, _ in now):
                raise Unfit("of windows that have not all closed")
            clock = self.clock_words(reached)
            if not now:
                yield partial(self._close, key, clock)
            for each in now:
                yield self.store(*each)
                yield partial(self._set_clock, key, clock)

    def all_writes(self) -> Iterable[Write]:
        """Windows in the order of their first tuples: of windows that end together this is how they close."""
        keys = [place[1] for place, _, _ in self.open_groups()]
        known = [clock[1] if self.meaning.has_key_clock else () for clock in self.meaning.reached]
        self.clocks = dict.fromkeys((*keys, *known))
        return self.writes()

    def _set_clock(self, key: Any, clock: Mapping[str, int]) -> None:
        self.table.put(self._slot(key), **clock)

    def _close(self, key: Any, clock: Mapping[str, int]) -> None:
        """Its stretch is empty: the next tuple looks at the clock."""
        slot = self.table.found(self.words_of_place((None, key, ())))
        self.table.put(slot, **{**clock, "low": 0, "high": 0, "size": 0})


class ClocksTable:
    """The clocks of keys, where they are a table of their own."""

    def __init__(self, state: NativeState, operator: Operator, names: tuple[str, ...]) -> None:
        self.table = Table(state, clocks_of(operator.id))
        self.names = names

    def reached_by(self, key: Any) -> int | None:
        slot = self.table.find(self.table.key_words(apart(key, self.names)))
        return self.table.get(slot, "reached") if slot >= 0 else None

    def all_reached(self) -> Iterator[tuple[Any, int]]:
        for row in self.table.rows().tolist():
            reached = row[self.table.places["", "reached"]]
            yield together(self.table.key(row)), value_of("int", reached, self.table.pool)

    def set(self, key: Any, clock: Mapping[str, int]) -> None:
        slot = self.table.found(self.table.key_words(apart(key, self.names)))
        self.table.put(slot, **clock)
