"""A number in a CSV file that is beyond 64 bits."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_csv("data/large_number.csv", Call).collect("out")
