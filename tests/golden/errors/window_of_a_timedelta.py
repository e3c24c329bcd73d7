"""A window whose length is a timedelta."""

from datetime import timedelta
from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


class Count(NamedTuple):
    phone: int
    n: int


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.window(ab.tumbling(seconds=timedelta(seconds=5), on="ts"), key="phone").aggregate(
        Count, n=ab.count()
    ).collect("out")
