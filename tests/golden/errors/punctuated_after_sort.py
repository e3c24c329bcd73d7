"""Punctuated windows behind an operator that keeps no punctuations."""

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
    ordered = calls.punctuate(count=10).sort("ts", count=100)
    ordered.window(ab.punctuated(), key="phone").aggregate(Count, n=ab.count()).collect("out")
