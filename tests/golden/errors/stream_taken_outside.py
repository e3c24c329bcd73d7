"""A stream of an app used outside it."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


made = []


@ab.app
def app() -> None:
    made.append(ab.from_items(Call, [Call(1, "425", 0.0)]))
    made[0].collect("out")


app()
made[0].collect("again")
