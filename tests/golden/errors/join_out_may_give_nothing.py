"""A join whose function may give nothing."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


class Payment(NamedTuple):
    caller: int
    amount: float
    ts: float


class Paid(NamedTuple):
    area: str
    amount: float


def paid(call: Call, payment: Payment) -> Paid | None:
    return Paid(call.area, payment.amount) if payment.amount > 0 else None


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    payments = ab.from_items(Payment, [Payment(1, 9.5, 7.0)])
    minute = ab.sliding(minutes=1, on="ts")
    calls.join(payments, left=minute, right=minute, on={"phone": "caller"}, out=paid).collect("out")
