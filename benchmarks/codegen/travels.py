"""The tuples and the operator of mobility fraud, for its pipeline and for the app whose first output is waited for.

Nothing else is here, since that app waits for all that it imports.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple


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
