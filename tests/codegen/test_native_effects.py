"""State, passing columns, windows and ends where native code went wrong, or nearly did.

Functions of one kind run side by side in one program, since compiling takes longer than anything else here.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from tests.codegen.hazards import (
    ITEMS,
    Counted,
    Item,
    Real,
    Texts,
    Two,
    Whole,
    check_left,
    check_native,
    source,
    why_not,
)

pytestmark = pytest.mark.usefixtures("own_cache")


# State ----------------------------------------------------------------------------------------------------------


class Swaps:
    def __init__(self) -> None:
        self.p = Two(1, 2)
        self.p_x = 5

    def process(self, t: Item) -> Two:
        self.p = Two(self.p.y, self.p.x)
        self.p_x, other = self.p.x * 10, self.p_x
        return Two(self.p.x * 100 + other, self.p.y)


class ReadsWhetherItIsNone:
    def __init__(self) -> None:
        self.n: int | None = None

    def process(self, t: Item) -> Whole:
        self.n = 1 if self.n is None else 2
        return Whole(self.n)


class Aliases:
    def __init__(self) -> None:
        self.last: Two | None = None
        self.n = 0

    def bump(self) -> int:
        self.n += 1
        return self.n

    def both(self, a: int, b: int) -> int:
        self.n = (self.n + a * 10 + b) % 1000
        return self.n

    def process(self, t: Item) -> Two:
        old, x = self.last, self.n
        self.last = Two(t.a, self.bump())
        z = self.n + self.bump() * 100 + self.n
        w = self.both(self.n, self.bump())
        if z < self.bump() < (z := z * 20) <= self.bump() + 10:
            self.n += 1
        if old is None:
            return Two(w, z)
        return Two(old.x + x + z, old.y + w)


class KeepsWhatNobodyReads:
    def __init__(self) -> None:
        self.seen: int | None = None
        self.where: Two | None = None
        self.n = 0

    def process(self, t: Item) -> Whole:
        self.seen = t.n
        self.where = None if t.p else Two(t.a, t.b)
        self.n += 1
        return Whole(self.n)


class Übung:
    def __init__(self) -> None:
        self.größe = 1

    def process(self, t: Item) -> Whole:
        self.größe += 1
        return Whole(self.größe)


class Strings:
    def __init__(self) -> None:
        self.now = "start"
        self.before: str | None = None

    def process(self, t: Item) -> Texts:
        if t.s != self.now:
            self.before, self.now = self.now, t.s
        elif t.u is not None:
            self.before = t.u
        return Texts(self.now, self.before)


CLASSES = [Swaps, ReadsWhetherItIsNone, Aliases, KeepsWhatNobodyReads, Übung, Strings]


def test_state_is_read_and_written_in_the_order_of_the_text() -> None:
    items = source()
    check_native(*(items.process(each) for each in CLASSES))


def test_so_is_the_state_of_a_key() -> None:
    keys: list[Any] = ["s", ["u", "p"], "f", "n", ["q", "s"], "q"]
    items = source()
    check_native(*(items.process(each, key=key) for each, key in zip(CLASSES, keys, strict=True)))


def test_keys_that_are_nan_or_minus_zero_are_one_key() -> None:
    strange = [0.0, -0.0, float("nan"), -float("nan"), float("inf"), 5e-324]
    items = [t._replace(f=strange[k % len(strange)]) for k, t in enumerate(ITEMS)]
    stream = source(items)
    check_native(stream.process(Übung, key="f"), stream.distinct(key=["f", "n"]))


class Total:
    def __init__(self) -> None:
        self.n = 0

    def process(self, t: Item) -> Whole:
        self.n += t.a
        return Whole(self.n)


class FailsLate:
    def __init__(self) -> None:
        self.n = 0

    def process(self, t: Whole) -> Iterator[Whole]:
        if t.v % 3 == 0:
            self.n += 1
            yield Whole(self.n)
            self.n += 10
        else:
            self.n = 100 // (t.v - 50)


def not_sixty(t: Whole) -> Real:
    return Real(1 / (t.v - 60))


@pytest.mark.parametrize("fails", [True, False])
def test_a_tuple_that_fails_far_behind_has_not_changed_any_state(fails: bool) -> None:
    items = source()
    totals = items.process(Total, key="s")
    streams = [totals.process(FailsLate, key="v", out=Whole), items.distinct(key=["u", "n"]), items.process(Total)]
    if fails:
        check_left(*streams, totals.map(not_sixty))
    else:
        check_left(totals.map(not_sixty), *streams)


class ComputesWhatNobodyReads:
    def __init__(self) -> None:
        self.x = 1.0
        self.name = "start"
        self.flag: bool | None = True
        self.unread = 0.0
        self.also_unread: str | None = None

    def process(self, t: Item) -> Real:
        self.unread = self.x * 0.5 + min(self.x, t.f)
        self.also_unread = self.name if self.flag else None
        self.x, self.name, self.flag = t.f, t.s, t.q
        return Real(1 / (t.a - 7))


class HandsDownWhatNobodyReads:
    def __init__(self) -> None:
        self.a, self.b, self.c, self.d, self.e, self.f, self.g, self.h = 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0
        self.n = 0

    def process(self, t: Item) -> Whole:
        self.h = self.g * 2.0
        self.g = self.f * 2.0
        self.f = self.e * 2.0
        self.e = self.d * 2.0
        self.d = self.c * 2.0
        self.c = self.b * 2.0
        self.b = self.a * 2.0
        self.a = t.f
        self.n += 1
        return Whole(self.n)


def test_a_chain_of_fields_that_nobody_reads_in_the_end_is_left_out() -> None:
    check_native(source().process(HandsDownWhatNobodyReads))


def test_the_python_form_goes_on_without_what_native_code_did_not_keep() -> None:
    check_left(source([t._replace(a=k) for k, t in enumerate(ITEMS[:30])]).process(ComputesWhatNobodyReads, key="p"))


# Columns that only pass through ---------------------------------------------------------------------------------


class Dated(NamedTuple):
    k: int
    day: datetime
    tags: list[int]


DATED = [Dated(k, datetime(2020, 1, 1 + k % 30), [k] * (k % 3)) for k in range(40)]


DAYS_IN_UTC = [t._replace(day=t.day.replace(tzinfo=UTC)) for t in DATED]


class Inner(NamedTuple):
    x: int
    day: datetime


class Nested(NamedTuple):
    k: int
    inner: Inner
    perhaps: Inner | None


NESTED = [Nested(t.k, Inner(t.k, t.day), Inner(-t.k, t.day) if t.k % 3 else None) for t in DAYS_IN_UTC]


def both_there(t: Nested) -> Two:
    return Two(1 if t.inner else 0, 1 if t.perhaps else 0)


def renumbered(t: Nested) -> Nested:
    return t._replace(k=t.k * 2)


class KeepsADay:
    def __init__(self) -> None:
        self.last: Dated | None = None

    def process(self, t: Dated) -> Dated | None:
        last, self.last = self.last, t
        return last


def test_what_native_code_cannot_hold_passes_through() -> None:
    check_native(ab.from_items(Dated, DATED).filter(lambda t: t.k % 3 != 1))
    check_native(ab.from_items(Dated, DAYS_IN_UTC).filter(lambda t: t.k % 3 != 1))


def test_so_do_nested_tuples_and_all_that_is_asked_of_them_is_whether_they_are_there() -> None:
    nested = ab.from_items(Nested, NESTED)
    check_native(nested.filter(lambda t: t.perhaps is not None), nested.map(renumbered), nested.map(both_there))
    assert why_not(nested.map(lambda t: Whole(t.inner.x), out=Whole)) == "map uses `.x` of Inner"


def test_it_does_not_where_it_comes_from_several_columns_or_out_of_state() -> None:
    united = ab.from_items(Dated, DATED).union(ab.from_items(Dated, DATED)).filter(lambda t: t.k > 1)
    assert why_not(united) == "filter takes `day`, a datetime, from several columns"
    assert why_not(ab.from_items(Dated, DATED).process(KeepsADay)).startswith("KeepsADay ")


def test_what_leaves_by_an_output_that_nobody_listens_to_is_counted() -> None:
    parts = source().split({"low": lambda t: t.a < 3, "high": lambda t: t.b < 7})
    check_native(parts.low)


# Windows and ends -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"key": "s"}, {"key": "s", "clock": "key"}])
def test_the_window_that_ends_beyond_the_ints_is_not_native(options: dict[str, Any]) -> None:
    clock = options.pop("clock", "stream")
    times = [1, 1, 2, 2**63 - 1, 2**63 - 1, 2**63 - 1]
    items = [t._replace(a=time) for t, time in zip(ITEMS, times, strict=False)]
    window = ab.tumbling(delta=1, on="a", clock=clock)
    check_left(source(items).window(window, **options).aggregate(Counted, n=ab.count(), first=ab.first("b")))


@pytest.mark.parametrize("window", [ab.tumbling(count=10**30), ab.tumbling(delta=10**30, on="a"),
                                    ab.tumbling(delta=1e-30, on="f"), ab.tumbling(delta=2.0**64, on="f")])  # fmt: skip
def test_nor_is_a_window_whose_length_has_more_than_64_bits(window: Any) -> None:
    assert why_not(counted(source(), window)) == "aggregate has windows of a length beyond 64 bits"


class Known(NamedTuple):
    low: int | None
    high: float | None
    mean: float | None
    first: bool | None


class Optionals(NamedTuple):
    k: str
    i: int | None
    x: float | None
    b: bool | None


def all_there(t: Item) -> Optionals:
    return Optionals(t.s, t.a, t.f, t.p)


def test_optional_attributes_that_are_always_there_are_aggregated() -> None:
    columns: dict[str, Any] = {"low": ab.min_("i"), "high": ab.max_("x"), "mean": ab.mean("i"), "first": ab.first("b")}
    there = source().map(all_there)
    check_native(
        there.window(ab.tumbling(count=4), key="k").aggregate(Known, **columns),
        there.window(ab.tumbling(count=7)).aggregate(Known, **columns),
    )


def not_three(counted: Counted) -> Real:
    return Real(1 / (counted.n - 3))


def counted(stream: Any, window: Any, **options: Any) -> Any:
    return stream.window(window, **options).aggregate(Counted, n=ab.count(), first=ab.first("a"))


def test_at_the_end_no_window_is_lost_when_another_one_fails() -> None:
    items = source(ITEMS[:8])
    fails = counted(items, ab.tumbling(count=5)).map(not_three)
    check_left(counted(items, ab.tumbling(count=50), key="s"), fails)


def test_nor_at_a_punctuation() -> None:
    items = [t._replace(a=3 if k in (5, 9, 12) else 1) for k, t in enumerate(ITEMS[:20])]
    cut = source(items).punctuate(lambda t: t.a == 3)
    check_left(counted(cut, ab.punctuated(), key="s"), counted(cut, ab.punctuated()).map(not_three))


def not_seven(t: Item) -> Real:
    return Real(1 / (t.a - 7))


def test_an_input_that_has_ended_stays_so_when_native_code_is_left() -> None:
    rising = [t._replace(a=k) for k, t in enumerate(ITEMS[:40])]
    check_left(source(ITEMS[:5]).filter(lambda t: t.a != 3), source(rising).map(not_seven))
