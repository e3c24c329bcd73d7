"""The arguments of a source in the wrong order."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_csv(Call, "calls.csv").collect("out")
