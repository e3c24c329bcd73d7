"""A list where a stream is expected."""

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


class Matched:
    def calls(self, call: Call) -> None:
        self.last = call

    def payments(self, payment: Payment) -> Payment:
        return payment


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    ab.connect(Matched, calls=calls, payments=[Payment(1, 9.5, 7.0)]).collect("out")
