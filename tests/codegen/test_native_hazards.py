"""Expressions and statements on which a careless translation would go wrong: each of these once did, or nearly.

Functions of one kind run side by side in one program, since compiling takes longer than anything else here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.codegen.hazards import ITEMS, Item, Maybe, Real, Texts, Two, Whole, check_left, check_native, source, why_not

pytestmark = pytest.mark.usefixtures("own_cache")


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
