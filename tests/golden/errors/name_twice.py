"""Two operators of one name."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.filter(lambda call: call.ts > 1).named("late").collect("one")
    calls.filter(lambda call: call.ts > 2).named("late").collect("two")
