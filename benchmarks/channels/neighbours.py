"""A program of two keyed operators and a join of what they give, all by one key, which the compiler can see or not.

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


def kept(pair: Pair) -> Pair:
    return Pair(pair.a, pair.b, pair.value)


def made_anew(pair: Pair) -> Pair:
    return Pair(pair.a + 0, pair.b, pair.value)  # the same number, but nobody proves it


class Step:
    """What is new, and what was before it, in turn."""

    def __init__(self) -> None:
        self.last = 0

    def now(self, pair: Pair) -> Iterator[Pair]:
        self.last = pair.value

    def again(self, pair: Pair) -> Iterator[Pair]:
        if (pair.value + self.last) % 1_009 == 0:
            yield pair


def neighbours(pairs: str, *, is_seen: bool) -> ab.Sink:
    copied = kept if is_seen else made_anew
    totals = ab.read_parquet(pairs, Pair).process(Total, key="a").map(copied)
    again = totals.process(Total, key="a").map(copied)
    return ab.connect(Step, key="a", now=totals, again=again).collect("out")
