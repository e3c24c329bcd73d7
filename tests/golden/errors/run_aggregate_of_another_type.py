"""An aggregate that gives something else than it says."""

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
        pass

    def result(self) -> int:
        return "many"


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    windows = calls.window(ab.tumbling(count=10), key="area")
    windows.aggregate(Count, phone=ab.last("phone"), n=Number).collect("out")
