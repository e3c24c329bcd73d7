"""A CSV file in which two columns have one name."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_csv("data/column_twice.csv", Call).collect("out")
