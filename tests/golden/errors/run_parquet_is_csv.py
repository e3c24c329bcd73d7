"""A CSV file read as Parquet."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_parquet("data/bad_cell.csv", Call).collect("out")
