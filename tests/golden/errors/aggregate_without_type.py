"""An aggregate class that does not say what it gives."""

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
    def __init__(self) -> None:
        self.n = 0

    def add(self, call: Call) -> None:
        self.n += 1

    def result(self):
        return self.n


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    windows = calls.window(ab.tumbling(count=10), key="area")
    windows.aggregate(Count, phone=ab.last("phone"), n=Number).collect("out")
