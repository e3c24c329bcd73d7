"""A list of a type streams cannot carry."""

from decimal import Decimal
from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    costs: list[Decimal]


@ab.app
def app() -> None:
    ab.read_csv("calls.csv", Call).collect("out")
