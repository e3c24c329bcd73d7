"""An output that would be no archive."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.from_items(Call, [Call(1, "425", 0.0)]).write_csv("calls.csv.zip")
