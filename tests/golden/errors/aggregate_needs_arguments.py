"""An aggregate class that cannot be made without arguments."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


class Count(NamedTuple):
    phone: int
    n: int


class Above:
    def __init__(self, limit: float) -> None:
        self.limit, self.n = limit, 0

    def add(self, call: Call) -> None:
        self.n += call.ts > self.limit

    def result(self) -> int:
        return self.n


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    windows = calls.window(ab.tumbling(count=10), key="area")
    windows.aggregate(Count, phone=ab.last("phone"), n=Above).collect("out")
