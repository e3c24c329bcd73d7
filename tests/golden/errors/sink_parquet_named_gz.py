"""A Parquet file that would not be compressed as its name says."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.from_items(Call, [Call(1, "425", 0.0)]).write_parquet("calls.parquet.gz")
