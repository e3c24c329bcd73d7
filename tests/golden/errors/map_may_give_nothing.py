"""A map that may give nothing."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


class Area(NamedTuple):
    area: str


def area_of(call: Call) -> Area | None:
    return Area(call.area) if call.area else None


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.map(area_of).collect("out")
