"""`join`: a tuple that arrives on one input meets the other's window, then enters its own."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from anabranch.graph.model import Operator, Record
from anabranch.graph.properties import PunctuationOut
from anabranch.graph.values import check_zone, key_reader
from anabranch.graph.windows import Window
from anabranch.operators.base import Emission, Emissions, Meaning, OperatorDefinition
from anabranch.operators.windows import Axis


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
    state = ("windows", "clock", "has_zone")

    def __init__(self, operator: Operator, definition: Join) -> None:
        super().__init__(operator)
        self.definition = definition
        left, right = operator.inputs
        self.keys = [
            key_reader(left.schema, definition.left_on),
            key_reader(right.schema, definition.right_on),
        ]
        self.windows = [
            JoinWindow(definition.left, left),
            JoinWindow(definition.right, right),
        ]
        self.clock: Any = None  # the largest time seen on either input
        self.has_zone: bool | None = None  # of the times on either input, where they are datetimes
        # An engine that runs several of it, each for some of the keys, says what the time was before a tuple came.
        self.told: Callable[[], Any] | None = None

    def process(self, port: int, item: Any) -> Iterator[Emission]:
        own, other = self.windows[port], self.windows[1 - port]
        time = own.time(item)
        if self.told is not None:
            self.pass_to(self.told())
        if own.axis is not None and own.axis.has_zones:
            self.has_zone = check_zone(item[own.axis.position], self.has_zone, own.axis.attribute)
        self.pass_to(time)
        key = self.keys[port](item)
        match = self.definition.match
        for candidate in other.contents(key):
            left, right = (item, candidate) if port == 0 else (candidate, item)
            if match is None or match(left, right):
                yield 0, self.definition.combine(left, right)
        own.add(item, key, time, self.clock)

    def pass_to(self, time: Any) -> None:
        """Move the clock to a time, if that is larger, and forget what has left the windows."""
        if time is not None and (self.clock is None or time > self.clock):
            self.clock = time
            for window in self.windows:
                window.expire(time)

    def punctuation(self, port: int) -> Emissions:
        return ()


class JoinWindow:
    """The tuples of one input that can still be met, by key: only those with an equal key are worth looking at."""

    def __init__(self, window: Window, port: Any) -> None:
        self.window = window
        self.axis = Axis(window, port.schema) if window.is_by_time else None
        self.arrivals = 0
        self.held: dict[Any, dict[int, Any]] = {}  # key -> number of arrival -> tuple, oldest first
        self.by_time: list[tuple[Any, int, Any]] = []  # a heap of (time, number of arrival, key)
        self.by_arrival: deque[tuple[int, Any]] = deque()  # (number of arrival, key)

    def time(self, item: Any) -> Any:
        return None if self.axis is None else self.axis.time(item)

    def contents(self, key: Any) -> list[Any]:
        return list(self.held.get(key, {}).values())

    def expire(self, clock: Any) -> None:
        """By time a window holds what is newer than the largest time on either input minus its length."""
        if self.axis is not None:
            horizon = clock - self.axis.length
            while self.by_time and self.by_time[0][0] <= horizon:
                _, number, key = heapq.heappop(self.by_time)
                self._drop(key, number)

    def add(self, item: Any, key: Any, time: Any, clock: Any) -> None:
        number, self.arrivals = self.arrivals, self.arrivals + 1
        if self.axis is not None:
            if time > clock - self.axis.length:
                heapq.heappush(self.by_time, (time, number, key))
                self.held.setdefault(key, {})[number] = item
        elif self.window.per_key:
            own = self.held.setdefault(key, {})
            own[number] = item
            if len(own) > self.window.length:
                self._drop(key, next(iter(own)))
        else:
            self.by_arrival.append((number, key))
            self.held.setdefault(key, {})[number] = item
            if len(self.by_arrival) > self.window.length:
                oldest, its_key = self.by_arrival.popleft()
                self._drop(its_key, oldest)

    def _drop(self, key: Any, number: int) -> None:
        del self.held[key][number]
        if not self.held[key]:
            del self.held[key]
