"""User code on which a careless translation would go wrong: each of these once did, or nearly.

Functions of one kind run side by side in one program, since compiling takes longer than anything else here.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from tests.codegen.comparing import Comparison, check_same

choices = random.Random(7)


class Item(NamedTuple):
    a: int
    b: int
    f: float
    p: bool
    q: bool | None
    s: str
    u: str | None
    n: int | None


class Two(NamedTuple):
    x: int
    y: int


class Maybe(NamedTuple):
    v: bool | None


class Real(NamedTuple):
    v: float


class Whole(NamedTuple):
    v: int


class Texts(NamedTuple):
    s: str
    u: str | None


class Counted(NamedTuple):
    n: int
    first: int


TEXTS = ("", "a", "ab", "é", "a" * 40)
ITEMS = [
    Item(
        a=choices.randrange(10),
        b=choices.randrange(10),
        f=choices.choice((0.0, -0.0, 1.5, float("nan"))),
        p=choices.random() < 0.5,
        q=choices.choice((None, True, False)),
        s=choices.choice(TEXTS),
        u=choices.choice((None, "", "x")),
        n=choices.choice((None, 0, 1)),
    )
    for _ in range(150)
]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANABRANCH_CACHE", str(tmp_path / "cache"))


def source(items: list[Item] = ITEMS) -> ab.Stream[Item]:
    return ab.from_items(Item, items)


def collected(*streams: Any) -> list[Any]:
    return [stream.collect(f"out{number}") for number, stream in enumerate(streams)]


def check_native(*streams: Any) -> None:
    """The same as the oracle, without leaving native code."""
    assert set(check_same(Comparison(*collected(*streams)))) == {"native"}


def check_left(*streams: Any) -> None:
    """The same as the oracle, though native code is left on the way."""
    assert set(check_same(Comparison(*collected(*streams)))) == {"python"}


def why_not(*streams: Any) -> str:
    problem = Comparison(*collected(*streams)).refused
    assert problem is not None
    return f"{problem.operator} {problem.refusal.reason}"


# Expressions ----------------------------------------------------------------------------------------------------


def optional_and(t: Item) -> Maybe:
    return Maybe(t.q and t.p)


def and_optional(t: Item) -> Maybe:
    return Maybe(t.p and t.q)


def optional_or(t: Item) -> Maybe:
    return Maybe(t.q or t.q)


def truths_in_arithmetic(t: Item) -> Two:
    return Two((bool(t.a) & (t.b > 3)) + (not t.f) + (bool(t.n) == t.p), int(bool(t.b) | t.p) - bool(t.n))


def walrus(t: Item) -> Two:
    x = 1
    y = (x := t.a + 1) + (x := x * 2) + x
    z = 3 if (w := t.b) > 4 else w
    q = (v := t.a) or (v := t.b)
    return Two(y + z + q, v)


def chained(t: Item) -> Maybe:
    return Maybe(0 <= t.a + 0 < t.b * 2 <= 9 != t.a - 1)


def constant_conditions(t: Item) -> Texts:
    u = t.s if False else None
    x = 1 if True else t.a // 0
    return Texts(t.s if x > 0 else "never", u)


def strings_of_several_sources(t: Item) -> Texts:
    return Texts(t.s if t.p else "const", t.u if t.p else t.s if t.a > 4 else None)


def commit(t: Item) -> Whole:
    """Native code has a word of its own for this."""
    return Whole(t.a)


def test_expressions_have_the_values_that_python_gives_them() -> None:
    functions: list[Any] = [optional_and, and_optional, optional_or, truths_in_arithmetic, walrus, chained]
    items = source()
    check_native(
        *(items.map(each) for each in (*functions, constant_conditions, strings_of_several_sources, commit)),
    )


# Statements -----------------------------------------------------------------------------------------------------


def loops(t: Item) -> Two:
    total, last, k = 0, -1, 100
    for k in range(t.a):
        if k == 3:
            continue
        if k > 6:
            break
        j = 0
        while j < k:
            j += 1
            if j == 2:
                continue
            if j > 4:
                break
            total += j
        last = j
    for m in range(10, t.b, -2):
        total += m
        m = 5
        total -= m
    return Two(total * 100 + last, k)


def names_of_generated_code(t: Item) -> Two:
    i0, equals, bad, full, slot, held0_x, add_int, meta = t.a, t.b, 1, 2, 3, 4, 5, 6
    for i0 in range(3):
        equals = equals + i0
        bad += 1
        full += bad
        slot += full
        held0_x += slot
        add_int += held0_x
        meta += add_int
    return Two(i0 + equals, bad + full + slot + held0_x + add_int + meta)


def strings_decide_a_loop(t: Item) -> Whole:
    k = 0
    while t.s == t.u and k < 3:
        k += 1
    return Whole(k)


def emits_and_returns(t: Item) -> Iterator[Two]:
    if t.a > 8:
        return
    yield Two(t.a, 1)
    if t.b < 3:
        yield Two(t.b, 2)
        return
    k = t.b
    while k > 3:
        k -= 1
        if k == 5:
            continue
        yield Two(k, 3)
    yield from [Two(k, 4), Two(k, 5)]


def test_statements_run_in_the_order_of_the_text() -> None:
    items = source()
    emitted = items.flat_map(emits_and_returns, out=Two)
    check_native(emitted, *(items.map(each) for each in (loops, names_of_generated_code, strings_decide_a_loop)))


def test_a_loop_over_strings_that_the_pool_has_no_room_for_ends() -> None:
    check_native(source([t._replace(s=str(k), u=f"x{k}") for k, t in enumerate(ITEMS * 20)]).map(strings_decide_a_loop))


def infinity_by_name(t: Item) -> Real:
    inf = 1.0
    if t.a == 3:
        inf = 0.0
    return Real(3.0 / inf)


def test_a_variable_named_inf_may_be_zero() -> None:
    check_left(source().map(infinity_by_name))


def far_range(t: Item) -> Whole:
    n = 0
    for _ in range(t.a, t.b):
        n = n + 1
        if n > 3:
            break
    return Whole(n)


def test_a_range_from_one_end_of_the_ints_to_the_other() -> None:
    ends = [(-(2**63), 2**63 - 1), (5, -(2**63)), (2**63 - 2, 2**63 - 1), (-(2**63), -(2**63) + 2)]
    check_left(source([*ITEMS[:5], *(ITEMS[0]._replace(a=a, b=b) for a, b in ends)]).map(far_range))


def keywords_in_another_order(t: Item) -> Two:
    x = 1
    return Two(y=(x := t.b), x=x)


def lone_surrogate(t: Item) -> Maybe:
    return Maybe(t.s == "\ud800")


def test_what_cannot_be_translated_says_why() -> None:
    assert why_not(source().map(keywords_in_another_order)) == (
        "keywords_in_another_order assigns something among keyword arguments"
    )
    assert why_not(source().map(lone_surrogate)) == r"lone_surrogate uses '\ud800', which is not valid Unicode"


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


class KeepsADay:
    def __init__(self) -> None:
        self.last: Dated | None = None

    def process(self, t: Dated) -> Dated | None:
        last, self.last = self.last, t
        return last


def test_what_native_code_cannot_hold_passes_through() -> None:
    check_native(ab.from_items(Dated, DATED).filter(lambda t: t.k % 3 != 1))


def test_it_does_not_where_it_comes_from_several_columns_or_out_of_state() -> None:
    united = ab.from_items(Dated, DATED).union(ab.from_items(Dated, DATED)).filter(lambda t: t.k > 1)
    assert why_not(united) == "filter takes `day`, a datetime, from several columns"
    assert why_not(ab.from_items(Dated, DATED).process(KeepsADay)).startswith("KeepsADay ")


# Windows and ends -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"key": "s"}, {"key": "s", "clock": "key"}])
def test_the_window_that_ends_beyond_the_ints_is_not_native(options: dict[str, Any]) -> None:
    clock = options.pop("clock", "stream")
    times = [1, 1, 2, 2**63 - 1, 2**63 - 1, 2**63 - 1]
    items = [t._replace(a=time) for t, time in zip(ITEMS, times, strict=False)]
    window = ab.tumbling(delta=1, on="a", clock=clock)
    check_left(source(items).window(window, **options).aggregate(Counted, n=ab.count(), first=ab.first("b")))


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
    check_left(source(ITEMS[:5]).map(walrus), source(rising).map(not_seven))
