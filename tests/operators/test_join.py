"""`join`: pairs of tuples of two streams that are in each other's windows and match."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, NamedTuple

import anabranch as ab


class Order(NamedTuple):
    id: int
    customer: str
    ts: float


class Payment(NamedTuple):
    order: int
    customer: str
    amount: float
    ts: float


class Paid(NamedTuple):
    id: int
    amount: float


ORDERS = [Order(1, "ann", 0.0), Order(2, "bob", 5.0), Order(3, "ann", 50.0)]
PAYMENTS = [Payment(2, "bob", 9.5, 7.0), Payment(1, "ann", 3.0, 20.0), Payment(1, "ann", 4.0, 99.0)]


def orders() -> ab.Stream[Order]:
    return ab.from_items(Order, ORDERS, order_by="ts")


def payments() -> ab.Stream[Payment]:
    return ab.from_items(Payment, PAYMENTS, order_by="ts")


def joined(**options: Any) -> list[Any]:
    return ab.run(orders().join(payments(), **options).collect("out")).items("out")


MINUTE = ab.sliding(seconds=60, on="ts")
ALWAYS = ab.sliding(count=1000)


def pair(order: Order, payment: Payment) -> Paid:
    return Paid(order.id, payment.amount)


def test_on_names_what_must_be_equal() -> None:
    out = joined(left=MINUTE, right=MINUTE, on="customer", out=pair)
    # 0 ann, 5 bob, 7 pays bob, 20 pays ann, 50 ann meets 20, 99 meets 50 (0 has left the window)
    assert out == [Paid(2, 9.5), Paid(1, 3.0), Paid(3, 3.0), Paid(3, 4.0)]


def test_a_mapping_names_attributes_that_differ() -> None:
    assert joined(left=MINUTE, right=MINUTE, on={"id": "order"}, out=pair) == [Paid(2, 9.5), Paid(1, 3.0)]
    assert joined(left=ALWAYS, right=ALWAYS, on={"id": "order"}, out=pair)[-1] == Paid(1, 4.0)


def test_match_is_any_condition() -> None:
    out = joined(left=ALWAYS, right=ALWAYS, match=lambda o, p: o.ts < p.ts < o.ts + 25, out=pair)
    assert out == [Paid(1, 9.5), Paid(2, 9.5), Paid(1, 3.0), Paid(2, 3.0)]


def test_on_and_match_must_both_hold() -> None:
    out = joined(left=ALWAYS, right=ALWAYS, on="customer", match=lambda o, p: p.amount < 4, out=pair)
    assert out == [Paid(1, 3.0), Paid(3, 3.0)]


def test_several_attributes_must_all_be_equal() -> None:
    out = joined(left=ALWAYS, right=ALWAYS, on={"id": "order", "customer": "customer"}, out=pair)
    assert out == [Paid(2, 9.5), Paid(1, 3.0), Paid(1, 4.0)]


def test_a_type_is_filled_by_name_where_names_are_clear() -> None:
    class Out(NamedTuple):
        amount: float
        customer: str  # in both, but equal
        id: int

    out = joined(left=MINUTE, right=MINUTE, on="customer", out=Out)
    assert out[0] == Out(9.5, "bob", 2)


def test_a_type_of_both_tuples_is_filled_with_them() -> None:
    class Pair(NamedTuple):
        order: Order
        payment: Payment

    out = joined(left=MINUTE, right=MINUTE, on={"id": "order"}, out=Pair)
    assert out == [Pair(ORDERS[1], PAYMENTS[0]), Pair(ORDERS[0], PAYMENTS[1])]


def test_the_two_windows_may_differ() -> None:
    nothing, last = ab.sliding(count=0), ab.sliding(count=1)
    # only arriving payments look for orders, and only for the last one
    assert joined(left=last, right=nothing, on="customer", out=pair) == [Paid(2, 9.5), Paid(3, 4.0)]
    assert joined(left=nothing, right=last, on="customer", out=pair) == [Paid(3, 3.0)]


def test_per_key_keeps_the_last_of_every_key() -> None:
    own = ab.sliding(count=1, per_key=True)
    assert joined(left=own, right=ab.sliding(count=0), on="customer", out=pair) == [
        Paid(2, 9.5), Paid(1, 3.0), Paid(3, 4.0),
    ]  # fmt: skip


def test_by_time_on_one_side_the_clock_is_that_side_s() -> None:
    out = joined(left=ab.sliding(seconds=10, on="ts"), right=ab.sliding(count=0), match=lambda o, p: True, out=pair)
    # the payments have no time here: at 7 both orders, at 20 still both, at 99 the one of 50
    assert out == [Paid(1, 9.5), Paid(2, 9.5), Paid(1, 3.0), Paid(2, 3.0), Paid(3, 4.0)]


def test_times_may_be_of_different_types_on_one_scale() -> None:
    class Day(NamedTuple):
        day: date

    class Event(NamedTuple):
        at: datetime

    class Met(NamedTuple):
        day: date
        at: datetime

    days = ab.from_items(Day, [Day(date(2024, 1, n)) for n in (1, 2, 3)])
    events = ab.from_items(Event, [Event(datetime(2024, 1, n, 12)) for n in (1, 2, 3)])
    met = days.join(
        events,
        left=ab.sliding(days=1, on="day"),
        right=ab.sliding(count=0),
        match=lambda d, e: True,
        out=Met,
    )
    assert [(m.day.day, m.at.day) for m in ab.run(met.collect("out")).items("out")] == [(1, 1), (2, 2), (3, 3)]
    both = days.join(
        events,
        left=ab.sliding(hours=24, on="day"),
        right=ab.sliding(hours=13, on="at"),
        match=lambda d, e: True,
        out=Met,
    )
    # day 2 (midnight) meets noon of day 1, 12 hours before
    assert [(m.day.day, m.at.day) for m in ab.run(both.collect("out")).items("out")] == [
        (1, 1), (2, 1), (2, 2), (3, 2), (3, 3),
    ]  # fmt: skip


def test_a_stream_can_be_joined_with_itself() -> None:
    class Two(NamedTuple):
        one: int
        other: int

    def two(one: Order, other: Order) -> Two:
        return Two(one.id, other.id)

    stream = orders()
    out = stream.join(stream, left=ALWAYS, right=ALWAYS, on="customer", out=two)
    # every order arrives left, meets the right, then arrives right, and meets the left with itself in it
    assert [tuple(t) for t in ab.run(out.collect("out")).items("out")] == [(1, 1), (2, 2), (3, 1), (1, 3), (3, 3)]
