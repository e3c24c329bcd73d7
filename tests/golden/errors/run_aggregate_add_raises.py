"""An aggregate that fails on a tuple."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


class Count(NamedTuple):
    phone: int
    n: int


class Number:
    def add(self, call: Call) -> None:
        self.n += 1

    def result(self) -> int:
        return self.n


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    windows = calls.window(ab.tumbling(count=2), key="area")
    windows.aggregate(Count, phone=ab.last("phone"), n=Number).collect("out")
