"""What is easily forgotten of windows, by every engine and in every form: zeros, ties, gaps, and floats at edges."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from tests.meaning.everywhere import everywhere

NAN = math.nan


class Reading(NamedTuple):
    k: float
    ts: float
    v: float


class Shown(NamedTuple):
    k: float
    low: float
    high: float
    n: int


class Pair(NamedTuple):
    k: float
    n: int


class Counted(NamedTuple):
    start: float
    end: float
    n: int


def texts(items: list[Any], *names: str) -> list[str]:
    """Floats as texts: these tell -0.0 from 0.0, and NaN is NaN."""
    return [" ".join(repr(getattr(item, name)) for name in names) for item in items]


# Zeros and ties -------------------------------------------------------------------------------------------------------

ZEROS = [
    Reading(k, ts, v)
    for ts, (k, v) in enumerate(
        [(-0.0, 0.0), (0.0, -0.0), (0.0, 1.0), (NAN, NAN), (0.0, 0.0), (-0.0, -0.0), (NAN, 2.0)]
    )
]
COLUMNS = {"low": ab.min_("v"), "high": ab.max_("v"), "n": ab.count()}
KINDS: dict[str, tuple[Any, str]] = {
    "tumbling by count": (ab.tumbling(count=2), "-0.0 0.0 0.0, 0.0 0.0 1.0, nan 2.0 nan, -0.0 -0.0 -0.0"),
    "sliding by count": (
        ab.sliding(count=2),
        "-0.0 0.0 0.0, -0.0 0.0 0.0, 0.0 -0.0 1.0, nan nan nan, 0.0 0.0 1.0, 0.0 0.0 0.0, nan 2.0 nan",
    ),
    "tumbling by time": (ab.tumbling(delta=4, on="ts"), "-0.0 0.0 1.0, nan nan nan, 0.0 0.0 0.0, nan 2.0 2.0"),
    "sliding by time": (
        ab.sliding(delta=4, slide=2, on="ts"),
        "-0.0 0.0 0.0, -0.0 0.0 1.0, nan nan nan, 0.0 0.0 1.0, nan nan nan, 0.0 0.0 0.0, nan 2.0 2.0, nan 2.0 2.0",
    ),
    "by the key's time": (
        ab.tumbling(delta=4, on="ts", clock="key"),
        "-0.0 0.0 1.0, nan nan nan, 0.0 0.0 0.0, nan 2.0 2.0",
    ),
}
BOTH = ("python", "native")


@pytest.mark.parametrize("name", KINDS)
def test_a_window_shows_the_key_of_its_first_tuple_and_the_first_of_equal_values(name: str) -> None:
    window, expected = KINDS[name]
    stream = ab.from_items(Reading, ZEROS).window(window, key="k").aggregate(Shown, **COLUMNS)
    on_spark = BOTH if name in ("tumbling by time", "sliding by count") else ("python",)
    found = everywhere(stream.collect("out"), forms_on_spark=on_spark).items("out")
    assert ", ".join(texts(found, "k", "low", "high")) == expected


def test_a_group_shows_the_key_of_its_first_tuple() -> None:
    for window in (ab.tumbling(count=4), ab.sliding(delta=4, slide=4, on="ts"), ab.punctuated()):
        source: Any = ab.from_items(Reading, ZEROS)
        if window.shape == "punctuated":
            source = source.punctuate(lambda reading: reading.ts == 3.0)
        stream = source.window(window).aggregate(Shown, group_by="k", **COLUMNS)
        forms = ("python",) if window.shape == "punctuated" else ("python", "native")
        assert texts(everywhere(stream.collect("out"), forms=forms).items("out"), "k") == ["-0.0", "nan", "0.0", "nan"]


class Numbered:
    """Counts the tuples of a key."""

    def __init__(self) -> None:
        self.n = 0

    def process(self, reading: Reading) -> Pair:
        self.n += 1
        return Pair(reading.k, self.n)


def test_elsewhere_tuples_keep_the_key_they_have() -> None:
    source = ab.from_items(Reading, ZEROS)
    numbered = everywhere(source.process(Numbered, key="k").collect("out")).items("out")
    assert texts(numbered, "k", "n") == ["-0.0 1", "0.0 2", "0.0 3", "nan 1", "0.0 4", "-0.0 5", "nan 2"]
    distinct = everywhere(source.distinct("k").collect("out"), forms=("python",)).items("out")
    assert texts(distinct, "k") == ["-0.0", "nan"]


def test_a_join_shows_the_key_of_the_left_tuple() -> None:
    left = ab.from_items(Reading, [Reading(0.0, 0.0, 1.0), Reading(-0.0, 1.0, 2.0)])
    right = ab.from_items(Pair, [Pair(-0.0, 1), Pair(0.0, 2)])
    kept = ab.sliding(count=9, per_key=True)

    class Both(NamedTuple):
        k: float
        v: float
        n: int

    joined = left.join(right, left=kept, right=kept, on="k", out=Both)
    found = everywhere(joined.collect("out"), forms=("python",)).items("out")
    assert texts(found, "k", "v", "n") == ["0.0 1.0 1", "-0.0 2.0 1", "0.0 1.0 2", "-0.0 2.0 2"]


class Best(NamedTuple):
    k: float
    first: float


def test_arg_max_takes_the_first_of_equal_ranks() -> None:
    items = [Reading(1.0, ts, v) for ts, v in ((5.0, -0.0), (6.0, 0.0), (7.0, -1.0))]
    items += [Reading(2.0, ts, v) for ts, v in ((5.0, 1.0), (6.0, NAN), (7.0, math.inf), (8.0, NAN))]
    best = ab.from_items(Reading, items).window(ab.tumbling(count=9), key="k")
    found = everywhere(best.aggregate(Best, first=ab.arg_max("ts", by="v")).collect("out")).items("out")
    assert [tuple(each) for each in found] == [(1.0, 5.0), (2.0, 6.0)]


# Gaps -----------------------------------------------------------------------------------------------------------------

GAPS = [
    Reading(1.0, ts, 0.0) for ts in (3.0, 6.0, 12.0, 4.0, 7.0, 18.0, 21.0, 33.0, 31.0)
]  # windows: [5, 10), [15, 20)


@pytest.mark.parametrize("clock", ["stream", "key"])
def test_a_tuple_between_windows_is_in_none_is_not_late_and_moves_the_clock(clock: Any) -> None:
    """12 closes [5, 10), so 7 is late; 4 and 31 come after later times too, but into gaps."""
    window = ab.sliding(delta=5, slide=10, on="ts", clock=clock)
    columns = {"start": ab.window_start(), "end": ab.window_end(), "n": ab.count()}
    source = ab.from_items(Reading, GAPS)
    counted = source.window(window, key="k").aggregate(Counted, **columns)
    dropped = everywhere(counted.collect("out"), forms_on_spark=BOTH if clock == "stream" else ("python",))
    assert [tuple(each) for each in dropped.items("out")] == [(5.0, 10.0, 1), (15.0, 20.0, 1)]
    assert dropped.metrics.late == 1
    kept = source.window(window, key="k", late="late").aggregate(Counted, **columns)
    found = everywhere(kept.collect("out"), kept.outputs.late.collect("late"))
    assert [tuple(each) for each in found.items("out")] == [(5.0, 10.0, 1), (15.0, 20.0, 1)]
    assert [late.ts for late in found.items("late")] == [7.0]


# Floats at edges ------------------------------------------------------------------------------------------------------


def test_a_float_at_an_edge_begins_the_next_window() -> None:
    """Edges are the floats nearest to the tenths, so 0.3 is an edge, although 0.3 // 0.1 is 2.0."""
    times = [0.1 * 2, 0.3, 0.1 * 3, math.nextafter(0.3, 0), 0.7, 0.1 * 7]
    source = ab.from_items(Reading, [Reading(1.0, ts, 0.0) for ts in sorted(times)])
    columns = {"start": ab.window_start(), "end": ab.window_end(), "n": ab.count()}
    counts = source.window(ab.tumbling(seconds=0.1, on="ts"), key="k").aggregate(Counted, **columns)
    found = everywhere(counts.collect("out")).items("out")
    assert [tuple(each) for each in found] == [(0.2, 0.3, 2), (0.3, 0.4, 2), (0.7, 0.8, 2)]
    slid = source.window(ab.sliding(seconds=0.2, slide=0.1, on="ts")).aggregate(Counted, **columns)
    assert [tuple(each) for each in everywhere(slid.collect("out")).items("out")] == [
        (0.1, 0.3, 2), (0.2, 0.4, 4), (0.3, 0.5, 2), (0.6, 0.8, 2), (0.7, 0.9, 2),
    ]  # fmt: skip


