"""Partitions in a set, which has no order of its own, and they are drawn in turn."""

from collections.abc import Iterator
from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


def calls(area: str) -> Iterator[Call]:
    yield Call(1, area, 1.0)


@ab.app
def app() -> None:
    ab.generate(Call, calls, partition_by="area", partitions={"A", "B"}).collect("out")
