"""Windows as generated code keeps them: for each open window a dictionary from keys to lists of numbers.

Tuples are added by generated code. What is here is the rest of their meaning: what closes when no tuple arrives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

from anabranch.codegen.python.aggregates import SlotColumn
from anabranch.codegen.types import EXACT_IN_FLOAT
from anabranch.errors import PlainProblem
from anabranch.graph.model import Operator
from anabranch.graph.values import check_zone
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.aggregates import Aggregate, UserAggregate, WindowEdge
from anabranch.operators.base import PUNCTUATION, Emissions, Meaning
from anabranch.operators.windows import Axis

Slot = Any  # a list, or its only entry


def has_slots(definition: WindowAggregate) -> bool:
    """Whether there is generated code for windows of this kind; others are driven as the oracle drives them."""
    window = definition.window
    if definition.group_by and (definition.key_names or window.measure == "count"):
        return False
    if any(isinstance(column, Aggregate) and column.function == "count_values" for _, column in definition.columns):
        return False
    return window.shape == "punctuated" or (window.shape == "tumbling" and window.clock == "stream")


class SlotWindows(Meaning):
    """What all kinds share. `columns` say what slots hold; `close` is generated code that emits what is open.

    Where changes are tracked (`is_tracked`), `touched` has the keys of slots that changed since they were last saved,
    in the order of their first change, and `removed` the keys of slots that are gone.
    """

    close: Callable[[str], None]  # it is told when: at a "punctuation", or at the "finish"
    columns: Sequence[SlotColumn]
    closes: tuple[str, ...] = ("finish",)
    first_entry = 0
    is_scalar = False  # whether a slot is its only entry, without a list around it

    def __init__(self, operator: Operator) -> None:
        super().__init__(operator)
        self.closing: tuple[Any, ...] = ()  # the ranks of the output that is being made
        self.is_tracked = False
        self.touched: dict[Any, None] = {}
        self.removed: dict[Any, None] = {}

    def punctuation(self, port: int) -> Emissions:
        return ()

    def finish(self) -> Emissions:
        self.close("finish")
        return ()

    def changes(self) -> dict[str, Any]:
        raise NotImplementedError

    def apply(self, changes: dict[str, Any]) -> None:
        raise NotImplementedError

    def forget_changes(self) -> None:
        self.touched.clear()
        self.removed.clear()


class KeySlots(SlotWindows):
    """One open window per key. Keys are in the order of the first tuples of their open windows."""

    state = ("open",)

    def __init__(self, operator: Operator) -> None:
        super().__init__(operator)
        self.open: dict[Any, Slot] = {}

    def changes(self) -> dict[str, Any]:
        return {"removed": list(self.removed), "slots": {key: self.open[key] for key in self.touched}}

    def apply(self, changes: dict[str, Any]) -> None:
        for key in changes["removed"]:
            self.open.pop(key, None)
        self.open.update(changes["slots"])


class CountSlots(KeySlots):
    """Tumbling by count; the first entry of a slot is how many tuples it has."""

    first_entry = 1


class PunctuatedSlots(KeySlots):
    """A punctuation closes the windows of all keys."""

    closes = ("punctuation", "finish")

    def punctuation(self, port: int) -> Emissions:
        self.close("punctuation")
        yield 0, PUNCTUATION

    def taken(self) -> list[tuple[Any, Slot]]:
        """All that is open, which it then no longer is."""
        slots = list(self.open.items())
        if self.is_tracked:
            self.removed |= dict.fromkeys(self.open)
            self.touched.clear()
        self.open.clear()
        return slots


class TimeSlots(SlotWindows):
    """Tumbling by time, closed by the stream's clock.

    The window that time has reached is known by `low` and `high`, so that a tuple in it needs two comparisons; where
    time is a datetime they are for those with the zone `zone`. `current` has its keys.
    """

    state = ("reached", "has_zone", "open")

    def __init__(self, operator: Operator, definition: WindowAggregate) -> None:
        super().__init__(operator)
        self.axis = Axis(definition.window, operator.inputs[0].schema)
        # Only the edges that are asked for: the last day of the calendar has an end that cannot be written.
        self.asked = [column.edge for _, column in definition.columns if isinstance(column, WindowEdge)]
        self.asks_start, self.asks_end = "start" in self.asked, "end" in self.asked
        self.is_number = self.axis.kind in ("int", "float")
        length = definition.window.length
        is_whole = length.denominator == 1 and length < EXACT_IN_FLOAT
        self.whole = int(length) if self.is_number and is_whole else None
        self.reached: int | None = None  # the last boundary
        self.has_zone: bool | None = None  # of the times, where they are datetimes
        self.open: dict[int, dict[Any, Slot]] = {}  # end -> key -> slot; keys by first arrival
        self.forget_current()

    def forget_current(self) -> None:
        self.low: Any = inf
        self.high: Any = -inf
        self.high_index: int | None = None  # the number of that boundary, where it is known
        self.zone: Any = self  # no zone at all
        self.current: dict[Any, Slot] = {}

    def boundary(self, value: Any) -> int:
        """The last boundary at or before a value of the attribute."""
        if self.whole is not None and -EXACT_IN_FLOAT < value < EXACT_IN_FLOAT:
            return int(value // self.whole)  # exact for whole numbers, and much faster than fractions
        self.has_zone = check_zone(value, self.has_zone, self.axis.attribute)
        return self.axis.boundary(self.axis.time_of(value))

    def point(self, index: int) -> Any:
        """A boundary as a number of the axis."""
        if self.whole is not None:
            exact = index * self.whole
            if -EXACT_IN_FLOAT < exact < EXACT_IN_FLOAT:
                return exact if self.axis.kind == "int" else float(exact)
        return self.axis.point(index)

    def due(self, boundary: int) -> list[int]:
        """Windows to close now that time has reached a boundary; in order of their end."""
        self.reached = boundary
        ends = [end for end in self.open if end <= boundary]
        ends.sort()
        return ends

    def enter(self, boundary: int, value: Any) -> bool:
        """Make the window behind a boundary the current one; False if it is closed."""
        assert self.reached is not None
        if boundary < self.reached:
            return False
        self.current = self.open.setdefault(boundary + 1, {})
        axis = self.axis
        if axis.kind != "datetime":
            # Where time goes on by one window, its beginning is known.
            self.low = self.high if boundary == self.high_index else self.point(boundary)
            self.high, self.high_index = self.point(boundary + 1), boundary + 1
            return True
        try:
            self.low, self.high = (axis.end_of(each, self.has_zone) for each in (boundary, boundary + 1))
            self.zone = value.tzinfo
        except PlainProblem:  # beyond the calendar: each tuple is looked at
            self.zone = self
        return True

    def closed_until(self, end: int, last: Any) -> None:
        """Of the windows with this end, those up to a key are closed."""
        slots = self.open[end]
        for key in list(slots):
            del slots[key]
            if key is last:
                return

    def changes(self) -> dict[str, Any]:
        slots = [(end, key, self.open[end][key]) for end, key in self.touched if end in self.open]
        return {"reached": self.reached, "has_zone": self.has_zone, "ends": list(self.open), "slots": slots}

    def apply(self, changes: dict[str, Any]) -> None:
        self.reached, self.has_zone = changes["reached"], changes["has_zone"]
        for end in [end for end in self.open if end not in changes["ends"]]:
            del self.open[end]
        for end, key, slot in changes["slots"]:
            self.open.setdefault(end, {})[key] = slot

    def edges(self, end: int) -> tuple[Any, Any]:
        """The start and the end of a window, where they are asked for; None elsewhere."""
        axis = self.axis
        if self.is_number:
            start = axis.shown(self.point(end - 1), "start") if self.asks_start else None
            if not self.asks_end:
                return start, None
            return start, axis.shown(self.high if end == self.high_index else self.point(end), "end")
        start = axis.start_of(end, self.has_zone) if self.asks_start else None
        return start, axis.end_of(end, self.has_zone) if self.asks_end else None


def slot_windows(operator: Operator, definition: WindowAggregate) -> SlotWindows:
    if definition.window.shape == "punctuated":
        return PunctuatedSlots(operator)
    return TimeSlots(operator, definition) if definition.window.is_by_time else CountSlots(operator)


# From the oracle's windows ----------------------------------------------------------------------------------------


def take_over(windows: SlotWindows, meaning: Any, definition: WindowAggregate) -> None:
    """Go on with the windows that the oracle's meaning has open."""
    match windows:
        case TimeSlots():
            windows.reached = meaning.reached.get(("stream",))
            windows.has_zone = meaning.zones.get(("stream",))
            for end, keys in meaning.open.items():
                windows.open[end] = _slots(windows, keys, definition)
        case PunctuatedSlots():
            windows.open.update(_slots(windows, meaning.open, definition))
        case CountSlots():
            for key, (contents, count) in meaning.open.items():
                windows.open[key] = [count, *_slots(windows, {key: contents}, definition)[key]]


