"""Aggregates: every function of a window, and those of the user."""

from __future__ import annotations

import functools
import math
import random
import statistics
import struct
from datetime import date, datetime
from typing import Any, NamedTuple

import pytest

import anabranch as ab


class Item(NamedTuple):
    name: str
    n: int
    x: float
    maybe: float | None
    flag: bool
    when: datetime
    tags: list[str]


def item(name: str = "a", n: int = 0, x: float = 0.0, maybe: float | None = None, **others: Any) -> Item:
    return Item(name, n, x, maybe, others.get("flag", False), datetime(2024, 1, 1 + n % 28), others.get("tags", []))


def result_type(kind: Any) -> type:
    class Out(NamedTuple):
        value: kind

    return Out


def aggregated(aggregate: Any, kind: Any, items: list[Item]) -> Any:
    """The value of an aggregate over one window of all items."""
    windows = ab.from_items(Item, items).window(ab.tumbling(count=max(1, len(items))))
    (out,) = ab.run(windows.aggregate(result_type(kind), value=aggregate).collect("out")).items("out")
    return out.value


THREE = [item("b", 3, 0.5), item("a", 1, 2.5), item("c", 2, 2.5)]


@pytest.mark.parametrize(
    ("aggregate", "kind", "expected"),
    [
        (ab.any_("name"), str, "b"),
        (ab.first("name"), str, "b"),
        (ab.last("name"), str, "c"),
        (ab.count(), int, 3),
        (ab.sum_("n"), int, 6),
        (ab.sum_("x"), float, 5.5),
        (ab.min_("name"), str, "a"),
        (ab.max_("n"), int, 3),
        (ab.max_("when"), datetime, datetime(2024, 1, 4)),
        (ab.mean("n"), float, 2.0),
        (ab.mean("x"), float, 5.5 / 3),
        (ab.std("n"), float, 1.0),
        (ab.std("n", ddof=0), float, math.sqrt(2 / 3)),
        (ab.count_distinct("x"), int, 2),
        (ab.collect("n"), list[int], [3, 1, 2]),
        (ab.arg_max("name", by="n"), str, "b"),
        (ab.arg_max("name", by="x"), str, "a"),  # the first of equals
    ],
    ids=str,
)
def test_what_each_aggregate_gives(aggregate: Any, kind: Any, expected: Any) -> None:
    assert aggregated(aggregate, kind, THREE) == expected


def test_aggregates_need_no_more_than_one_tuple() -> None:
    one = [item("a", 7, 0.5)]
    assert aggregated(ab.mean("x"), float, one) == 0.5
    assert math.isnan(aggregated(ab.std("x"), float, one))
    assert aggregated(ab.std("x", ddof=0), float, one) == 0.0


def test_an_int_may_stand_where_a_float_is_asked_for() -> None:
    assert aggregated(ab.sum_("n"), float, THREE) == 6.0
    assert aggregated(ab.sum_("flag"), int, [item(flag=True), item(flag=True), item()]) == 2
    assert aggregated(ab.mean("flag"), float, [item(flag=True), item()]) == 0.5


# Float sums --------------------------------------------------------------------------------------------------------


def bits(value: float) -> bytes:
    return struct.pack("d", value)


def test_floats_are_added_in_order_of_arrival() -> None:
    values = [1e16, 1.0, -1e16, 1.0]
    assert aggregated(ab.sum_("x"), float, [item(x=x) for x in values]) == ((1e16 + 1.0) - 1e16) + 1.0
    rng = random.Random(1)
    values = [rng.uniform(-1, 1) * 10.0 ** rng.randint(-10, 10) for _ in range(1000)]
    total = 0.0
    for value in values:
        total += value
    assert bits(aggregated(ab.sum_("x"), float, [item(x=x) for x in values])) == bits(total)
    assert bits(aggregated(ab.mean("x"), float, [item(x=x) for x in values])) == bits(total / 1000)


def test_the_standard_deviation_is_close_to_the_exact_one_even_far_from_zero() -> None:
    rng = random.Random(2)
    values = [1e9 + rng.random() for _ in range(1000)]
    got = aggregated(ab.std("x"), float, [item(x=x) for x in values])
    assert math.isclose(got, statistics.stdev(values), rel_tol=1e-6)


@pytest.mark.parametrize(
    ("values", "smallest", "largest"),
    [
        ([1.0, math.nan, -2.0], -2.0, math.nan),
        ([math.nan, 1.0], 1.0, math.nan),
        ([math.nan, math.nan], math.nan, math.nan),
        ([math.inf, -math.inf], -math.inf, math.inf),
        ([-0.0, 0.0], -0.0, -0.0),  # equal, so the first
        ([0.0, -0.0], 0.0, 0.0),
    ],
)
def test_nan_is_the_largest_number(values: list[float], smallest: float, largest: float) -> None:
    items = [item(x=x) for x in values]
    assert bits(aggregated(ab.min_("x"), float, items)) == bits(smallest)
    assert bits(aggregated(ab.max_("x"), float, items)) == bits(largest)


def test_arg_max_by_nan_takes_the_first_nan() -> None:
    items = [item("a", x=1.0), item("b", x=math.nan), item("c", x=math.nan), item("d", x=math.inf)]
    assert aggregated(ab.arg_max("name", by="x"), str, items) == "b"


