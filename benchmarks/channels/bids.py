"""A window aggregate without a key, by itself: the analysis looks at all that a program's module imports."""

from __future__ import annotations

from typing import Any, NamedTuple

import anabranch as ab
from benchmarks.spark import ours


class Bid(NamedTuple):
    auction: int
    price: int
    ts: int


class Window(NamedTuple):
    until: int
    bids: int
    total: int
    lowest: int
    highest: int
    auction: int
    first: int
    last: int


def bid(number: int) -> Bid:
    return Bid(number * 31 % 1_009, number * 7_919 % 10_007, number // 100)


def run(session: Any, count: int) -> dict[str, Any]:
    windows = ab.beacon(Bid, bid, count=count).window(ab.tumbling(seconds=100, on="ts"))
    closed = windows.aggregate(
        Window,
        until=ab.window_end(),
        bids=ab.count(),
        total=ab.sum_("price"),
        lowest=ab.min_("price"),
        highest=ab.max_("price"),
        auction=ab.arg_max("auction", "price"),
        first=ab.first("price"),
        last=ab.last("price"),
    )
    # Native code would be done in a moment.
    result = ours.run(session, closed.collect("windows"), form="python")
    assert result.plan.phases[0].layout.first_steps, "the windows are not made of parts"
    return {"windows": result.items("windows")}