def test_what_is_as_old_as_its_length_is_out_where_python_subtracts_so() -> None:
    """0.5 - 0.25 is 0.25; but 0.3 - 0.1 is a little less than 0.2, so a tuple at 0.2 is still in."""
    for times, length, passed in (([0.25, 0.5], 0.25, 2), ([0.2, 0.3], 0.1, 1)):
        source = ab.from_items(Reading, [Reading(1.0, ts, 0.0) for ts in times])
        found = everywhere(
            source.distinct("k", window=ab.sliding(seconds=length, on="ts")).collect("out"), forms=("python",)
        )
        assert len(found.items("out")) == passed


# Datetimes that an aggregate compares ---------------------------------------------------------------------------------


class Timed(NamedTuple):
    k: int
    at: datetime


class Latest(NamedTuple):
    own: int
    at: datetime


class Refuses:
    """An aggregate of the user's own that fails on the second tuple."""

    def __init__(self) -> None:
        self.n = 0

    def add(self, timed: Timed) -> None:
        self.n += 1
        if self.n == 2:
            raise ValueError("two")

    def result(self) -> int:
        return self.n


@pytest.mark.parametrize("window", [ab.tumbling(count=3), ab.sliding(count=3, slide=3)])
def test_an_aggregate_that_compares_datetimes_of_both_kinds_fails_when_its_turn_comes(window: Any) -> None:
    moments = [datetime(2024, 1, 1), datetime(2024, 1, 2, tzinfo=UTC), datetime(2024, 1, 3)]
    windows = ab.from_items(Timed, [Timed(1, at) for at in moments]).window(window, key="k")
    with pytest.raises(ab.OperatorError, match="offset-naive and offset-aware"):
        everywhere(windows.aggregate(Latest, own=ab.count(), at=ab.max_("at")).collect("out"), forms=("python",))
    with pytest.raises(ab.OperatorError, match="ValueError: two"):
        everywhere(windows.aggregate(Latest, own=Refuses, at=ab.max_("at")).collect("out"), forms=("python",))
