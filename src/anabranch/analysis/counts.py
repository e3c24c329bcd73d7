"""How many tuples: the smallest and the largest number over all paths, where two already means many."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.graph.properties import Selectivity

MANY = 2


@dataclass(frozen=True, slots=True)
class Count:
    least: int
    most: int

    def __add__(self, other: Count) -> Count:
        """One after the other."""
        return Count(min(self.least + other.least, MANY), min(self.most + other.most, MANY))

    def __or__(self, other: Count) -> Count:
        """One or the other."""
        return Count(min(self.least, other.least), max(self.most, other.most))

    def repeated(self) -> Count:
        """Any number of times, also never."""
        return Count(0, MANY if self.most else 0)

    @property
    def selectivity(self) -> Selectivity:
        if self == ONE:
            return Selectivity.EXACTLY_ONE
        return Selectivity.AT_MOST_ONE if self.most <= 1 else Selectivity.UNBOUNDED


ZERO = Count(0, 0)
ONE = Count(1, 1)
AT_MOST_ONE = Count(0, 1)
ANY = Count(0, MANY)


def exactly(number: int) -> Count:
    return Count(min(number, MANY), min(number, MANY))
