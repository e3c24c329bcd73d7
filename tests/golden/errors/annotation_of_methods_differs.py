"""An operator whose methods give tuples of different types."""

from collections.abc import Iterator
from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


class Area(NamedTuple):
    area: str


class Areas:
    def process(self, call: Call) -> Iterator[Area]:
        yield Area(call.area)

    def finish(self) -> Iterator[Call]:
        yield Call(0, "", 0.0)


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.process(Areas, key="phone").collect("out")
