"""A source ordered by an attribute its tuples do not have."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_csv("calls.csv", Call, order_by="tss").collect("out")
