"""An operator that does not say what it gives."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


class Repeat:
    def process(self, call: Call):
        yield call
        yield call


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.process(Repeat, key="phone").collect("out")
