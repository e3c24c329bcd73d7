"""A beacon whose function fails."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


def call(number: int) -> Call:
    return Call(number, ["425", "206"][number], 0.0)


@ab.app
def app() -> None:
    ab.beacon(Call, call, count=3).collect("out")
