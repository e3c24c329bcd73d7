"""Items that are not of the type they are said to be."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.from_items(Call, [Call(1, "425", 0.0), ("2", "425", 5.0)]).collect("out")
