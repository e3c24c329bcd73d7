"""`distinct`: the tuples whose key is not in the window of what came before."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from anabranch.graph.model import Operator, Record
from anabranch.graph.properties import PunctuationIn
from anabranch.graph.values import check_zone, is_of_other_zone, key_reader
from anabranch.graph.windows import Window
from anabranch.operators.base import Emission, Emissions, Meaning, OperatorDefinition
from anabranch.operators.windows import CLOCK, Axis


@dataclass(frozen=True)
class Distinct(OperatorDefinition):
    """Without a window every key is remembered; with one, what has left it is forgotten.

    As with windows that are aggregated, an engine may give it a second input of tuples that only move the clock.
    """

    record: ClassVar = Record(kind="distinct", state="key", selectivity="1:[0,1]", forwards="all")
    key_names: tuple[str, ...]
    window: Window | None = None

    @property
    def key(self) -> tuple[str, ...]:
        return self.key_names

    @property
    def punctuation_in(self) -> PunctuationIn:
        is_punctuated = self.window is not None and self.window.shape == "punctuated"
        return PunctuationIn.EXPECTING if is_punctuated else PunctuationIn.OBLIVIOUS

    def meaning(self, operator: Operator) -> Meaning:
        return _DistinctMeaning(operator, self)


class _DistinctMeaning(Meaning):
    state = ("clock", "has_zone", "boundary", "arrived", "held", "seen")

    def __init__(self, operator: Operator, definition: Distinct) -> None:
        super().__init__(operator)
        schema = operator.inputs[0].schema
        self.window = definition.window
        self.key_of = key_reader(schema, definition.key_names)
        is_by_time = definition.window is not None and definition.window.is_by_time
        self.axis = Axis(definition.window, schema) if definition.window and is_by_time else None
        self.clock: Any = None
        self.has_zone: bool | None = None  # of the times, where they are datetimes
        self.boundary: int | None = None
        self.arrived = 0
        self.held: deque[tuple[Any, Any]] = deque()  # (time, key): what a sliding window holds
        self.seen: Counter[Any] = Counter()

    def process(self, port: int, item: Any) -> Iterator[Emission]:
        time = None if self.axis is None else self.axis.time(item)
        if port == CLOCK:
            self._move_clock(item, time)
            return
        if self.axis is not None and self.axis.has_zones:
            self.has_zone = check_zone(item[self.axis.position], self.has_zone, self.axis.attribute)
        key = self.key_of(item)
        self._forget(time)
        is_new = not self.seen[key]
        self._remember(key, time)
        if is_new:
            yield 0, item

    def _move_clock(self, item: Any, time: Any) -> None:
        """A tuple that is here only for its time; where it is itself, it may be an error."""
        assert self.axis is not None
        if not is_of_other_zone(item[self.axis.position], self.has_zone):
            self.has_zone = check_zone(item[self.axis.position], self.has_zone, self.axis.attribute)
            self.clock = time if self.clock is None else max(self.clock, time)

    def punctuation(self, port: int) -> Emissions:
        if self.window is not None and self.window.shape == "punctuated":
            self.seen.clear()
        return self.forward_punctuation()

    def _forget(self, time: Any) -> None:
        """What the window no longer holds when a tuple of this time arrives."""
        if self.window is None or self.window.shape == "punctuated":
            return
        if self.axis is None:
            self._forget_by_count(int(self.window.length))
            return
        self.clock = time if self.clock is None else max(self.clock, time)
        if self.window.shape == "tumbling":
            boundary = self.axis.boundary(self.clock)
            if boundary != self.boundary:
                self.boundary = boundary
                self.seen.clear()
            return
        horizon = self.clock - self.axis.length
        kept = deque(entry for entry in self.held if entry[0] > horizon)
        if len(kept) < len(self.held):
            self.held = kept
            self.seen = Counter(key for _, key in kept)

    def _forget_by_count(self, length: int) -> None:
        assert self.window is not None
        if self.window.shape == "tumbling":
            if self.arrived == length:
                self.arrived = 0
                self.seen.clear()
        elif len(self.held) > length:
            _, oldest = self.held.popleft()
            self.seen[oldest] -= 1
            if not self.seen[oldest]:
                del self.seen[oldest]

    def _remember(self, key: Any, time: Any) -> None:
        self.arrived += 1
        self.seen[key] += 1
        if self.window is not None and self.window.shape == "sliding":
            self.held.append((time, key))
