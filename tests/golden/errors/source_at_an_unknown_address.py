"""A source at an address that nothing is read from."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_csv("ftp://host/calls.csv", Call).collect("out")
