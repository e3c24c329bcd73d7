"""An operator that gives a library what it cannot take."""

import json
from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


def parsed(call: Call) -> Call:
    json.loads("{" + call.area)
    return call


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.map(parsed).collect("out")
