"""An operator that fails on a tuple."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


class Strict:
    def process(self, call: Call) -> Call:
        if call.ts > 1:
            raise ValueError("too late")
        return call


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.process(Strict, key="phone").collect("out")
