"""The input of a pipeline, and the form in which each contestant gets it.

Data are made once, as columns. A Python loop and Bytewax get a list of NamedTuples, the Python form gets such lists
cut into chunks, native code and hand-written kernels get Arrow record batches. Making these is not timed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anabranch.codegen.chunks import Batch, Chunk
from anabranch.graph.schema import schema_of
from anabranch.operators.formats.arrow_types import arrow_schema

ROW_CHUNK, COLUMN_CHUNK = 16_384, 65_536  # tuples; of columns as many as readers of files give, or fewer

Turns = npt.NDArray[np.uint16]


@dataclass(frozen=True)
class Data:
    """Streams as columns; where there are several, `turns` says which of them each next tuple comes from."""

    types: tuple[type[Any], ...]
    streams: tuple[pa.RecordBatch, ...]
    turns: Turns | None = None

    def __len__(self) -> int:
        return sum(stream.num_rows for stream in self.streams)

    def first(self, count: int) -> Data:
        """The tuples that are drawn first."""
        return self._between(0, count)

    def cut(self, size: int) -> Iterator[Data]:
        """The same in stretches, each with memory of its own, as it would arrive from elsewhere."""
        for start in range(0, len(self), size):
            yield self._between(start, start + size)

    def _between(self, start: int, stop: int) -> Data:
        if self.turns is None:
            return Data(self.types, (_copied(self.streams[0].slice(start, stop - start)),))
        turns = self.turns[start:stop].copy()
        skipped = np.bincount(self.turns[:start], minlength=len(self.streams))
        taken = np.bincount(turns, minlength=len(self.streams))
        streams = zip(self.streams, skipped.tolist(), taken.tolist(), strict=True)
        return Data(self.types, tuple(_copied(stream.slice(at, count)) for stream, at, count in streams), turns)

    def rows(self) -> list[list[Any]]:
        """NamedTuples, stream by stream; the same ones for whoever asks, since where they lie in memory counts."""
        return self._rows

    @cached_property
    def _rows(self) -> list[list[Any]]:
        return [
            list(map(type._make, zip(*(column.to_pylist() for column in stream.columns), strict=True)))
            for type, stream in zip(self.types, self.streams, strict=True)
        ]

    def merged_rows(self) -> list[Any]:
        """NamedTuples of all streams, in the order in which they are drawn."""
        rows = self.rows()
        if self.turns is None:
            return rows[0]
        streams = [iter(stream) for stream in rows]
        return [next(streams[turn]) for turn in self.turns.tolist()]


def row_batches(data: Data) -> list[Batch]:
    """What a processing element in the Python form is given."""
    batches = []
    done = [0] * len(data.types)
    for part, is_last in _with_end(data, ROW_CHUNK):
        counts = [stream.num_rows for stream in part.streams]
        rows = [all_[at : at + count] for all_, at, count in zip(data.rows(), done, counts, strict=True)]
        done = [at + count for at, count in zip(done, counts, strict=True)]
        batches.append(_batch(part, is_last, rows, Chunk.of_rows))
    return batches


def column_batches(data: Data, size: int = COLUMN_CHUNK) -> list[Batch]:
    """What a native processing element is given."""
    return [_batch(part, is_last, part.streams, Chunk.of_batch) for part, is_last in _with_end(data, size)]


def _with_end(data: Data, size: int) -> list[tuple[Data, bool]]:
    parts = list(data.cut(size))
    return [(part, part is parts[-1]) for part in parts]


def _batch(part: Data, is_last: bool, contents: Sequence[Any], make: Any) -> Batch:
    schemas = [schema_of(type) for type in part.types]
    chunks = tuple(make(schema, each, is_last=is_last) for schema, each in zip(schemas, contents, strict=True))
    turns = part.turns
    if turns is not None and is_last:  # the ends are items too
        turns = np.concatenate([turns, np.arange(len(chunks), dtype=np.uint16)])
    return Batch(chunks, turns)


def _copied(batch: pa.RecordBatch) -> pa.RecordBatch:
    """With buffers of its own that begin at zero."""
    return pa.ipc.read_record_batch(batch.serialize(), batch.schema)


def columns_of(type: type[Any], **columns: npt.NDArray[Any] | pa.Array) -> pa.RecordBatch:
    """A stream of the given type."""
    assert tuple(columns) == type._fields
    return pa.record_batch(list(map(pa.array, columns.values())), arrow_schema(schema_of(type)))


def chosen(names: Sequence[str], indices: npt.NDArray[np.int64]) -> pa.Array:
    """A column of strings: at each place the name of that index."""
    return pa.DictionaryArray.from_arrays(indices, pa.array(names)).cast(pa.string())


def skewed(random: np.random.Generator, size: int, distinct: int) -> npt.NDArray[np.int64]:
    """Indices below `distinct`, of which the first are by far the most frequent."""
    return (random.random(size) ** 2 * distinct).astype(np.int64)


def scattered_ids(random: np.random.Generator, distinct: int) -> npt.NDArray[np.int64]:
    """Ids as they are handed out in the world: 64 bits, not dense."""
    return random.integers(10**12, 2**62, distinct, dtype=np.int64)
