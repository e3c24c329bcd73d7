"""Sources that are drawn in turn, each read by a task of its own.

A task that draws from all sources reads them row by row. But where tuples are drawn alternately (`drawing.py`), who
reads the n-th item of a source knows its place: in the n-th round, when it is this source's turn. Sources that have
ended by then are passed over, which does not change the order of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from anabranch.engines.expected_size import expected_of
from anabranch.engines.spark.sources import cut_source, is_in_slices
from anabranch.graph.model import Graph, Operator
from anabranch.operators.base import SourceDefinition

_LEAST_ROUNDS = 256  # of an epoch, where there are many readers: what each sends should not be crumbs
_MOST_READERS = 1_024  # so that an epoch does not become too large by that

_Turn = TypeVar("_Turn", int, npt.NDArray[np.int64])


@dataclass(frozen=True)
class Reader:
    """What is drawn from in its turn: a source, in slices that follow one another."""

    source: str
    slices: tuple[Any, ...]
    expected: int  # tuples, about


@dataclass(frozen=True)
class Readers:
    """All readers, in order of declaration; an epoch has so many `rounds`."""

    each: tuple[Reader, ...]
    rounds: int

    @property
    def epochs(self) -> int:
        """About how many there are."""
        return max(reader.expected for reader in self.each) // self.rounds + 1

    def place(self, number: int, turn: _Turn) -> _Turn:
        """The place within its epoch of what a reader gives in a turn of its own."""
        return turn % self.rounds * len(self.each) + number


def can_be_read_apart(graph: Graph) -> bool:
    """Whether each source can have a task of its own, as far as that is known without reading them."""
    return not _is_by_order(graph) and all(map(is_in_slices, graph.sources))


def _is_by_order(graph: Graph) -> bool:
    """Whether who is drawn from depends on what the others have."""
    definitions = [cast(SourceDefinition, source.definition) for source in graph.sources]
    return len(definitions) > 1 and all(definition.order_by is not None for definition in definitions)


def readers_of(graph: Graph, epoch: int) -> Readers | None:
    """The readers of a program; None where one task has to draw from all of its sources."""
    if len(graph.sources) > _MOST_READERS or not can_be_read_apart(graph):
        return None
    found = [_reader(source, epoch) for source in graph.sources]
    readers = tuple(reader for reader in found if reader is not None)
    if len(readers) < len(found):
        return None
    return Readers(readers, max(1, epoch // len(readers), min(epoch, _LEAST_ROUNDS)))


def _reader(source: Operator, epoch: int) -> Reader | None:
    slices = cut_source(source, epoch)
    return None if slices is None else Reader(source.id, slices, expected_of(source))
