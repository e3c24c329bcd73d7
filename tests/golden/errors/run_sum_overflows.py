"""A sum beyond 64 bits."""

from typing import NamedTuple

import anabranch as ab


class Number(NamedTuple):
    n: int


@ab.app
def app() -> None:
    numbers = ab.from_items(Number, [Number(2**62), Number(2**62)])
    numbers.window(ab.tumbling(count=2)).aggregate(Number, n=ab.sum_("n")).collect("out")
