"""The order of tuples that come together from several channels and streams, within one epoch.

What a stream carries for its order is known when a program is laid out: its *lineage*, outermost first. A `Number` is
a column that travels with the tuples; a `Branch` says which of several ways a stream took where it parted from others,
and is the same for all of its tuples. Two streams can be put in order where their lineages first differ in the branches
of one parting, or in the numbers that one place gave over all of its outputs (design, section 2, "the order key").

Where streams have met, what comes out has come on one of several *paths*, each a lineage: branches that differ are
columns from there on. Such streams can be put in order where all their paths can.
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
    """A column: the number that a tuple was given somewhere, or its index among those that come from one number.

    With an `output`, that is among those on all outputs of one place: on two of them there is no number twice.
    """

    of: str
    output: int | None = None


@dataclass(frozen=True)
class Branch:
    """The way a stream took at a parting, by its place among the ways; where that is not known it is not ordered."""

    at: str
    number: int
    is_ordered: bool = True


DRAW = (Number("draw"),)  # what tuples have where they are drawn

Step = Number | Branch
Lineage = tuple[Step, ...]
MOST_PATHS = 16  # of one stream: each is compared with each of another


def width(lineage: Lineage) -> int:
    """How many columns travel with a stream."""
    return sum(isinstance(step, Number) for step in lineage)


def can_meet(one: Sequence[Lineage], other: Sequence[Lineage]) -> bool:
    """Whether the tuples of two streams, which came on these paths, can be put in order."""
    return all(_differ(mine, theirs) for mine in one for theirs in other)


def _differ(one: Lineage, other: Lineage) -> bool:
    """Whether no two tuples on two paths have the same place, and the columns say which comes first."""
    for mine, theirs in zip(one, other, strict=False):
        match mine, theirs:
            case _ if mine == theirs:
                continue
            case Branch(), Branch():
                return mine.at == theirs.at and mine.number != theirs.number and mine.is_ordered and theirs.is_ordered
            case Number(output=int()), Number(output=int()):
                return mine.of == theirs.of
        return False
    return False


def merged(lineages: Sequence[Lineage], place: str) -> Lineage:
    """What items carry that came by several streams: a column wherever these are not of the same branch."""
    depth = max(map(len, lineages), default=0)
    steps: list[Step] = []
    for at in range(depth):
        found = dict.fromkeys(lineage[at] if at < len(lineage) else None for lineage in lineages)
        step = next(iter(found))
        steps.append(step if len(found) == 1 and step is not None else _nameless(place, at))
    return tuple(steps)


def merged_paths(paths: Sequence[Lineage], place: str) -> tuple[Lineage, ...]:
    """The paths of such items, all as long as the longest; of too many to follow only how they begin is told apart."""
    depth = max(map(len, paths), default=0)
    for known in range(depth, -1, -1):
        found = dict.fromkeys(_up_to(path, known, depth, place) for path in paths)
        if len(found) <= MOST_PATHS:
            break
    return tuple(found)


def _up_to(path: Lineage, known: int, depth: int, place: str) -> Lineage:
    return (*path[:known], *(_nameless(place, at) for at in range(min(known, len(path)), depth)))


def _nameless(place: str, at: int) -> Number:
    """A column that means nothing elsewhere."""
    return Number(f"{place}.{at}")


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
