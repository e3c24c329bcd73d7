"""Two sources whose order cannot be compared."""

from datetime import date
from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    ts: float


class Visit(NamedTuple):
    user: str
    day: date


@ab.app
def app() -> None:
    calls = ab.read_csv("calls.csv", Call, order_by="ts")
    visits = ab.read_csv("visits.csv", Visit, order_by="day")
    calls.collect("calls")
    visits.collect("visits")
