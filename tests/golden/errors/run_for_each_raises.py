"""A function at the end of a stream that fails."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


def send(call: Call) -> None:
    raise ConnectionError("the line is dead")


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0)])
    calls.for_each(send)
