"""A Parquet file with a column of another type."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


class Wanted(NamedTuple):
    phone: str


ab.run(ab.from_items(Call, [Call(1, "425", 0.0)]).write_parquet("calls.parquet"))


@ab.app
def app() -> None:
    ab.read_parquet("calls.parquet", Wanted).collect("out")
