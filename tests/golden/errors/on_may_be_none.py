"""Windows by a time that may be missing."""

from typing import NamedTuple

import anabranch as ab


class Click(NamedTuple):
    page: str
    ts: float | None


class Clicks(NamedTuple):
    n: int


@ab.app
def app() -> None:
    ab.read_csv("clicks.csv", Click).window(ab.tumbling(minutes=10, on="ts")).aggregate(Clicks, n=ab.count()).collect(
        "out"
    )
