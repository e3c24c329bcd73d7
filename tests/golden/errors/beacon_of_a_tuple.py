"""A tuple where a function is expected."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.beacon(Call, Call(1, "425", 0.0), count=3).collect("out")
