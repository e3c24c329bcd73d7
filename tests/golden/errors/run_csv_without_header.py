"""A CSV file without a header."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_csv("data/no_header.csv", Call).collect("out")
