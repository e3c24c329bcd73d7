"""A key that occurs in two partitions."""

from collections.abc import Iterator
from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


def calls(phone: int) -> Iterator[Call]:
    yield Call(phone, "425", 0.0)


@ab.app
def app() -> None:
    ab.generate(Call, calls, partition_by="area", partitions=[1, 2]).collect("out")
