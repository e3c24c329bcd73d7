"""The order of tuples that come together from several channels and streams, within one epoch.

What a stream carries for its order is known when a program is laid out: its *lineage*, outermost first. A `Number` is
a column that travels with the tuples; a `Branch` says which of several ways a stream took where it parted from others,
and is the same for all of its tuples. Two streams can be put in order where their lineages first differ in the branches
of one parting (design, section 2, "the order key").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[np.int64]
Columns = tuple[Column, ...]
LAST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Number:
    """A column: the number that a tuple was given somewhere, or its index among those that come from one number."""

    of: str


@dataclass(frozen=True)
class Branch:
    """The way a stream took at a parting; of the ways through one place with several outputs the order is not known."""

    at: str
    number: int
    is_ordered: bool = True


Lineage = tuple[Number | Branch, ...]


def width(lineage: Lineage) -> int:
    """How many columns travel with a stream."""
    return sum(isinstance(step, Number) for step in lineage)


def can_meet(one: Lineage, other: Lineage) -> bool:
    """Whether the tuples of two streams can be put in order."""
    for mine, theirs in zip(one, other, strict=False):
        if mine == theirs:
            continue
        return isinstance(mine, Branch) and isinstance(theirs, Branch) and mine.at == theirs.at and mine.is_ordered
    return False


def spread(lineage: Lineage, columns: Columns, count: int, depth: int) -> list[Column]:
    """A column for each step, up to a depth: what is compared when streams meet."""
    numbers = iter(columns)
    steps: list[Column] = []
    for step in lineage:
        steps.append(next(numbers) if isinstance(step, Number) else np.full(count, step.number, np.int64))
    steps += [np.zeros(count, np.int64)] * (depth - len(steps))
    return steps


def in_order(keys: Sequence[Sequence[Column]]) -> Column:
    """The order of the rows that stand behind one another in these keys; equal ones stay as they are."""
    if len(keys) == 1 and len(keys[0]) == 1:
        return np.argsort(keys[0][0], kind="stable")
    joined = [np.concatenate(columns) for columns in zip(*keys, strict=True)]
    if len(joined) == 1:
        return np.argsort(joined[0], kind="stable")
    return np.lexsort(joined[::-1])


def indices_of(origins: Column) -> Column:
    """For each of the tuples that come from these items, in order: which it is of those from the same item."""
    if not len(origins):
        return origins
    at = np.arange(len(origins), dtype=np.int64)
    is_first = np.empty(len(origins), bool)
    is_first[0] = True
    np.not_equal(origins[1:], origins[:-1], out=is_first[1:])
    return at - np.maximum.accumulate(np.where(is_first, at, 0))


@dataclass(frozen=True)
class Moment:
    """A place in the order of an epoch: where an operator failed."""

    lineage: Lineage
    numbers: tuple[int, ...]  # for the columns of the lineage

    def steps(self) -> list[int]:
        numbers = iter(self.numbers)
        return [next(numbers) if isinstance(step, Number) else step.number for step in self.lineage]

    def precedes(self, lineage: Lineage, columns: Columns, count: int) -> npt.NDArray[np.bool_]:
        """Which tuples of a stream come only after this moment. What was made from the same tuple came before.

        Where streams have met since, the branches that they took are numbers in the same places.
        """
        is_after = np.zeros(count, bool)
        is_open = np.ones(count, bool)
        for column, own in zip(spread(lineage, columns, count, len(lineage)), self.steps(), strict=False):
            is_after |= is_open & (column > own)
            is_open &= column == own
        return is_after

    def is_before(self, other: Moment) -> bool:
        """Of two failures: whether this one would have happened first."""
        for mine, theirs in zip(self.steps(), other.steps(), strict=False):
            if mine != theirs:
                return mine < theirs
        return len(self.lineage) > len(other.lineage)  # what was made of a tuple failed before the tuple did
