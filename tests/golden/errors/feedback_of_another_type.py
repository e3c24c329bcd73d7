"""A loop whose tuples come around as another type."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


class Area(NamedTuple):
    area: str


def body(calls):
    return calls, calls.map(lambda call: Area(call.area), out=Area)


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.feedback(body).collect("out")
