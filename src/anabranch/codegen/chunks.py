"""What moves between processing elements: some tuples of one stream, as rows or as columns, whichever is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anabranch.codegen.columns import NoColumns, batch_of, rows_of
from anabranch.graph.schema import Schema

Positions = npt.NDArray[np.int64]


@dataclass(eq=False)
class Chunk:
    """Tuples of one stream, in order, with the punctuations between them.

    It is made from rows (NamedTuples) or from columns (an Arrow record batch) and converted at most once, when the
    other form is asked for. `punctuations` holds for each window punctuation how many tuples of the chunk come before
    it; `is_last` says that the stream ends behind the chunk. `origins`, where a processing element was asked for them,
    gives for every tuple the number of the item of its input batch that it comes from, and `punctuation_origins` for
    every punctuation. Of an element with several outputs, `turns` and `punctuation_turns` then say in which order it
    gave on all of them what comes from one item, and `ended` has the item and the turn with which the stream ended.
    """

    schema: Schema
    _rows: list[Any] | None = None
    _batch: pa.RecordBatch | None = None
    punctuations: Sequence[int] = ()
    is_last: bool = False
    origins: Positions | None = field(default=None, repr=False)
    punctuation_origins: Positions | None = field(default=None, repr=False)
    turns: Positions | None = field(default=None, repr=False)
    punctuation_turns: Positions | None = field(default=None, repr=False)
    ended: tuple[int, int] | None = field(default=None, repr=False)

    @classmethod
    def of_rows(
        cls, schema: Schema, rows: list[Any], *, punctuations: Sequence[int] = (), is_last: bool = False
    ) -> Chunk:
        return cls(schema, rows, None, punctuations, is_last)

    @classmethod
    def of_batch(
        cls, schema: Schema, batch: pa.RecordBatch, *, punctuations: Sequence[int] = (), is_last: bool = False
    ) -> Chunk:
        return cls(schema, None, batch, punctuations, is_last)

    def marked(self, punctuations: Sequence[int] = (), *, is_last: bool = False) -> Chunk:
        """The same tuples, with these punctuations between them and this end."""
        return Chunk(self.schema, self._rows, self._batch, punctuations, is_last)

    def cut(self, start: int, stop: int) -> Chunk:
        """Some of its tuples; of a chunk without punctuations that is not the last."""
        if self._batch is not None:
            return Chunk(self.schema, None, self._batch.slice(start, stop - start))
        return Chunk(self.schema, self.rows[start:stop])

    def __len__(self) -> int:
        if self._rows is not None:
            return len(self._rows)
        assert self._batch is not None
        return int(self._batch.num_rows)

    @property
    def has_rows(self) -> bool:
        return self._rows is not None

    @property
    def has_batch(self) -> bool:
        return self._batch is not None

    @property
    def rows(self) -> list[Any]:
        if self._rows is None:
            assert self._batch is not None
            self._rows = rows_of(self.schema, self._batch)
        return self._rows

    @property
    def batch(self) -> pa.RecordBatch:
        """The columns; `NoColumns` where the rows have none."""
        if self._batch is None:
            assert self._rows is not None
            self._batch = batch_of(self.schema, self._rows)
        return self._batch


@dataclass(eq=False)
class Batch:
    """What a processing element is given at once: a chunk for each of its inputs, and whose turn it is.

    An item is a tuple, a punctuation, or the end of a stream. `turns` names for every item the input it is the next
    item of; without it, the items of the first chunk come before all of the second, and so on. An input that has
    nothing in this batch has None.
    """

    chunks: tuple[Chunk | None, ...]
    turns: npt.NDArray[np.uint16] | None = None


def join_chunks(schema: Schema, chunks: Sequence[Chunk]) -> Chunk:
    """Chunks of one stream behind one another, by columns where all have them."""
    if len(chunks) == 1:
        return chunks[0]
    if not any(chunk.has_rows and not chunk.has_batch for chunk in chunks):
        batches = [chunk.batch for chunk in chunks if len(chunk)]
        if len({batch.schema for batch in batches}) == 1:
            return Chunk.of_batch(schema, pa.concat_batches(batches))
    return Chunk.of_rows(schema, [row for chunk in chunks for row in chunk.rows])


def take_tuples(chunk: Chunk, positions: Positions) -> Chunk:
    """The tuples at these positions."""
    if chunk.has_batch:
        return Chunk.of_batch(chunk.schema, chunk.batch.take(pa.array(positions)))
    rows = chunk.rows
    return Chunk.of_rows(chunk.schema, [rows[at] for at in positions.tolist()])


def as_columns(chunk: Chunk) -> Chunk:
    """The same with columns, if it can have them: so it is sent, and so keys are hashed fastest."""
    try:
        return Chunk.of_batch(chunk.schema, chunk.batch)
    except NoColumns:
        return chunk
