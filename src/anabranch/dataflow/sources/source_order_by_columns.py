"""Sources that are drawn by `order_by`, by columns: the order of `source_order.py`, found for many tuples at a time.

What follows a larger tuple of its own source comes at once: when that one had its turn, all other sources had larger
tuples still. So tuples are drawn in the order of the largest value that their source has given so far, equal ones in
the order of the sources. Those values rise, and sources are merged like sorted runs. Rows that cannot be read, and
ends, have the place of what is before them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anabranch.codegen.chunks import Batch, Chunk, join_chunks, take_tuples
from anabranch.codegen.columns import NoColumns
from anabranch.dataflow.sources.partition_claims import Claims
from anabranch.dataflow.sources.source_order import Drawn, PartitionGuard, draw_rest
from anabranch.dataflow.sources.source_slices import Found
from anabranch.graph.model import Operator
from anabranch.operators.base import FINAL, Partition, SourceDefinition

_ROWS_AT_ONCE = 4_096  # that are made of columns, where the rest is drawn by rows
_MANY, _SMALL = 1_000, 16  # chunks, and tuples in one of them: with fewer on average, columns cost more than they save
_LARGEST = np.iinfo(np.int64).max

_Ranks = npt.NDArray[Any]  # values that rise, in the order of the attribute


@dataclass(frozen=True)
class ColumnReader:
    """A source, or a partition of it, and what is read of it."""

    operator: Operator
    name: str  # of the partition
    found: Iterable[Found]


def draw_by_columns(
    sources: Sequence[Operator], readers: Sequence[ColumnReader]
) -> Generator[Drawn | Batch, None, None]:
    """All items of sources that all say `order_by`: batches of tuples, with an input for each source, and the others.

    Of every reader one chunk is in hand. Where columns do not tell what comes next (values of several types, a key that
    two partitions have), or where rows that cannot be read leave only crumbs of them, the rest is drawn by rows.
    """
    yield from _Draw(sources, readers).items()


class _Reader:
    """A reader with the chunk it has in hand, of which some has been drawn."""

    def __init__(self, number: int, given: ColumnReader, source: int) -> None:
        self.number = number
        self.source = source
        self.operator = given.operator
        self.name = given.name
        self.unread = iter(given.found)
        self.chunk: Chunk | None = None
        self.ranks: _Ranks = np.empty(0, np.int64)
        self.drawn = 0
        definition = cast(SourceDefinition, given.operator.definition)
        assert definition.order_by is not None
        self._attribute = given.operator.outputs[0].schema.names.index(definition.order_by)

    def take_in_hand(self, chunk: Chunk) -> str | None:
        """Of which type its values are; None where they have to be compared by rows."""
        self.chunk, self.drawn = chunk, 0
        try:
            found = _values(chunk.batch.column(self._attribute))
        except NoColumns:
            return None
        if found is None:
            return None
        kind, values = found
        self.ranks = np.maximum.accumulate(values)  # of earlier chunks none is left that these could be compared with
        return kind

    def up_to(self, last: _Reader) -> int:
        """How many tuples of the chunk come before the next one of `last`, which is not in hand yet."""
        rank = last.ranks[-1]
        behind = bisect_right if self.number <= last.number else bisect_left
        return behind(self.ranks, rank, self.drawn)

    def rest(self) -> Iterator[Any]:
        """What was not drawn, by rows."""
        for found in chain([self.chunk] if self.chunk is not None else [], self.unread):
            if not isinstance(found, Chunk):
                yield found
                continue
            start = self.drawn if found is self.chunk else 0
            for at in range(start, len(found), _ROWS_AT_ONCE):
                yield from found.cut(at, min(at + _ROWS_AT_ONCE, len(found))).rows


class _Draw:
    def __init__(self, sources: Sequence[Operator], readers: Sequence[ColumnReader]) -> None:
        self.sources = sources
        numbers = {source.id: number for number, source in enumerate(sources)}
        self.open = [_Reader(at, reader, numbers[reader.operator.id]) for at, reader in enumerate(readers)]
        self.kind: str | None = None  # of all values so far
        self.is_by_rows = False
        self.chunks = self.tuples = 0  # so far
        counts = Counter(reader.operator.id for reader in readers)
        self.claims = {source.id: Claims(source) for source in sources if counts[source.id] > 1}

    def items(self) -> Iterator[Drawn | Batch]:
        for reader in list(self.open):
            yield from self._filled(reader)
            if self.is_by_rows:
                break
        while self.open and not self.is_by_rows:
            # Whose chunk is drawn to its end first is the last of all that were drawn: what it gives now comes next.
            last = min(self.open, key=lambda reader: (reader.ranks[-1], reader.number))
            yield self._drawn_before(last)
            yield from self._filled(last)
        yield from self._rest()

    def _filled(self, reader: _Reader) -> Iterator[Drawn]:
        """Take the next chunk of a reader in hand; what comes before it, or the end, comes at once."""
        reader.chunk = None
        for found in reader.unread:
            if not isinstance(found, Chunk):
                yield reader.operator, found
            elif len(found):
                self.is_by_rows = not self._is_by_columns(reader, found)
                return
        self.open.remove(reader)
        if all(other.source != reader.source for other in self.open):
            yield reader.operator, FINAL

    def _is_by_columns(self, reader: _Reader, chunk: Chunk) -> bool:
        self.chunks += 1
        self.tuples += len(chunk)
        kind = reader.take_in_hand(chunk)
        self.kind = self.kind or kind
        claims = self.claims.get(reader.operator.id)
        are_kept = claims is None or claims.are_kept(reader.name, chunk)
        is_cheap = self.chunks < _MANY or self.tuples >= _SMALL * self.chunks
        return is_cheap and are_kept and kind is not None and kind == self.kind

    def _drawn_before(self, last: _Reader) -> Batch:
        """All that is drawn before the next chunk of `last` is needed."""
        stops = [reader.up_to(last) for reader in self.open]
        parts = [(each, each.drawn, stop) for each, stop in zip(self.open, stops, strict=True) if stop > each.drawn]
        order = np.argsort(np.concatenate([each.ranks[start:stop] for each, start, stop in parts]), kind="stable")
        counts = [stop - start for _, start, stop in parts]
        turns = np.repeat(np.array([each.source for each, _, _ in parts], np.uint16), counts)[order]
        chunks: list[Chunk | None] = [None] * len(self.sources)
        base = 0
        for source, of_source in groupby(parts, key=lambda part: part[0].source):
            cuts = []
            for each, start, stop in of_source:
                assert each.chunk is not None
                cuts.append(each.chunk.cut(start, stop))
                each.drawn = stop
            chunk = join_chunks(cuts[0].schema, cuts)
            chunks[source] = take_tuples(chunk, order[turns == source] - base) if len(cuts) > 1 else chunk
            base += len(chunk)
        return Batch(tuple(chunks), turns)

    def _rest(self) -> Iterator[Drawn]:
        guards = {source.id: PartitionGuard(source, self._owners(source)) for source in self.sources}
        rest = [(each.operator, Partition(each.name, each.rest)) for each in self.open]
        yield from draw_rest(rest, guards)

    def _owners(self, source: Operator) -> dict[Any, str] | None:
        if source.id not in self.claims:
            return None
        in_hand = [each for each in self.open if each.operator.id == source.id]
        drawn = [(each.name, each.chunk.cut(0, each.drawn)) for each in in_hand if each.chunk is not None]
        return self.claims[source.id].owners(drawn)


# Values --------------------------------------------------------------------------------------------------------------


def _values(column: pa.Array) -> tuple[str, _Ranks] | None:
    """The values of an attribute as what numpy puts in the order of `order_reader`, and with what else it does so.

    An int and a float are compared by rows: numpy would make floats of both, and large ints would be equal.
    """
    kind = column.type
    if column.null_count:
        return None
    if pa.types.is_int64(kind) or pa.types.is_boolean(kind):
        return "int", column.cast(pa.int64()).to_numpy()
    if pa.types.is_float64(kind):
        return "float", _in_order(column.to_numpy())
    if kind == pa.date32():
        return "date", column.cast(pa.int32()).to_numpy().astype(np.int64)
    if pa.types.is_timestamp(kind) and kind.unit == "us":
        return f"datetime, {'UTC' if kind.tz else 'no zone'}", column.cast(pa.int64()).to_numpy()
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return f"{kind}", np.array(column.to_pylist(), object)
    return None


def _in_order(floats: npt.NDArray[np.float64]) -> _Ranks:
    """Ints in the order of floats, with NaN behind all numbers: the bits, but those of negative ones count down."""
    bits = (floats + 0.0).view(np.int64)  # -0.0 + 0.0 is 0.0
    return np.where(np.isnan(floats), _LARGEST, np.where(bits < 0, bits ^ _LARGEST, bits))
