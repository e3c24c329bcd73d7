"""An operator class that cannot be made without arguments."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


class Faster:
    def __init__(self, limit: float) -> None:
        self.limit = limit

    def process(self, call: Call) -> Call:
        return call


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.process(Faster, key="phone").collect("out")
