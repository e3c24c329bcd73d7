"""`join`: a tuple that arrives on one input meets the other's window, then enters its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from anabranch.graph.model import Operator, Record
from anabranch.graph.properties import PunctuationOut
from anabranch.graph.values import is_same_key, key_reader
from anabranch.operators.base import Emission, Emissions, Meaning, OperatorDefinition
from anabranch.operators.windows import Axis, Window


@dataclass(frozen=True)
class Join(OperatorDefinition):
    """`left_on` and `right_on` are the attributes that must be equal, pairwise; empty for `match=` alone."""

    record: ClassVar = Record(
        kind="join", state="user code", forwards="user code", punctuation_out=PunctuationOut.REMOVES
    )
    left: Window
    right: Window
    left_on: tuple[str, ...]
    right_on: tuple[str, ...]
    match: Callable[[Any, Any], Any] | None
    combine: Callable[[Any, Any], Any]

    @property
    def key(self) -> tuple[str, ...]:
        return self.left_on

    def meaning(self, operator: Operator) -> Meaning:
        return _JoinMeaning(operator, self)


class _JoinMeaning(Meaning):
    def __init__(self, operator: Operator, definition: Join) -> None:
        super().__init__(operator)
        self.definition = definition
        left, right = operator.inputs
        self.keys = [
            key_reader(left.schema, definition.left_on),
            key_reader(right.schema, definition.right_on),
        ]
        self.windows = [
            JoinWindow(definition.left, left, self.keys[0]),
            JoinWindow(definition.right, right, self.keys[1]),
        ]
        self.clock: Any = None  # the largest time seen on either input

    def process(self, port: int, item: Any) -> Iterator[Emission]:
        own, other = self.windows[port], self.windows[1 - port]
        time = own.time(item)
        if time is not None and (self.clock is None or time > self.clock):
            self.clock = time
        if self.clock is not None:
            own.expire(self.clock)
            other.expire(self.clock)
        key = self.keys[port](item)
        for candidate in other.contents():
            left, right = (item, candidate) if port == 0 else (candidate, item)
            if self._is_match(key, self.keys[1 - port](candidate), left, right):
                yield 0, self.definition.combine(left, right)
        own.add(item, time, self.clock)

    def _is_match(self, key: Any, other_key: Any, left: Any, right: Any) -> bool:
        if not is_same_key(key, other_key):
            return False
        return self.definition.match is None or bool(self.definition.match(left, right))

    def punctuation(self, port: int) -> Emissions:
        return ()


class JoinWindow:
    """The tuples of one input that can still be met, oldest first."""

    def __init__(self, window: Window, port: Any, key_of: Callable[[Any], Any]) -> None:
        self.window = window
        self.axis = Axis(window, port.schema) if window.is_by_time else None
        self.key_of = key_of
        self.held: deque[tuple[Any, Any, Any]] = deque()  # (time, key, tuple) in order of arrival

    def time(self, item: Any) -> Any:
        return None if self.axis is None else self.axis.time(item)

    def contents(self) -> list[Any]:
        return [item for _, _, item in self.held]

    def expire(self, clock: Any) -> None:
        """By time a window holds what is newer than the largest time on either input minus its length."""
        if self.axis is not None:
            horizon = clock - self.axis.length
            if any(time <= horizon for time, _, _ in self.held):
                self.held = deque(entry for entry in self.held if entry[0] > horizon)

    def add(self, item: Any, time: Any, clock: Any) -> None:
        key = self.key_of(item)
        if self.axis is not None:
            if time > clock - self.axis.length:
                self.held.append((time, key, item))
            return
        self.held.append((None, key, item))
        peers = [entry for entry in self.held if is_same_key(entry[1], key)] if self.window.per_key else self.held
        if len(peers) > self.window.length:
            self._drop_oldest(key)

    def _drop_oldest(self, key: Any) -> None:
        for index, entry in enumerate(self.held):
            if not self.window.per_key or is_same_key(entry[1], key):
                del self.held[index]
                return
