"""A source partitioned by an attribute its tuples do not have."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_csv("calls.*.csv", Call, partition_by="arae").collect("out")
