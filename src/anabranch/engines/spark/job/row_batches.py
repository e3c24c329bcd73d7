"""Rows as Spark takes and gives them: Arrow batches, of one row each on the way out, since a row may be large."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from anabranch.dataflow.transport.rows import Row

ROW = "channel int, place int, epoch long, arrival int, kind int, payload binary"
_ARROW = pa.schema(
    [
        ("channel", pa.int32()),
        ("place", pa.int32()),
        ("epoch", pa.int64()),
        ("arrival", pa.int32()),
        ("kind", pa.int32()),
        ("payload", pa.binary()),
    ]
)


def as_batch(row: Row) -> pa.RecordBatch:
    """A batch of one row, whose payload is not copied."""
    *addressed, content = row.values
    numbers = [pa.array([value], field.type) for value, field in zip(addressed, _ARROW, strict=False)]
    payload = pa.py_buffer(content)
    offsets = pa.py_buffer(np.array([0, payload.size], np.int32))
    return pa.record_batch([*numbers, pa.Array.from_buffers(pa.binary(), 1, [None, offsets, payload])], _ARROW)


def as_table(rows: Iterable[Row]) -> pa.Table:
    return pa.Table.from_batches([as_batch(row) for row in rows], _ARROW)


def rows_in(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    for batch in batches:
        numbers = [batch.column(at).to_pylist() for at in range(5)]
        for at, (channel, place, epoch, arrival, kind) in enumerate(zip(*numbers, strict=True)):
            yield Row(channel, place, epoch, arrival, kind, batch.column(5)[at].as_buffer())
