"""A folder of files in one."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_csv("data/calls.zip", Call).collect("out")
