"""A misspelled way to deal with errors."""

from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


@ab.app
def app() -> None:
    ab.read_csv("calls.csv", Call, on_error="ignore").collect("out")
