"""Phones that are in two places at once: a fraud detector on a stream of calls.

Make a day of calls, and look at it:

    python -m examples.data.calls --count 1000000 --out calls.csv
    anabranch run examples/mobility_fraud.py --calls calls.csv --out alerts.csv
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import anabranch as ab


# Tuples are NamedTuples. Their annotations are the types of the streams.
class Call(NamedTuple):
    phone: int
    area: str
    x: float  # km
    y: float  # km
    ts: float  # seconds


class Travel(NamedTuple):
    phone: int
    speed: float  # km/h
    ts: float


class Count(NamedTuple):
    ts: float
    n: int


def distance(one: Call, other: Call) -> float:
    """In km, as the crow flies."""
    dx, dy = one.x - other.x, one.y - other.y
    return math.sqrt(dx * dx + dy * dy)


class Speed:
    """How fast a phone went from one call to the next.

    It is written for one phone: `key="phone"` below makes an instance for each. That is also why it can run in
    parallel: what the calls of one phone leave behind in `self` no other phone ever sees.
    """

    def __init__(self) -> None:
        self.last: Call | None = None

    def process(self, call: Call) -> Iterator[Travel]:
        # A call that was recorded late, or at the same moment, says nothing about speed.
        if self.last is not None and call.ts > self.last.ts:
            hours = (call.ts - self.last.ts) / 3600
            yield Travel(call.phone, distance(self.last, call) / hours, call.ts)
        self.last = call


@ab.app
def mobility_fraud(calls: str = "calls.csv", out: str = "alerts.csv", area: str = "425", limit: float = 300.0) -> None:
    """Count, every ten minutes, the phones of an area that moved faster than a phone can.

    calls: the CSV file of calls, in the order in which they were recorded
    out: where to write the counts
    area: the area code to look at
    limit: the speed in km/h above which a phone is thought to be two
    """
    (
        ab.read_csv(calls, Call)
        .filter(lambda call: call.area == area)
        .process(Speed, key="phone")
        .filter(lambda travel: travel.speed > limit)
        # Windows go by the time in the tuples, not by the clock on the wall: the same file gives the same counts.
        .window(ab.tumbling(minutes=10, on="ts"))
        .aggregate(Count, ts=ab.last("ts"), n=ab.count())
        .write_csv(out)
    )


def generate(count: int, folder: Path, seed: int = 7) -> dict[str, Any]:
    """Make data of the given size in a folder; what the app has to be told to use them."""
    from examples.data.calls import write_calls

    write_calls(folder / "calls.csv", count, seed)
    return {"calls": str(folder / "calls.csv"), "out": str(folder / "alerts.csv")}
