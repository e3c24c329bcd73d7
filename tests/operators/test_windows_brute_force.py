"""Windows against their definition: after every tuple, everything is worked out anew from the whole prefix.

The definition below knows nothing of buffers, panes or eviction. A window by time ends at a multiple of the slide; it
holds the tuples that lie in it and arrived while it was open; it is closed once the clock has reached its end. What a
tuple sets off is what is closed with it and was not closed without it.

Where the time is a float, so are the edges: each is the float nearest to the exact multiple, and floats are compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import anabranch as ab
from tests.tracing import Trace, line

QUICK = settings(max_examples=70, deadline=None)
THOROUGH = settings(max_examples=3000, deadline=None)

# What flows: the same tuple with four types of time ----------------------------------------------------------------


class AtInt(NamedTuple):
    ts: int
    key: str
    group: float
    value: float
    number: int


class AtFloat(NamedTuple):
    ts: float
    key: str
    group: float
    value: float
    number: int


class AtMoment(NamedTuple):
    ts: datetime
    key: str
    group: float
    value: float
    number: int


class AtDay(NamedTuple):
    ts: date
    key: str
    group: float
    value: float
    number: int


class Content(NamedTuple):
    """Everything that tells one window's contents from another's."""

    key: str
    group: float
    count: int
    numbers: list[int]
    total: float
    low: float
    high: float
    first: int
    last: int
    different: int
    mean: float
    best: int


class IntContent(NamedTuple):
    start: int
    end: int
    numbers: list[int]


class FloatContent(NamedTuple):
    start: float
    end: float
    numbers: list[int]


class MomentContent(NamedTuple):
    start: datetime
    end: datetime
    numbers: list[int]


class DayContent(NamedTuple):
    start: date
    end: date
    numbers: list[int]


EDGES: dict[type, type] = {AtInt: IntContent, AtFloat: FloatContent, AtMoment: MomentContent, AtDay: DayContent}

EPOCH = datetime(1970, 1, 1)


def seconds_of(ts: Any) -> Fraction:
    """A time as an exact number: seconds for numbers and calendars alike, from 1970 on."""
    if isinstance(ts, datetime):
        if ts.tzinfo is not None:
            ts = ts.astimezone(UTC).replace(tzinfo=None)
        return Fraction((ts - EPOCH) // timedelta(microseconds=1), 1_000_000)
    if isinstance(ts, date):
        return Fraction((ts - EPOCH.date()).days * 86_400)
    return Fraction(ts)


def time_of(seconds: Fraction, kind: type) -> Any:
    """The other way around."""
    if kind is AtMoment:
        return EPOCH + timedelta(microseconds=int(seconds * 1_000_000))
    if kind is AtDay:
        return EPOCH.date() + timedelta(days=int(seconds / 86_400))
    return float(seconds) if kind is AtFloat else int(seconds)


def same(value: float) -> Any:
    """Float keys: -0.0 is 0.0, and NaN equals itself."""
    return "nan" if math.isnan(value) else value + 0.0


# The definition ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    items: Sequence[Any]
    is_keyed: bool = False
    is_grouped: bool = False
    length: Fraction = Fraction(1)
    slide: Fraction = Fraction(1)
    clock: str = "stream"
    unit: str = "seconds"

    def key(self, index: int) -> Any:
        return self.items[index].key if self.is_keyed else None

    def time(self, index: int) -> Fraction:
        return seconds_of(self.items[index].ts)

    @property
    def has_float_time(self) -> bool:
        return any(isinstance(item.ts, float) for item in self.items)


def clock_after(case: Case, prefix: int, key: Any) -> Fraction | None:
    """The largest time among the first `prefix` tuples, of the stream or of the key."""
    counted = range(prefix)
    times = [case.time(i) for i in counted if case.clock == "stream" or case.key(i) == key]
    return max(times, default=None)


def edges(case: Case, window: int) -> tuple[Fraction, Fraction]:
    """Window j ends before j * slide and is `length` long."""
    start, end = window * case.slide - case.length, window * case.slide
    return (Fraction(float(start)), Fraction(float(end))) if case.has_float_time else (start, end)


def windows_around(case: Case, index: int) -> list[int]:
    """The windows a tuple lies in."""
    time = case.time(index)
    nearest = math.floor(time / case.slide)
    reach = math.ceil(case.length / case.slide) + 2
    candidates = [(j, *edges(case, j)) for j in range(nearest - 2, nearest + reach + 1)]
    return [j for j, start, end in candidates if start <= time < end]


def is_closed(case: Case, prefix: int, key: Any, window: int) -> bool:
    now = clock_after(case, prefix, key)
    return now is not None and edges(case, window)[1] <= now


def contents_after(case: Case, prefix: int) -> dict[tuple[int, Any], list[int]]:
    """By (window, key), the tuples that arrived while it was open. Built by first arrival in that window."""
    contents: dict[tuple[int, Any], list[int]] = {}
    for index in range(prefix):
        for window in windows_around(case, index):
            if not is_closed(case, index + 1, case.key(index), window):
                contents.setdefault((window, case.key(index)), []).append(index)
    return contents


def is_late(case: Case, index: int) -> bool:
    around = windows_around(case, index)
    return bool(around) and all(is_closed(case, index + 1, case.key(index), window) for window in around)


def closed_by(case: Case, prefix: int) -> list[tuple[int, list[int]]]:
    """The windows that the last tuple of a prefix closes, in order of end, then of first arrival in the window."""
    due = [
        (window, members)
        for (window, key), members in contents_after(case, prefix - 1).items()
        if is_closed(case, prefix, key, window) and not is_closed(case, prefix - 1, key, window)
    ]
    return sorted(due, key=lambda pair: (pair[0], pair[1][0]))


def open_at_end(case: Case) -> list[tuple[int, list[int]]]:
    total = len(case.items)
    left = [
        (window, members)
        for (window, key), members in contents_after(case, total).items()
        if not is_closed(case, total, key, window)
    ]
    return sorted(left, key=lambda pair: (pair[0], pair[1][0]))


def groups_of(case: Case, members: Sequence[int]) -> list[list[int]]:
    """The tuples of one window by group, groups by first arrival."""
    groups: dict[Any, list[int]] = {}
    for index in members:
        group = same(case.items[index].group) if case.is_grouped else None
        groups.setdefault(group, []).append(index)
    return list(groups.values())


def summed(values: Sequence[float]) -> float:
    """From zero on, in order of arrival (and not as Python 3.12's `sum` does, which compensates)."""
    total = 0.0
    for value in values:
        total = total + value
    return total


def content(items: Sequence[Any]) -> Content:
    """What the aggregates of a window are, from its tuples alone."""
    values = [item.value for item in items]
    by_size = sorted(values, key=lambda value: (math.isnan(value), 0.0 if math.isnan(value) else value))
    largest = by_size[-1]
    total = summed(values)
    return Content(
        key=items[0].key,
        group=items[0].group,
        count=len(items),
        numbers=[item.number for item in items],
        total=total,
        low=next(value for value in values if same(value) == same(by_size[0])),
        high=next(value for value in values if same(value) == same(largest)),
        first=items[0].number,
        last=items[-1].number,
        different=len({same(value) for value in values}),
        mean=total / len(items),
        best=next(item.number for item in items if same(item.value) == same(largest)),
    )


AGGREGATES: dict[str, Any] = {
    "key": ab.first("key"),
    "group": ab.first("group"),
    "count": ab.count(),
    "numbers": ab.collect("number"),
    "total": ab.sum_("value"),
    "low": ab.min_("value"),
    "high": ab.max_("value"),
    "first": ab.first("number"),
    "last": ab.last("number"),
    "different": ab.count_distinct("value"),
    "mean": ab.mean("value"),
    "best": ab.arg_max("number", by="value"),
}


# Running -----------------------------------------------------------------------------------------------------------


def run_window(kind: type, case: Case, window: ab.Window, *, late: str | None = None) -> tuple[list[str], ab.Result]:
    """What happened: every tuple `in`, and what it made come `out` or made it `late`."""
    trace = Trace()
    source = ab.from_items(kind, case.items)
    seen = source.for_each(trace("in"))
    windows = source.window(window, key="key" if case.is_keyed else None, late=late)
    out = windows.aggregate(Content, group_by="group" if case.is_grouped else None, **AGGREGATES).named("windows")
    sinks = [seen, out.for_each(trace("out"))]
    if late is not None:
        sinks.append(out.outputs[late].for_each(trace("late")))
    return trace.lines, ab.run(*sinks)


def expected_by_time(case: Case) -> list[str]:
    def closing(windows: list[tuple[int, list[int]]]) -> list[str]:
        return [
            line("out", content([case.items[i] for i in group]))
            for _, members in windows
            for group in groups_of(case, members)
        ]

    lines = []
    for index, item in enumerate(case.items):
        lines.append(line("in", item))
        lines += closing(closed_by(case, index + 1))
        if is_late(case, index):
            lines.append(line("late", item))
    return lines + closing(open_at_end(case))


def window_of(case: Case, *, measure: str) -> ab.Window:
    """The same window as the API makes it."""
    scale = {"milliseconds": Fraction(1, 1000), "seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400, "delta": 1}
    unit = "delta" if measure == "delta" else case.unit
    length, slide = plain(case.length / scale[unit]), plain(case.slide / scale[unit])
    if case.length == case.slide:
        return ab.tumbling(**{unit: length}, on="ts", clock=case.clock)
    return ab.sliding(**{unit: length}, slide=slide, on="ts", clock=case.clock)


def plain(amount: Fraction) -> int | float:
    return int(amount) if amount.denominator == 1 else float(amount)


def check_by_time(kind: type, case: Case, *, measure: str = "time") -> None:
    window = window_of(case, measure=measure)
    expected = expected_by_time(case)
    got, _ = run_window(kind, case, window, late="late")
    assert got == expected
    dropped, result = run_window(kind, case, window)
    assert dropped == [entry for entry in expected if not entry.startswith("late")]
    assert result.metrics["windows"].late == sum(entry.startswith("late") for entry in expected)


def check_edges(kind: type, case: Case) -> None:
    """`window_start` and `window_end` are those of the definition, in the type of the time."""
    out_type = EDGES[kind]
    windows = ab.from_items(kind, case.items).window(window_of(case, measure="time"))
    out = windows.aggregate(out_type, start=ab.window_start(), end=ab.window_end(), numbers=ab.collect("number"))
    closing = [entry for prefix in range(1, len(case.items) + 1) for entry in closed_by(case, prefix)]
    expected = [
        out_type(
            time_of(window * case.slide - case.length, kind),
            time_of(window * case.slide, kind),
            [case.items[i].number for i in members],
        )
        for window, members in closing + open_at_end(case)
    ]
    assert ab.run(out.collect("out")).items("out") == expected


# Inputs ------------------------------------------------------------------------------------------------------------

keys = st.sampled_from(["a", "b", "c"])
group_values = st.sampled_from([0.0, -0.0, 1.0, math.nan])
values = st.sampled_from([0.0, -0.0, 1.0, -1.5, 0.1, 1e300, math.nan, math.inf]) | st.floats(-10, 10)


def tuples_of(kind: type, times: st.SearchStrategy[Any], *, max_size: int = 12) -> st.SearchStrategy[list[Any]]:
    rows = st.lists(st.tuples(times, keys, group_values, values), max_size=max_size)
    return rows.map(lambda found: [kind(*row, number) for number, row in enumerate(found)])


int_times = st.integers(-12, 30) | st.integers(0, 8)
float_times = st.sampled_from([0.1 * n for n in range(-20, 40)]) | st.floats(-5, 10)
moments = st.integers(-8_000_000, 20_000_000).map(lambda us: EPOCH + timedelta(microseconds=us))
close_moments = st.integers(-12, 30).map(lambda us: EPOCH + timedelta(microseconds=us))
whole_moments = st.integers(-12, 30).map(lambda s: EPOCH + timedelta(seconds=s))
days = st.integers(-12, 30).map(lambda n: EPOCH.date() + timedelta(days=n))

whole_lengths = st.integers(1, 9).map(Fraction)
tenths = st.sampled_from([1, 2, 3, 5, 7, 10, 15, 25, 40]).map(lambda n: Fraction(n, 10))
millionths = st.integers(1, 9).map(lambda n: Fraction(n, 1_000_000))
day_lengths = st.integers(1, 5).map(lambda n: Fraction(n * 86_400))


@st.composite
def timed_cases(
    draw: st.DrawFn, kind: type, times: st.SearchStrategy[Any], lengths: st.SearchStrategy[Fraction], unit: str
) -> Case:
    length = draw(lengths)
    slide = draw(lengths | st.just(length))
    is_keyed = draw(st.booleans())
    return Case(
        draw(tuples_of(kind, times)),
        is_keyed=is_keyed,
        is_grouped=draw(st.booleans()),
        length=length,
        slide=slide,
        clock=draw(st.sampled_from(["stream", "key"])) if is_keyed else "stream",
        unit=unit,
    )


CASES: dict[str, tuple[type, st.SearchStrategy[Case]]] = {
    "int seconds": (AtInt, timed_cases(AtInt, int_times, whole_lengths, "seconds")),
    "float seconds": (AtFloat, timed_cases(AtFloat, float_times, tenths, "seconds")),
    "float milliseconds": (AtFloat, timed_cases(AtFloat, float_times, tenths, "milliseconds")),
    "datetime seconds": (AtMoment, timed_cases(AtMoment, moments | whole_moments, whole_lengths | tenths, "seconds")),
    "datetime milliseconds": (AtMoment, timed_cases(AtMoment, moments, tenths, "milliseconds")),
    "datetime microseconds": (AtMoment, timed_cases(AtMoment, close_moments, millionths, "milliseconds")),
    "date days": (AtDay, timed_cases(AtDay, days, day_lengths, "days")),
}


@pytest.mark.parametrize("name", CASES)
def test_windows_by_time_are_what_the_whole_prefix_says(name: str) -> None:
    kind, cases = CASES[name]

    @QUICK
    @given(cases)
    def check(case: Case) -> None:
        check_by_time(kind, case)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_many_more_windows_by_time_are_what_the_whole_prefix_says(name: str) -> None:
    kind, cases = CASES[name]

    @THOROUGH
    @given(cases)
    def check(case: Case) -> None:
        check_by_time(kind, case)

    check()


@pytest.mark.parametrize("name", ["int seconds", "float seconds"])
def test_windows_by_delta_are_windows_by_time_on_any_number(name: str) -> None:
    kind, cases = CASES[name]

    @QUICK
    @given(cases)
    def check(case: Case) -> None:
        check_by_time(kind, case, measure="delta")

    check()


@pytest.mark.parametrize("name", CASES)
def test_the_edges_of_a_window_are_multiples_of_the_slide(name: str) -> None:
    kind, cases = CASES[name]

    @settings(max_examples=40, deadline=None)
    @given(cases.map(lambda case: Case(case.items, length=case.length, slide=case.slide, unit=case.unit)))
    def check(case: Case) -> None:
        check_edges(kind, case)

    check()


# By count ----------------------------------------------------------------------------------------------------------


def expected_by_count(case: Case, count: int, slide: int, *, is_tumbling: bool) -> list[str]:
    """After every `slide` tuples (of the key), the last `count`."""
    lines = []
    for index, item in enumerate(case.items):
        mine = [i for i in range(index + 1) if case.key(i) == case.key(index)]
        lines.append(line("in", item))
        if len(mine) % slide == 0:
            lines += [line("out", content([case.items[i] for i in group])) for group in groups_of(case, mine[-count:])]
    return lines + close_the_rest(case, count, slide, is_tumbling=is_tumbling)


def close_the_rest(case: Case, count: int, slide: int, *, is_tumbling: bool) -> list[str]:
    """At the end, the window of every key that had tuples since it last closed: those, or the last `count`."""
    unfinished = []
    for key in dict.fromkeys(case.key(i) for i in range(len(case.items))):
        mine = [i for i in range(len(case.items)) if case.key(i) == key]
        rest = len(mine) % slide
        if rest:
            unfinished.append(mine[-rest:] if is_tumbling else mine[-count:])
    return [
        line("out", content([case.items[i] for i in group]))
        for members in sorted(unfinished)  # by the first arrival in that window
        for group in groups_of(case, members)
    ]


counted_cases = st.builds(
    Case, tuples_of(AtInt, int_times, max_size=20), is_keyed=st.booleans(), is_grouped=st.booleans()
)


@QUICK
@given(counted_cases, st.integers(1, 6))
def test_tumbling_windows_by_count_are_what_the_whole_prefix_says(case: Case, count: int) -> None:
    got, _ = run_window(AtInt, case, ab.tumbling(count=count))
    assert got == expected_by_count(case, count, count, is_tumbling=True)


@QUICK
@given(counted_cases, st.integers(1, 6), st.integers(1, 8))
def test_sliding_windows_by_count_are_what_the_whole_prefix_says(case: Case, count: int, slide: int) -> None:
    got, _ = run_window(AtInt, case, ab.sliding(count=count, slide=slide))
    assert got == expected_by_count(case, count, slide, is_tumbling=False)


# Punctuated --------------------------------------------------------------------------------------------------------


def expected_punctuated(case: Case, is_last: Callable[[Any], bool]) -> list[str]:
    """Everything since the last punctuation, by key in order of first arrival; the end closes what is left."""

    def closing(start: int, stop: int) -> list[str]:
        by_key: dict[Any, list[int]] = {}
        for i in range(start, stop):
            by_key.setdefault(case.key(i), []).append(i)
        return [
            line("out", content([case.items[i] for i in group]))
            for members in by_key.values()
            for group in groups_of(case, members)
        ]

    lines = []
    for index, item in enumerate(case.items):
        lines.append(line("in", item))
        if is_last(item):
            before = [i for i in range(index) if is_last(case.items[i])]
            lines += closing(before[-1] + 1 if before else 0, index + 1)
    ends = [i for i in range(len(case.items)) if is_last(case.items[i])]
    return lines + closing(ends[-1] + 1 if ends else 0, len(case.items))


@QUICK
@given(counted_cases)
@example(Case([]))
def test_punctuated_windows_are_what_the_whole_prefix_says(case: Case) -> None:
    def is_last(item: AtInt) -> bool:
        return item.ts % 3 == 0

    trace = Trace()
    source = ab.from_items(AtInt, case.items)
    seen = source.for_each(trace("in"))
    windows = source.punctuate(is_last).window(ab.punctuated(), key="key" if case.is_keyed else None)
    out = windows.aggregate(Content, group_by="group" if case.is_grouped else None, **AGGREGATES)
    ab.run(seen, out.for_each(trace("out")))
    assert trace.lines == expected_punctuated(case, is_last)
