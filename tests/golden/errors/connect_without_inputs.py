"""An operator without inputs."""

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
    ab.connect(Matched, key="phone").collect("out")
