"""A connection that carries an unknown format."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_tcp(9999, Call, format="xml").collect("out")
