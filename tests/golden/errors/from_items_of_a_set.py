"""Tuples in a set, which has no order of its own."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.from_items(Call, {Call(1, "A", 1.0), Call(2, "B", 2.0)}).collect("out")
