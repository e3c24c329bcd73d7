"""An operator that gives a list with None in it."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


def near(call: Call) -> list[Call]:
    return [call if call.area == "206" else None]


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.flat_map(near).collect("out")
