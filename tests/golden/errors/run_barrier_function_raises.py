"""A barrier whose function fails."""

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


def paid(call: Call, payment: Payment) -> Paid:
    raise ValueError("nothing is free")


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    payments = ab.from_items(Payment, [Payment(1, 9.5, 7.0)])
    ab.barrier(calls, payments, out=paid).collect("out")
