"""A CSV file in which a quote is never closed."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_csv("data/open_quote.csv", Call).collect("out")
