"""Punctuated windows behind the meeting of two punctuated streams."""

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
    near = calls.filter(lambda call: call.area == "425").punctuate(count=10)
    far = calls.filter(lambda call: call.area != "425").punctuate(count=10)
    both = near.union(far)
    both.window(ab.punctuated(), key="phone").aggregate(Count, n=ab.count()).collect("out")
