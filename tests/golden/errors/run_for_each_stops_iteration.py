"""A function that looks for something that is not there."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


def find(call: Call) -> None:
    next(area for area in ("206", "253") if area == call.area)


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.for_each(find)
