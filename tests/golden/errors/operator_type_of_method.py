"""An operator made for the tuples of another stream."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


class Area(NamedTuple):
    area: str


class Areas:
    def process(self, area: Area) -> Area:
        return area


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.process(Areas).collect("out")
