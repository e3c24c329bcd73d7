"""A stream that one app makes and another uses."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


made = []


@ab.app
def first() -> None:
    made.append(ab.from_items(Call, [Call(1, "425", 0.0)]))
    made[0].collect("first")


first()


@ab.app
def app() -> None:
    made[0].collect("out")
