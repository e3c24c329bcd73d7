"""An operator that fails after it gave a tuple."""

from collections.abc import Iterator
from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


def twice(call: Call) -> Iterator[Call]:
    yield call
    raise ValueError("once is enough")


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.flat_map(twice).collect("out")