def test_nan_in_a_sum_makes_it_nan() -> None:
    items = [item(x=1.0), item(x=math.nan)]
    assert math.isnan(aggregated(ab.sum_("x"), float, items))
    assert math.isnan(aggregated(ab.mean("x"), float, items))
    assert math.isnan(aggregated(ab.std("x"), float, items))


# Missing values ----------------------------------------------------------------------------------------------------

GAPS = [item("a", maybe=None), item("b", maybe=2.0), item("c", maybe=None), item("d", maybe=4.0)]
NOTHING = [item("a", maybe=None), item("b", maybe=None)]


@pytest.mark.parametrize(
    ("aggregate", "kind", "with_gaps", "of_nothing"),
    [
        (ab.sum_("maybe"), float, 6.0, 0.0),
        (ab.mean("maybe"), float | None, 3.0, None),
        (ab.std("maybe"), float | None, math.sqrt(2.0), None),
        (ab.min_("maybe"), float | None, 2.0, None),
        (ab.max_("maybe"), float | None, 4.0, None),
        (ab.count_distinct("maybe"), int, 2, 0),
        (ab.count(), int, 4, 2),
        (ab.first("maybe"), float | None, None, None),
        (ab.last("maybe"), float | None, 4.0, None),
        (ab.collect("maybe"), list[float | None], [None, 2.0, None, 4.0], [None, None]),
        (ab.arg_max("name", by="maybe"), str, "d", "a"),
    ],
    ids=lambda value: str(value),
)
def test_none_is_skipped_by_what_computes_and_kept_by_what_does_not(
    aggregate: Any, kind: Any, with_gaps: Any, of_nothing: Any
) -> None:
    assert aggregated(aggregate, kind, GAPS) == with_gaps
    assert aggregated(aggregate, kind, NOTHING) == of_nothing


# The user's own ----------------------------------------------------------------------------------------------------


class Spread:
    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale
        self.values: list[float] = []

    def add(self, t: Item) -> None:
        self.values.append(t.x)

    def result(self) -> float:
        return (max(self.values) - min(self.values)) * self.scale


def test_a_class_with_add_and_result_is_an_aggregate() -> None:
    assert aggregated(Spread, float, THREE) == 2.0


def test_an_aggregate_with_arguments_is_given_as_a_partial() -> None:
    assert aggregated(functools.partial(Spread, scale=10.0), float, THREE) == 20.0


def test_every_window_and_group_has_its_own_instance() -> None:
    class Out(NamedTuple):
        name: str
        spread: float

    items = [item("a", x=1.0), item("b", x=5.0), item("a", x=4.0), item("b", x=5.0), item("a", x=0.0)]
    windows = ab.from_items(Item, items).window(ab.tumbling(count=4))
    out = windows.aggregate(Out, group_by="name", spread=Spread)
    assert ab.run(out.collect("out")).items("out") == [Out("a", 3.0), Out("b", 0.0), Out("a", 0.0)]


def test_a_sliding_window_gives_every_instance_all_its_tuples() -> None:
    class Out(NamedTuple):
        spread: float

    items = [item(x=x) for x in (1.0, 4.0, 2.0, 2.5)]
    windows = ab.from_items(Item, items).window(ab.sliding(count=2))
    out = ab.run(windows.aggregate(Out, spread=Spread).collect("out")).items("out")
    assert [o.spread for o in out] == [0.0, 3.0, 2.0, 0.5]


# Columns -----------------------------------------------------------------------------------------------------------


def test_key_and_group_attributes_fill_themselves_in() -> None:
    class Out(NamedTuple):
        n: int
        name: str
        flag: bool

    items = [item("a", 1, flag=True), item("b", 2), item("a", 4, flag=True), item("a", 8)]
    windows = ab.from_items(Item, items).window(ab.tumbling(count=9), key="name")
    out = windows.aggregate(Out, group_by="flag", n=ab.sum_("n"))
    assert ab.run(out.collect("out")).items("out") == [Out(5, "a", True), Out(8, "a", False), Out(2, "b", False)]


def test_columns_come_in_the_order_of_the_type_not_of_the_call() -> None:
    class Out(NamedTuple):
        low: int
        high: int

    windows = ab.from_items(Item, THREE).window(ab.tumbling(count=3))
    (out,) = ab.run(windows.aggregate(Out, high=ab.max_("n"), low=ab.min_("n")).collect("out")).items("out")
    assert out == Out(1, 3)


def test_lists_nested_tuples_and_dates_can_be_collected_and_picked() -> None:
    class Day(NamedTuple):
        day: date
        tags: list[str]

    class Out(NamedTuple):
        last_tags: list[str]
        all_tags: list[list[str]]
        first_day: date
        days: int

    items = [Day(date(2024, 1, 2), ["x"]), Day(date(2024, 1, 1), []), Day(date(2024, 1, 2), ["y", "z"])]
    out = (
        ab.from_items(Day, items)
        .window(ab.tumbling(count=3))
        .aggregate(
            Out,
            last_tags=ab.last("tags"),
            all_tags=ab.collect("tags"),
            first_day=ab.min_("day"),
            days=ab.count_distinct("day"),
        )
    )
    assert ab.run(out.collect("out")).items("out") == [
        Out(["y", "z"], [["x"], [], ["y", "z"]], date(2024, 1, 1), 2),
    ]
