"""An output with the name of one that was not completed."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    calls = ab.from_items(Call, [Call(1, "425", 0.0), Call(2, "425", 5.0), Call(0, "425", 6.0)])
    calls.write_csv("out.csv.partial")
