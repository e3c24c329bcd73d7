"""A Parquet file without a column of that name."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    ts: float


class Wanted(NamedTuple):
    number: int
    ts: float


ab.run(ab.from_items(Call, [Call(1, 0.0)]).write_parquet("calls.parquet"))


@ab.app
def app() -> None:
    ab.read_parquet("calls.parquet", Wanted).collect("out")
