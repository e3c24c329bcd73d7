"""A path of a sink with a null character in it."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0), Call(0, "425", 6.0)])
    calls.write_csv("out\0.csv")
