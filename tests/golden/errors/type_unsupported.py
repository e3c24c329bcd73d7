"""An attribute of a type streams cannot carry."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    tags: dict[str, str]


@ab.app
def app() -> None:
    ab.read_csv("calls.csv", Call).collect("out")