def given_back(windows: SlotWindows, meaning: Any, definition: WindowAggregate) -> None:
    """The inverse: put what generated code has open into a meaning of the oracle, which has not begun."""
    match windows:
        case TimeSlots():
            if windows.reached is not None:
                meaning.reached["stream",] = windows.reached
            if windows.has_zone is not None:
                meaning.zones["stream",] = windows.has_zone
            for end, slots in windows.open.items():
                if slots:
                    meaning.open[end] = _contents(windows, slots, meaning, definition)
        case PunctuatedSlots():
            meaning.open.update(_contents(windows, windows.open, meaning, definition))
        case CountSlots():
            for key, content in _contents(windows, windows.open, meaning, definition).items():
                meaning.open[key] = content, windows.open[key][0]


def _contents(
    windows: SlotWindows, slots: Mapping[Any, Slot], meaning: Any, definition: WindowAggregate
) -> dict[Any, Any]:
    """Slots as windows of keys; without keys, as the groups of one."""
    found: dict[Any, Any] = {}
    for by, slot in slots.items():
        key, group = (by, ()) if definition.key_names else ((), by)
        if key not in found:
            found[key] = meaning.new_window()
        entries = [slot] if windows.is_scalar else slot[windows.first_entry :]
        found[key].groups[group] = _accumulators(windows, entries, by, definition)
    return found


