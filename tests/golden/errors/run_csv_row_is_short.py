"""A row of a CSV file that ends too early."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_csv("data/short_row.csv", Call).collect("out")
