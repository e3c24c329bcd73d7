"""Windows reach beyond what their time can hold; an edge that cannot be shown is an error where it is asked for."""

from __future__ import annotations

import sys
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from tests.meaning.everywhere import everywhere

LAST_INT, LAST_FLOAT = 2**63 - 1, sys.float_info.max


class Whole(NamedTuple):
    k: int
    t: int


class Real(NamedTuple):
    k: int
    t: float


class Moment(NamedTuple):
    k: int
    t: datetime


class Day(NamedTuple):
    k: int
    t: date


class Count(NamedTuple):
    k: int
    n: int


def edged(kind: Any) -> Any:
    """What shows where windows begin or end."""
    return NamedTuple("Edged", [("k", int), ("edge", kind)])


LENGTHS: dict[Any, dict[str, Any]] = {
    Whole: {"delta": 10},
    Real: {"delta": 1e308},
    Moment: {"days": 400},
    Day: {"days": 400},
}
BEYOND: dict[str, tuple[Any, Any, str, str]] = {
    "an int": (Whole, LAST_INT, "end", "tumbling"),
    "an int of a key": (Whole, LAST_INT, "end", "clock of the key"),
    "a negative int": (Whole, -(2**63), "start", "sliding"),
    "a float": (Real, LAST_FLOAT, "end", "tumbling"),
    "a negative float": (Real, -LAST_FLOAT, "start", "sliding"),
    "a datetime": (Moment, datetime.max, "end", "tumbling"),
    "a datetime of a key": (Moment, datetime.max, "end", "clock of the key"),
    "an early datetime": (Moment, datetime.min, "start", "sliding"),
    "a date": (Day, date.max, "end", "sliding"),
    "an early date": (Day, date.min, "start", "tumbling"),
}
RANGES = {Whole: "64 bits", Real: "the largest float", Moment: "the years 1 to 9999", Day: "the years 1 to 9999"}


def window(kind: Any, shape: str) -> Any:
    length = LENGTHS[kind]
    match shape:
        case "tumbling":
            return ab.tumbling(**length, on="t")
        case "sliding":
            return ab.sliding(**length, slide=next(iter(length.values())), on="t")
        case _:
            return ab.tumbling(**length, on="t", clock="key")


def forms(name: str) -> tuple[str, ...]:
    """Native code has windows over numbers, of lengths of 64 bits; each of its kernels takes seconds to compile."""
    return ("python", "native") if name in ("an int", "an int of a key") else ("python",)


def near(time: Any) -> Any:
    """A time in a window with edges that can be shown, before those at the end, and behind those at the beginning."""
    match time:
        case datetime():
            return datetime(2000, 1, 1)
        case date():
            return date(2000, 1, 1)
        case _:
            return type(time)(7)


@pytest.mark.parametrize("name", BEYOND)
def test_a_window_may_end_where_no_time_can_be(name: str) -> None:
    kind, time, _, shape = BEYOND[name]
    items = sorted([kind(2, near(time)), kind(1, time), kind(2, time), kind(1, time)], key=lambda item: item.t)
    counts = ab.from_items(kind, items).window(window(kind, shape), key="k").aggregate(Count, n=ab.count())
    on_spark = forms(name) if name == "an int" else ("python",)
    found = everywhere(counts.collect("out"), forms=forms(name), forms_on_spark=on_spark).items("out")
    assert sorted(tuple(count) for count in found) == [(1, 2), (2, 1), (2, 1)]


@pytest.mark.parametrize("name", BEYOND)
def test_an_edge_that_cannot_be_shown_is_an_error_where_it_is_asked_for(name: str) -> None:
    kind, time, edge, shape = BEYOND[name]
    items = sorted([kind(2, near(time)), kind(1, time), kind(2, time)], key=lambda item: item.t)
    shown = {"start": ab.window_start(), "end": ab.window_end()}
    windows = ab.from_items(kind, items).window(window(kind, shape), key="k")
    with pytest.raises(ab.OperatorError) as stopped:
        everywhere(windows.aggregate(edged(type(time)), edge=shown[edge]).collect("out"), forms=forms(name))
    assert f"the {edge} of the window is beyond {RANGES[kind]}" in stopped.value.message
    skipped = windows.aggregate(edged(type(time)), edge=shown[edge], on_error="skip").collect("out")
    result = everywhere(skipped, forms=("python",))
    assert (len(result.items("out")), result.metrics.skipped) == (1, 2)
    other = "start" if edge == "end" else "end"
    inner = windows.aggregate(edged(type(time)), edge=shown[other]).collect("out")
    assert len(everywhere(inner, forms=forms(name)).items("out")) == 3


def test_an_int_beyond_64_bits_is_no_edge_even_where_a_float_is_asked_for() -> None:
    windows = ab.from_items(Whole, [Whole(1, LAST_INT)]).window(ab.tumbling(delta=10, on="t"), key="k")
    with pytest.raises(ab.OperatorError, match="the end of the window is beyond 64 bits"):
        everywhere(windows.aggregate(edged(float), edge=ab.window_end()).collect("out"))


@pytest.mark.parametrize("kind", [Whole, Real])
def test_windows_may_be_longer_than_any_float(kind: Any) -> None:
    items = [kind(k % 2, t) for k, t in enumerate((-5, 3, -1, 7))]
    source = ab.from_items(kind, items)
    counts = source.window(ab.tumbling(delta=10**400, on="t"), key="k").aggregate(Count, n=ab.count())
    found = everywhere(counts.collect("out"), forms=("python",)).items("out")
    assert [tuple(count) for count in found] == [(0, 1), (1, 2)]  # -1 is late: its window ends at 0
    firsts = source.distinct("k", window=ab.sliding(delta=10**400, on="t")).collect("out")
    assert len(everywhere(firsts, forms=("python",)).items("out")) == 2
    assert repr(ab.sliding(delta=10**400, on="t")) == "Window(sliding(delta 1e+400, on t))"


def test_a_day_that_begins_in_the_calendar_may_end_behind_it() -> None:
    items = [Day(1, date.max - timedelta(days=1)), Day(1, date.max)]
    days = ab.from_items(Day, items).window(ab.tumbling(days=1, on="t"), key="k")
    starts = everywhere(days.aggregate(edged(date), edge=ab.window_start()).collect("out"), forms=("python",))
    assert [start.edge for start in starts.items("out")] == [date.max - timedelta(days=1), date.max]
