"""A beacon of half a tuple."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.beacon(Call, lambda number: Call(number, "425", 0.0), count=0.5).collect("out")
