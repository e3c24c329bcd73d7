"""A beacon whose function takes no number."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.beacon(Call, lambda: Call(1, "425", 0.0), count=3).collect("out")
