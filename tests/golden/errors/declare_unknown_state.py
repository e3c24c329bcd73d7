"""An override with an unknown state."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.declare(state="pure", because="it only compares")
def is_local(call: Call) -> bool:
    return call.area == "425"


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.filter(is_local).collect("out")
