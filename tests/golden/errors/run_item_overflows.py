"""An item with an int beyond 64 bits."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.from_items(Call, [Call(2**64, "425", 0.0)]).collect("out")
