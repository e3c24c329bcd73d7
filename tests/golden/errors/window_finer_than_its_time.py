"""Windows of half a second over a time in whole seconds."""

from typing import NamedTuple

import anabranch as ab


class Click(NamedTuple):
    page: str
    ts: int


class Clicks(NamedTuple):
    n: int


@ab.app
def app() -> None:
    clicks = ab.from_items(Click, [Click("/", 0)])
    clicks.window(ab.tumbling(seconds=0.5, on="ts")).aggregate(Clicks, n=ab.count()).collect("out")