def _accumulators(windows: SlotWindows, entries: Sequence[Any], by: Any, definition: WindowAggregate) -> list[Any]:
    schema, names = windows.operator.inputs[0].schema, definition.key_names or definition.group_by
    of_key = dict(zip(names, (by,) if len(names) == 1 else by, strict=True))
    made: list[Any] = []
    given, count = iter(entries), 0
    for (_, column), code in zip(definition.columns, windows.columns, strict=True):
        values = [next(given) for _ in code.first]
        if isinstance(column, WindowEdge):
            made.append(None)
        elif isinstance(column, UserAggregate):
            made += values
        else:
            each: Any = column.accumulator(schema)
            held = code.held if values else ("value",)
            if not values:  # it is part of the key
                values = [of_key[column.attribute or ""]]
            for name, value in zip(held, values, strict=True):
                setattr(each, name, value)
            if hasattr(each, "has_value"):
                each.has_value = True
            # All tuples are counted once, for everybody who asks.
            if column.function == "mean" and "count" not in held:
                each.count = count
            elif column.function in ("count", "mean"):
                count = each.count
            made.append(each)
    return made


def _slots(windows: SlotWindows, contents: dict[Any, Any], definition: WindowAggregate) -> dict[Any, Slot]:
    """Each group of each window as a slot; without keys, it is the group that slots go by."""
    found = {}
    for key, window in contents.items():
        for group, accumulators in window.groups.items():
            slot = []
            for column, accumulator in zip(windows.columns, accumulators, strict=True):
                slot += [getattr(accumulator, name) if name else accumulator for name in column.held]
            found[key if definition.key_names else group] = slot[0] if windows.is_scalar else slot
    return found
