"""A CSV file whose header cannot be read."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_csv("data/broken_header.csv", Call).collect("out")
