"""An empty path, which would be the current folder."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_csv("", Call).collect("out")
