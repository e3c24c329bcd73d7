"""A tuple without attributes."""

from typing import NamedTuple

import anabranch as ab


class Tick(NamedTuple):
    pass


@ab.app
def app() -> None:
    ab.beacon(Tick, lambda number: Tick(), count=3).collect("out")
