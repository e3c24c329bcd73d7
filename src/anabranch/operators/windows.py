"""What a window is: how far it reaches, how it moves, and which attribute is its time."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

from anabranch.errors import BuildError, PlainProblem
from anabranch.graph.schema import Schema
from anabranch.graph.values import LARGEST_INT, SMALLEST_INT
from anabranch.graph.windows import Window

CLOCK = 1  # an input that engines may give to what has windows: its tuples are only there for their time

_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)

# What the edge of a window may be beyond, by the type of its time.
_RANGES = {
    "int": "64 bits",
    "float": "the largest float",
    "datetime": "the years 1 to 9999",
    "date": "the years 1 to 9999",
}


class Axis:
    """Event time as a number line, cut at multiples of the slide.

    A window is known by the index of the boundary it ends at: window j covers [j·slide - length, j·slide). Ints, dates
    and datetimes are whole numbers (microseconds for the latter two). Where the attribute is a float, so are the
    edges: each is the float nearest to the exact multiple, and times are compared with that. So a tuple at 0.3 begins
    the window that follows [0.2, 0.3), although 0.3 // 0.1 is 2.0, and no tuple lies outside the edges it is shown
    (but where floats are further apart than boundaries, and several of these are one float).
    """

    def __init__(self, window: Window, schema: Schema) -> None:
        assert window.on is not None
        self.attribute = window.on
        self.position = schema.names.index(window.on)
        self.kind = schema[window.on].kind
        self.has_zones = self.kind == "datetime"  # so that they are worth looking at
        self._length = self._on_axis(window.length)
        self._slide = self._on_axis(window.slide) if window.slide is not None else self._length
        self.length = _nearest_float(self._length) if self.kind == "float" else self._length

    def _on_axis(self, amount: Fraction) -> Fraction | int:
        if self.kind == "float":
            return amount
        scaled = amount * 1_000_000 if self.kind in ("datetime", "date") else amount
        if scaled.denominator != 1:
            raise BuildError(
                f"a window of {float(amount):g} does not fit attribute '{self.attribute}' of type {self.kind}",
                hint="use a whole number, or make the attribute a float",
            )
        return int(scaled)

    def time(self, item: Any) -> Any:
        return self.time_of(item[self.position])

    def time_of(self, value: Any) -> Any:
        """A value of the attribute as a number of the axis."""
        if self.kind == "float":
            if value != value or value in (float("inf"), float("-inf")):
                raise PlainProblem(f"its time, attribute '{self.attribute}', is {value}, which is in no window")
            return value
        if self.kind == "int":
            return value
        return microseconds(value)

    def boundary(self, time: Any) -> int:
        """The index of the last boundary at or before a time: windows up to it are closed."""
        return self._last_at(time, before=0)

    def windows(self, time: Any) -> range:
        """The windows that cover a time, by the index of their end: those that end after it, and begin by then."""
        return range(self.boundary(time) + 1, self._last_at(time, before=self._length) + 1)

    def _last_at(self, time: Any, before: Fraction | int) -> int:
        """The largest j for which the point `before` j·slide is at or before a time."""
        exact = Fraction(time) if self.kind == "float" else time
        index = int((exact + before) // self._slide)
        return index + 1 if self.point(index + 1, before) <= time else index

    def point(self, index: int, before: Fraction | int = 0) -> Any:
        """j·slide - `before`, as a number of the axis to compare times with: beyond all floats it is infinite."""
        exact = index * self._slide - before
        return _nearest_float(exact) if self.kind == "float" else exact

    def start_of(self, index: int, has_zone: bool | None = None) -> Any:
        return self.shown(self.point(index, self._length), "start", has_zone)

    def end_of(self, index: int, has_zone: bool | None = None) -> Any:
        return self.shown(self.point(index, 0), "end", has_zone)

    def shown(self, number: Any, edge: str, has_zone: bool | None = None) -> Any:
        """A point of the axis as a value of the attribute; what cannot be one is an error, and never another value."""
        try:
            return self._as_attribute(number, has_zone)
        except OverflowError:
            reason = f"the {edge} of the window is beyond {_RANGES[self.kind]}, so no {self.kind} can show it"
            raise PlainProblem(reason) from None

    def _as_attribute(self, number: Any, has_zone: bool | None) -> Any:
        if self.kind == "float":
            if math.isinf(number):
                raise OverflowError
            return number
        if self.kind == "int":
            if not SMALLEST_INT <= number <= LARGEST_INT:
                raise OverflowError
            return number
        moment = _EPOCH + number * _MICROSECOND
        if self.kind == "date":
            return moment.date()
        return moment.replace(tzinfo=UTC) if has_zone else moment


def _nearest_float(exact: Fraction | int) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def microseconds(value: date | datetime) -> int:
    """Whole microseconds since 1970; without a zone a datetime counts as UTC."""
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    elif value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return (value - _EPOCH) // _MICROSECOND
