"""One tuple where a list of them is expected."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.from_items(Call, Call(1, "A", 1.0)).collect("out")
