"""Two sinks that write one file."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.write_csv("calls.csv")
    calls.filter(lambda call: call.ts > 1).write_csv("./calls.csv")
