"""Windows as generated code keeps them: for each open window a dictionary from keys to lists of numbers.

Tuples are added by generated code. What is here is the rest of their meaning: what closes when no tuple arrives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import inf
from typing import Any

from anabranch.graph.model import Operator
from anabranch.operators.aggregate import Column, WindowAggregate
from anabranch.operators.aggregates import UserAggregate, WindowEdge
from anabranch.operators.base import PUNCTUATION, Emission, Emissions, Meaning, Step
from anabranch.operators.windows import Axis

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
        # Only the edges that are asked for: the last day of the calendar has an end that cannot be written.
        self.asked = [column.edge for _, column in definition.columns if isinstance(column, WindowEdge)]
        self.like: int | None = None  # the entry of slots that says whether datetimes have a zone
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
        return self.axis.boundary(self.axis.time_of(value))

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
        if axis.kind != "datetime":
            self.low, self.high = axis.point(boundary), axis.point(boundary + 1)
            return self.current
        try:
            self.low, self.high = axis.end_of(boundary, value), axis.end_of(boundary + 1, value)
            self.zone = value.tzinfo
        except OverflowError:  # beyond the calendar: each tuple is looked at
            self.zone = self
        return self.current

    def finish(self) -> Iterator[Step]:
        for end in sorted(self.open):
            for slot in self.open[end].values():
                yield partial(self._close, end, slot)

    def _close(self, end: int, slot: Slot) -> Iterator[Emission]:
        return self.emit(slot, *self.edges(end, slot))

    def edges(self, end: int, slot: Slot) -> tuple[Any, Any]:
        """The start and the end of a window, where they are asked for; None elsewhere."""
        like = slot[self.like] if self.like is not None else None
        start = self.axis.start_of(end, like) if "start" in self.asked else None
        return start, self.axis.end_of(end, like) if "end" in self.asked else None


def slot_windows(operator: Operator, definition: WindowAggregate) -> SlotWindows:
    if definition.window.shape == "punctuated":
        return PunctuatedSlots(operator)
    return TimeSlots(operator, definition) if definition.window.is_by_time else CountSlots(operator)


# From the oracle's windows ----------------------------------------------------------------------------------------


def take_over(windows: SlotWindows, meaning: Any, definition: WindowAggregate) -> None:
    """Go on with the windows that the oracle's meaning has open."""
    windows.late = meaning.late
    match windows:
        case TimeSlots():
            windows.reached = meaning.reached.get(("stream",))
            for end, keys in meaning.open.items():
                windows.open[end] = _slots(keys, definition, [], windows.like, windows.axis.position)
        case PunctuatedSlots():
            windows.open.update(_slots(meaning.open, definition, []))
        case CountSlots():
            for key, (contents, count) in meaning.open.items():
                windows.open.update(_slots({key: contents}, definition, [count]))


def _slots(
    windows: dict[Any, Any], definition: WindowAggregate, start: Slot, like: int | None = None, position: int = 0
) -> dict[Any, Slot]:
    """Each group of each window as a slot; without keys, it is the group that slots go by."""
    found = {}
    for key, contents in windows.items():
        for group, accumulators in contents.groups.items():
            columns = zip(definition.columns, accumulators, strict=True)
            slot = start + [entry for (_, column), each in columns for entry in _entries(column, each)]
            found[key if definition.key_names else group] = slot
            if like is not None:
                slot.append(contents.sample[position])
    return found


def _entries(column: Column, accumulator: Any) -> tuple[Any, ...]:
    """What an accumulator holds, in the order in which `aggregates.py` keeps it."""
    if isinstance(column, UserAggregate):
        return (accumulator,)
    if isinstance(column, WindowEdge):
        return ()
    names = _HELD.get(column.function, ("value",))
    return tuple(getattr(accumulator, name) for name in names)


_HELD = {
    "count": ("count",),
    "sum_": ("total",),
    "mean": ("total", "count"),
    "std": ("count", "mean", "squares"),
    "arg_max": ("value", "best"),
    "count_distinct": ("seen",),
    "collect": ("values",),
}
