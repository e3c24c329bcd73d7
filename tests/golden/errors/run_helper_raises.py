"""An operator whose helper fails."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


def check(area: str) -> None:
    if area == "425":
        raise ValueError(f"area {area} is closed")


def checked(call: Call) -> Call:
    check(call.area)
    return call


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.map(checked).collect("out")
