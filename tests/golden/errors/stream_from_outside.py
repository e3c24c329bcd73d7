"""A stream made outside the app that uses it."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


calls = ab.from_items(Call, [Call(1, "425", 0.0)])


@ab.app
def app() -> None:
    calls.collect("out")
