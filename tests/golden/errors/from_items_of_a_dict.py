"""The attributes of one tuple where a list of tuples is expected."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.from_items(Call, {"phone": 1, "area": "A", "ts": 1.0}).collect("out")
