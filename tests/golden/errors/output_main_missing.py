"""The main output of an operator that has only named ones."""

from collections.abc import Iterator
from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


class Sorted:
    def process(self, call: Call) -> Iterator[ab.To]:
        yield ab.to("near" if call.area == "425" else "far", call)


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.process(Sorted, outputs={"near": Call, "far": Call}).collect("out")
