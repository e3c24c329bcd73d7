"""Programs over tuples with two keys: what is done for a key, and then for another, costs next to nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import anabranch as ab
from benchmarks.spark import ours

SELDOM = 1_000  # one of so many tuples of a key leaves the second region


class Pair(NamedTuple):
    a: int
    b: int
    value: int


class Total(NamedTuple):
    a: int
    b: int
    total: int


class Running:
    """The sum of a key so far, with every tuple."""

    def __init__(self) -> None:
        self.total = 0

    def process(self, pair: Pair) -> Iterator[Total]:
        self.total += pair.value
        yield Total(pair.a, pair.b, self.total)


class Seldom:
    """One tuple of many, so that what leaves a program is as good as nothing."""

    def __init__(self) -> None:
        self.count = 0

    def process(self, total: Total) -> Iterator[Total]:
        self.count += 1
        if self.count % SELDOM == 0:
            yield total


class Largest:
    """The largest of a key so far, with every tuple."""

    def __init__(self) -> None:
        self.total = 0

    def process(self, total: Total) -> Iterator[Total]:
        self.total = max(self.total, total.total)
        yield Total(total.a, total.b, self.total)


@ab.app
def shuffled(pairs: str = "", out: str = "") -> None:
    """A region by one key, a shuffle, a region by the other, and a small file."""
    ab.read_parquet(pairs, Pair).process(Running, key="a").process(Seldom, key="b").write_csv(out)


@ab.app
def copied(pairs: str = "", out: str = "", ordered: bool = True) -> None:
    """Every tuple that is read is written, and between the two is a region by key."""
    ab.read_parquet(pairs, Pair).process(Running, key="a").write_parquet(out, ordered=ordered)


@ab.app
def stream_of_two_regions(pairs: str = "", out: str = "") -> None:
    """Every tuple goes through two regions, by different keys, into an ordered file."""
    ab.read_csv(pairs, Pair).process(Running, key="a").process(Largest, key="b").write_csv(out)


@ab.app
def stream_of_one_region(pairs: str = "", out: str = "") -> None:
    """Tuples with a value below 0 come into no region."""
    ab.read_csv(pairs, Pair).filter(lambda pair: pair.value >= 0).process(Running, key="a").write_csv(out)


def run_shuffled(session: Any, pairs: str, out: str) -> None:
    ours.run(session, shuffled(pairs=pairs, out=out), form="native")


def run_copied(session: Any, pairs: str, out: str, ordered: bool) -> None:
    ours.run(session, copied(pairs=pairs, out=out, ordered=ordered), form="native")
