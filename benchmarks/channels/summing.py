"""A program of one keyed operator, which does little for a tuple.

It imports nothing that a host of a race needs: what a program's modules reach, the compiler reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import anabranch as ab


class Pair(NamedTuple):
    a: int
    b: int
    value: int


class Total:
    def __init__(self) -> None:
        self.total = 0

    def process(self, pair: Pair) -> Iterator[Pair]:
        self.total = (self.total + pair.value) % 1_000_003
        yield Pair(pair.a, pair.b, self.total)


def sums(pairs: str) -> ab.Sink:
    summed = ab.read_parquet(pairs, Pair).process(Total, key="a")
    return summed.filter(lambda pair: pair.value < 1_000).collect("out")
