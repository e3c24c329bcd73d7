"""Sources that are drawn in turn, each read by a task of its own.

A task that draws from all sources reads them row by row. But where tuples are drawn alternately (`source_order.py`),
who reads the n-th item of a source knows its place: in the n-th round, when it is this source's turn. Sources that have
ended by then are passed over, which does not change the order of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from anabranch.dataflow.sources.reading import slices_of_file
from anabranch.dataflow.sources.reading.slices import SLICE_SIZE
from anabranch.dataflow.sources.source_order_by_columns import ColumnReader
from anabranch.dataflow.sources.source_slices import cut_source, expect_to_read, read_all
from anabranch.graph.model import Graph, Operator
from anabranch.operators.base import SourceDefinition
from anabranch.operators.sources.located import located
from anabranch.operators.sources.read_files import ReadFiles
from anabranch.passes.layout.expected_size import expected_in, expected_of
from anabranch.passes.layout.source_reading import can_be_read_apart, is_in_partitions

_LEAST_ROUNDS = 256  # of a stretch, where there are many readers: what each sends should not be crumbs
_MOST_READERS = 1_024  # so that a stretch does not become too large by that
_LAST_STRETCH = 1 << 40  # behind all others
_BYTES_IN_HAND = 64 * 2**20  # of all files together that are drawn by order: each has a slice in hand

_Turn = TypeVar("_Turn", int, npt.NDArray[np.int64])


@dataclass(frozen=True)
class Reader:
    """What is drawn from in its turn: a source or a partition of it, in slices that follow one another."""

    source: str
    slices: tuple[Any, ...]
    expected: int  # tuples, about
    name: str = ""  # of the partition


@dataclass(frozen=True)
class Readers:
    """All readers, in order of declaration; a stretch has so many `rounds`."""

    each: tuple[Reader, ...]
    rounds: int
    is_partitioned: bool = False  # they are the partitions of one source

    @property
    def stretches(self) -> int:
        """About how many there are."""
        return max(reader.expected for reader in self.each) // self.rounds + 1

    def place(self, number: int, turn: _Turn) -> _Turn:
        """The place within its stretch of what a reader gives in a turn of its own."""
        return turn % self.rounds * len(self.each) + number

    def end(self, number: int, turn: int) -> tuple[int, int] | None:
        """The stretch and the place of the end that a reader has to send, whose last turn is over."""
        if not self.is_partitioned:
            return turn // self.rounds, self.place(number, turn)
        return (_LAST_STRETCH, 0) if number == 0 else None  # which partition is the last to end is not known


def readers_of(graph: Graph, stretch: int, *, partitions: bool = True) -> Readers | None:
    """The readers of a program; None where one task has to draw from all of its sources.

    `partitions` says whether those of a source may be among them: a key that two of them have is known only when all
    have been read.
    """
    if not can_be_read_apart(graph, partitions=partitions):
        return None
    is_partitioned = is_in_partitions(graph.sources[0])
    readers = _partitions(graph.sources[0]) if is_partitioned else _sources(graph, stretch)
    if readers is None or len(readers) > _MOST_READERS:
        return None
    rounds = max(1, stretch // len(readers), min(stretch, _LEAST_ROUNDS))
    return Readers(tuple(readers), rounds, is_partitioned and len(readers) > 1)


def _sources(graph: Graph, stretch: int) -> list[Reader] | None:
    found = []
    for source in graph.sources:
        slices = cut_source(source, stretch)
        if slices is None:
            return None
        found.append(Reader(source.id, slices, expected_of(source)))
    return found


def _partitions(source: Operator) -> list[Reader] | None:
    files = cast(ReadFiles, source.definition)
    if files.is_live:
        return None
    found = []
    for path in files.files():
        with located(source):
            slices = slices_of_file(files, path)
        if slices is None:
            return None
        found.append(Reader(source.id, tuple(slices), expected_in(path), str(path)))
    return found


# By order -----------------------------------------------------------------------------------------------------------


def readers_by_order(graph: Graph, stretch: int) -> list[ColumnReader] | None:
    """What one task reads by columns, of sources that all say `order_by`; None where it has to draw row by row."""
    if any(cast(SourceDefinition, source.definition).order_by is None for source in graph.sources):
        return None
    found: list[ColumnReader] = []
    many = sum(map(_count_of_readers, graph.sources))
    if many > _MOST_READERS:
        return None
    for source in graph.sources:
        readers = _by_order(source, stretch, min(SLICE_SIZE, _BYTES_IN_HAND // many))
        if readers is None:
            return None
        found += readers
    return found


def _count_of_readers(source: Operator) -> int:
    match source.definition:
        case ReadFiles(partition_by=(_, *_)) as files:
            with located(source):
                return len(files.files())
    return 1


def _by_order(source: Operator, stretch: int, size: int) -> list[ColumnReader] | None:
    cut: list[tuple[str, Sequence[Any] | None]]
    match source.definition:
        case ReadFiles(partition_by=(_, *_), is_live=False) as files:
            with located(source):
                cut = [(str(path), slices_of_file(files, path, size=size)) for path in files.files()]
        case _:
            cut = [("", cut_source(source, stretch, most=size))]
    if any(slices is None for _, slices in cut):
        return None
    for _, slices in cut:
        expect_to_read(source, slices or ())
    return [ColumnReader(source, name, read_all(source, slices or ())) for name, slices in cut]
