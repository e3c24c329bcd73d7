"""A largest value by an attribute the tuples do not have."""

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
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    longest = calls.window(ab.tumbling(count=10)).aggregate(Count, phone=ab.arg_max("phone", by="tss"), n=ab.count())
    longest.collect("out")
