"""An attribute that is one of two types."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int | str


@ab.app
def app() -> None:
    ab.read_csv("calls.csv", Call).collect("out")
