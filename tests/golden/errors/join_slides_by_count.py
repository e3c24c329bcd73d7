"""A join with a window by count that slides."""

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


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    payments = ab.from_items(Payment, [Payment(1, 9.5, 7.0)])
    last = ab.sliding(count=10, slide=5)
    calls.join(payments, left=last, right=last, on={"phone": "caller"}, out=Paid).collect("out")
