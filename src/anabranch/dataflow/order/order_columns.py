"""The order of tuples that come together from several channels and streams, within one stretch: columns of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anabranch.graph.order_keys import Lineage, Number

Column = npt.NDArray[np.int64]
Columns = tuple[Column, ...]
LAST = np.iinfo(np.int64).max


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
    """A place in the order of a stretch: where an operator failed."""

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

    def is_behind(self, lineage: Lineage, end: tuple[int, ...]) -> bool:
        """Whether a stream ended before: of another source, say. What fails when a stream ends keeps it from ending."""
        for own, theirs in zip(self.steps(), Moment(lineage, end).steps(), strict=False):
            if own != theirs:
                return own > theirs
        return False

    def is_before(self, other: Moment) -> bool:
        """Of two failures: whether this one would have happened first."""
        for mine, theirs in zip(self.steps(), other.steps(), strict=False):
            if mine != theirs:
                return mine < theirs
        return len(self.lineage) > len(other.lineage)  # what was made of a tuple failed before the tuple did
