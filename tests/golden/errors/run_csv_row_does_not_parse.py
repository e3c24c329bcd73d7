"""A row of a CSV file with text in place of a number."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_csv("data/bad_cell.csv", Call).collect("out")
