"""Ranges whose bounds do not rise."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


class Last:
    def process(self, call: Call) -> Call:
        return call


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.process(Last, key=ab.ranges("phone", [200, 100])).collect("out")
