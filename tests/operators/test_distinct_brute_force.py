"""`distinct` and `sort` against their definitions: every tuple is judged anew by everything that came before it."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anabranch as ab
from tests.tracing import Trace, line

QUICK = settings(max_examples=70, deadline=None)

EPOCH = datetime(1970, 1, 1)


class AtInt(NamedTuple):
    ts: int
    key: float
    number: int


class AtFloat(NamedTuple):
    ts: float
    key: float
    number: int


class AtMoment(NamedTuple):
    ts: datetime
    key: float
    number: int


TIMES: dict[type, st.SearchStrategy[Any]] = {
    AtInt: st.integers(-8, 12),
    AtFloat: st.sampled_from([0.5 * n for n in range(-10, 20)]) | st.floats(-5, 8),
    AtMoment: st.integers(-5_000_000, 9_000_000).map(lambda us: EPOCH + timedelta(microseconds=us)),
}


def items_of(kind: type) -> st.SearchStrategy[list[Any]]:
    key_values = st.sampled_from([0.0, -0.0, 1.0, math.nan])
    rows = st.lists(st.tuples(TIMES[kind], key_values), max_size=16)
    return rows.map(lambda found: [kind(*row, number) for number, row in enumerate(found)])


def number_of(ts: Any) -> Any:
    """A time as a number of seconds; between floats, float arithmetic counts."""
    return Fraction((ts - EPOCH) // timedelta(microseconds=1), 1_000_000) if isinstance(ts, datetime) else ts


def is_equal(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


Memory = Callable[[list[Any], int], list[Any]]  # the earlier tuples that still count when tuple number n arrives


def check(kind: type, items: list[Any], window: ab.Window | None, memory: Memory) -> None:
    expected = []
    for now, item in enumerate(items):
        expected.append(line("in", item))
        if not any(is_equal(earlier.key, item.key) for earlier in memory(items, now)):
            expected.append(line("out", item))
    trace = Trace()
    source = ab.from_items(kind, items)
    seen = source.for_each(trace("in"))
    ab.run(seen, source.distinct("key", window=window).for_each(trace("out")))
    assert trace.lines == expected


@QUICK
@given(items_of(AtInt))
def test_without_a_window_everything_that_came_before_counts(items: list[AtInt]) -> None:
    check(AtInt, items, None, lambda items, now: items[:now])


@QUICK
@given(items_of(AtInt), st.integers(1, 6))
def test_a_sliding_window_by_count_looks_back_over_that_many_tuples(items: list[AtInt], count: int) -> None:
    check(AtInt, items, ab.sliding(count=count), lambda items, now: items[max(0, now - count) : now])


@QUICK
@given(items_of(AtInt), st.integers(1, 6))
def test_a_tumbling_window_by_count_forgets_after_that_many_tuples(items: list[AtInt], count: int) -> None:
    check(AtInt, items, ab.tumbling(count=count), lambda items, now: items[now - now % count : now])


@pytest.mark.parametrize("kind", TIMES)
def test_a_sliding_window_by_time_looks_back_from_the_largest_time(kind: type) -> None:
    @QUICK
    @given(items_of(kind), st.integers(1, 8))
    def check_one(items: list[Any], seconds: int) -> None:
        def memory(items: list[Any], now: int) -> list[Any]:
            clock = max(number_of(item.ts) for item in items[: now + 1])
            return [item for item in items[:now] if number_of(item.ts) > clock - seconds]

        check(kind, items, ab.sliding(seconds=seconds, on="ts"), memory)

    check_one()


@pytest.mark.parametrize("kind", TIMES)
def test_a_tumbling_window_by_time_forgets_when_the_largest_time_enters_the_next(kind: type) -> None:
    @QUICK
    @given(items_of(kind), st.integers(1, 8))
    def check_one(items: list[Any], seconds: int) -> None:
        def memory(items: list[Any], now: int) -> list[Any]:
            clocks = [max(number_of(item.ts) for item in items[: n + 1]) for n in range(now + 1)]
            return [items[n] for n in range(now) if clocks[n] // seconds == clocks[now] // seconds]

        check(kind, items, ab.tumbling(seconds=seconds, on="ts"), memory)

    check_one()


@QUICK
@given(items_of(AtInt), st.integers(2, 4))
def test_a_punctuated_window_forgets_at_every_punctuation(items: list[AtInt], divisor: int) -> None:
    def is_last(item: AtInt) -> bool:
        return item.ts % divisor == 0

    expected = []
    for now, item in enumerate(items):
        start = max([i + 1 for i in range(now) if is_last(items[i])], default=0)
        expected.append(line("in", item))
        if not any(is_equal(earlier.key, item.key) for earlier in items[start:now]):
            expected.append(line("out", item))
    trace = Trace()
    source = ab.from_items(AtInt, items)
    seen = source.for_each(trace("in"))
    passed = source.punctuate(is_last).distinct("key", window=ab.punctuated())
    ab.run(seen, passed.for_each(trace("out")))
    assert trace.lines == expected


# sort --------------------------------------------------------------------------------------------------------------


def left_after(keys: list[Any], arrived: int, count: int) -> list[int]:
    """The numbers of the tuples that have left a buffer of `count` once `arrived` tuples have come in."""
    waiting: list[int] = []
    left = []
    for number in range(arrived):
        waiting.append(number)
        if len(waiting) == count:
            smallest = min(waiting, key=lambda n: (keys[n], n))
            waiting.remove(smallest)
            left.append(smallest)
    return left


@QUICK
@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.0, -5.0, math.nan]), max_size=14), st.integers(1, 6))
def test_the_smallest_leaves_a_full_sort_buffer(values: list[float], count: int) -> None:
    items = [AtFloat(0.0, value, number) for number, value in enumerate(values)]
    keys = [(1, 0.0) if math.isnan(value) else (0, value) for value in values]
    expected, so_far = [], []
    for now, item in enumerate(items):
        expected.append(line("in", item))
        left = left_after(keys, now + 1, count)
        expected += [line("out", items[n]) for n in left[len(so_far) :]]
        so_far = left
    rest = [n for n in range(len(items)) if n not in so_far]
    expected += [line("out", items[n]) for n in sorted(rest, key=lambda n: (keys[n], n))]
    trace = Trace()
    source = ab.from_items(AtFloat, items)
    seen = source.for_each(trace("in"))
    ab.run(seen, source.sort("key", count=count).for_each(trace("out")))
    assert trace.lines == expected
