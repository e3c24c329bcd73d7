"""The app whose first output is waited for: `anabranch run benchmarks/codegen/first_output_app.py`."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    x: float
    y: float
    ts: float


class Travel(NamedTuple):
    phone: int
    speed: float
    ts: float


def distance(one: Call, other: Call) -> float:
    dx, dy = one.x - other.x, one.y - other.y
    return math.sqrt(dx * dx + dy * dy)


class Speed:
    def __init__(self) -> None:
        self.last: Call | None = None

    def process(self, call: Call) -> Iterator[Travel]:
        if self.last is not None and call.ts > self.last.ts:
            hours = (call.ts - self.last.ts) / 3600
            yield Travel(call.phone, distance(self.last, call) / hours, call.ts)
        self.last = call


@ab.app
def first_output(calls: str = "calls.csv") -> None:
    """Print who travels.

    calls: the CSV file of calls
    """
    (
        ab.read_csv(calls, Call)
        .filter(lambda call: call.area == "425")
        .process(Speed, key="phone")
        .filter(lambda travel: travel.speed > 0.0)
        .collect("travels")
    )
