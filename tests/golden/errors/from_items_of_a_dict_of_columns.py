"""Columns by their names where a list of tuples is expected."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.from_items(Call, {"phone": [1, 2], "area": ["A", "B"], "ts": [1.0, 2.0]}).collect("out")
