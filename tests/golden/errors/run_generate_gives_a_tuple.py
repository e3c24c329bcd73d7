"""A source function that gives one tuple instead of an iterator."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


def calls() -> Call:
    return Call(1, "425", 0.0)


@ab.app
def app() -> None:
    ab.generate(Call, calls).collect("out")
