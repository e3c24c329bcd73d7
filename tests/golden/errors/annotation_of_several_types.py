"""A function that gives tuples of two types."""

from collections.abc import Iterator
from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


class Area(NamedTuple):
    area: str


def both(call: Call) -> Iterator[Call | Area]:
    yield call
    yield Area(call.area)


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.flat_map(both).collect("out")
