"""What a stream carries for its order, within a stretch of the input.

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


def merge_lineages(lineages: Sequence[Lineage], place: str) -> Lineage:
    """What items carry that came by several streams: a column wherever these are not of the same branch."""
    depth = max(map(len, lineages), default=0)
    steps: list[Step] = []
    for at in range(depth):
        found = dict.fromkeys(lineage[at] if at < len(lineage) else None for lineage in lineages)
        step = next(iter(found))
        steps.append(step if len(found) == 1 and step is not None else _nameless(place, at))
    return tuple(steps)


def merge_paths(paths: Sequence[Lineage], place: str) -> tuple[Lineage, ...]:
    """The paths of such items, all as long as the longest; of too many to follow only how they begin is told apart."""
    depth = max(map(len, paths), default=0)
    nameless = tuple(_nameless(place, at) for at in range(depth))
    whole = [(*path, *nameless[len(path) :]) for path in dict.fromkeys(paths)]
    alike = [0] * len(whole)  # which paths are the same so far
    for at in range(depth):
        told_apart: dict[tuple[int, Step], int] = {}
        alike = [
            told_apart.setdefault((begin, path[at]), len(told_apart)) for begin, path in zip(alike, whole, strict=True)
        ]
        if len(told_apart) > MOST_PATHS:
            return tuple(dict.fromkeys((*path[:at], *nameless[at:]) for path in whole))
    return tuple(dict.fromkeys(whole))


def _nameless(place: str, at: int) -> Number:
    """A column that means nothing elsewhere."""
    return Number(f"{place}.{at}")
