"""An operator that cannot be made."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


class Broken:
    def __init__(self) -> None:
        raise OSError("no licence")

    def process(self, call: Call) -> Call:
        return call


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.process(Broken).collect("out")
