"""The path of a file where tuples are expected."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.from_items(Call, "data/calls.csv").collect("out")
