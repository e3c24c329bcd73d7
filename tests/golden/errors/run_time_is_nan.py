"""A time that is not a number."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


class Count(NamedTuple):
    phone: int
    n: int


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", float("nan"))])
    calls.window(ab.tumbling(minutes=10, on="ts"), key="phone").aggregate(Count, n=ab.count()).collect("out")
