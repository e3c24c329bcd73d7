"""A dataclass where a tuple type is expected."""

from dataclasses import dataclass

import anabranch as ab


@dataclass
class Call:
    phone: int
    ts: float


@ab.app
def app() -> None:
    ab.read_csv("calls.csv", Call).collect("out")
