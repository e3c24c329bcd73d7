"""An operator that gives a tuple without names."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


def moved(call: Call) -> Call:
    return (call.phone, call.area, call.ts + 1)


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.map(moved).collect("out")
