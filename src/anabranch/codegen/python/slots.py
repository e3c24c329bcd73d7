"""Windows as generated code keeps them: for each open window a dictionary from keys to lists of numbers.

Tuples are added by generated code. What is here is the rest of their meaning: what closes when no tuple arrives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import inf
from typing import Any

from anabranch.graph.model import Operator
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.base import PUNCTUATION, Emission, Emissions, Meaning, Step
from anabranch.operators.windows import Axis, microseconds

Slot = list[Any]
Result = Callable[[Slot, Any, Any], tuple[Any, ...]]  # of a slot, the start and the end of its window


def has_slots(definition: WindowAggregate) -> bool:
    """Whether there is generated code for windows of this kind; others are driven as the oracle drives them."""
    window = definition.window
    if definition.group_by and (definition.key_names or window.measure == "count"):
        return False
    return window.shape == "punctuated" or (window.shape == "tumbling" and window.clock == "stream")


class SlotWindows(Meaning):
    """What all kinds share. `result` is generated, and gives the values of an output."""

    result: Result

    def __init__(self, operator: Operator) -> None:
        super().__init__(operator)
        self.make = operator.outputs[0].schema.type._make  # type: ignore[attr-defined]  # a NamedTuple

    def punctuation(self, port: int) -> Emissions:
        return ()

    def emit(self, slot: Slot, start: Any = None, end: Any = None) -> Iterator[Emission]:
        yield 0, self.make(self.result(slot, start, end))


class CountSlots(SlotWindows):
    """Tumbling by count. Keys are in the order of the first tuples of their open windows."""

    def __init__(self, operator: Operator) -> None:
        super().__init__(operator)
        self.open: dict[Any, Slot] = {}

    def finish(self) -> Iterator[Step]:
        for slot in self.open.values():
            yield partial(self.emit, slot)


class PunctuatedSlots(CountSlots):
    """A punctuation closes the windows of all keys."""

    def punctuation(self, port: int) -> Emissions:
        yield from self.finish()
        yield 0, PUNCTUATION

    def finish(self) -> Iterator[Step]:
        slots = list(self.open.values())
        self.open.clear()
        for slot in slots:
            yield partial(self.emit, slot)


class TimeSlots(SlotWindows):
    """Tumbling by time, closed by the stream's clock.

    The window that time has reached is known by `low` and `high`, so that a tuple in it needs two comparisons; where
    time is a datetime they are for those with the zone `zone`. `current` has its keys.
    """

    def __init__(self, operator: Operator, definition: WindowAggregate) -> None:
        super().__init__(operator)
        self.axis = Axis(definition.window, operator.inputs[0].schema)
        self.reached: int | None = None  # the last boundary
        self.open: dict[int, dict[Any, Slot]] = {}  # end -> key -> slot; keys by first arrival
        self.forget_current()

    def forget_current(self) -> None:
        self.low: Any = inf
        self.high: Any = -inf
        self.zone: Any = self  # no zone at all
        self.current: dict[Any, Slot] = {}

    def boundary(self, value: Any) -> int:
        """The last boundary at or before a value of the attribute."""
        axis = self.axis
        time = axis.time_of(value)
        return axis.boundary(time)

    def due(self, boundary: int) -> list[int]:
        """Windows to close now that time has reached a boundary; in order of their end."""
        self.forget_current()
        self.reached = boundary
        return [end for end in sorted(self.open) if end <= boundary]

    def enter(self, boundary: int, value: Any) -> dict[Any, Slot] | None:
        """The keys of the window behind a boundary; None if it is closed."""
        assert self.reached is not None
        if boundary < self.reached:
            return None
        self.current = self.open.setdefault(boundary + 1, {})
        axis = self.axis
        try:
            self.low, self.high = axis.end_of(boundary, value), axis.end_of(boundary + 1, value)
        except (OverflowError, ValueError):  # beyond the calendar: each tuple is looked at
            self.low, self.high = inf, -inf
            self.zone = self
        else:
            self.zone = getattr(value, "tzinfo", None)
        return self.current

    def edge(self, end: int, slot: Slot, which: str, like: int | None) -> Any:
        """The start or the end of a window; entry `like` of the slot says whether datetimes have a zone."""
        of = self.axis.start_of if which == "start" else self.axis.end_of
        return of(end, None if like is None else slot[like])

    def finish(self) -> Iterator[Step]:
        for end in sorted(self.open):
            for slot in self.open[end].values():
                yield partial(self._close, end, slot)

    def _close(self, end: int, slot: Slot) -> Iterator[Emission]:
        return self.emit(slot, *self.edges(end, slot))

    edges: Callable[[int, Slot], tuple[Any, Any]]  # generated: those that are asked for
