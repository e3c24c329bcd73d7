"""A pattern that matches no file."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_csv("logs/*.csv", Call, partition_by="area").collect("out")
