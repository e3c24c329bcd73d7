"""An output that the next run would read."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_csv("data/no_header*.csv", Call, header=False).write_csv("data/no_header_2.csv")
