"""A program with an ordered CSV file of many columns.

It imports nothing that a host of a race needs: what a program's modules reach, the compiler reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import anabranch as ab


class Wide(NamedTuple):
    a: int
    number: int
    x0: float
    x1: float
    x2: float
    x3: float
    x4: float
    x5: float
    x6: float
    x7: float
    x8: float
    x9: float


class Rising:
    """A keyed operator that does next to nothing: what is measured is what comes behind it."""

    def __init__(self) -> None:
        self.total = 0.0

    def process(self, wide: Wide) -> Iterator[Wide]:
        self.total = self.total / 2.0 + wide.x0
        yield Wide(
            wide.a, wide.number, self.total,
            wide.x1, wide.x2, wide.x3, wide.x4, wide.x5, wide.x6, wide.x7, wide.x8, wide.x9,
        )  # fmt: skip


def wide(number: int) -> Wide:
    x = (number * 7919 % 10_007) / 7.0
    return Wide(
        number * 104_729 % 1_009, number,
        x, x + 0.1, x + 0.2, x + 0.3, x + 0.4, x + 0.5, x + 0.6, x + 0.7, x + 0.8, x + 0.9,
    )  # fmt: skip


def wide_file(count: int, out: str) -> ab.Sink:
    return ab.beacon(Wide, wide, count=count).process(Rising, key="a").write_csv(out)
