"""The lines of a text file, made where its tuples come from: on their way to the sink they are the bytes it will write.

They are a stream like any other, with one column: so they are put in order, joined and cut short as tuples are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from anabranch.codegen.chunks import Chunk
from anabranch.errors import RunError
from anabranch.graph.model import Operator
from anabranch.graph.order_keys import Number
from anabranch.graph.places import Lines
from anabranch.graph.schema import schema_of
from anabranch.operators.failures import after_failure
from anabranch.operators.formats import TextFormat, file_format
from anabranch.operators.formats.encode_columns import EncodedRows
from anabranch.operators.formats.text_writer import encoded_parts
from anabranch.operators.metrics import OperatorMetrics
from anabranch.operators.sinks.base import located


class Line(NamedTuple):
    line: bytes


LINES = schema_of(Line)
_COLUMN = pa.schema([pa.field("line", pa.large_binary(), nullable=False)])  # all of a stretch: perhaps more than 2 GB


def line_of(sink: str) -> Number:
    """What the place of a tuple in the order has at its end, where no line of it could be made for a sink."""
    return Number(f"line of {sink}")


class LineMaker:
    """Makes the lines of one sink."""

    def __init__(self, sink: Operator, lines: Lines) -> None:
        self.sink = sink  # as tasks know it: where it was written
        self.format = lines.format
        form, schema, options = file_format(lines.format), sink.inputs[0].schema, dict(lines.options)
        assert isinstance(form, TextFormat)
        self._encode = form.encoder(schema, **options)
        self._encode_columns = form.column_encoder(schema, **options)

    def make(self, chunk: Chunk) -> tuple[Chunk, RunError | None]:
        """The lines of the tuples up to one that cannot be written, and what is wrong with that one."""
        made = [_column(rows) for rows in self._by_columns(chunk)]
        taken = sum(map(len, made))
        lines: list[bytes] = []
        error: RunError | None = None
        try:
            for row in chunk.rows[taken:] if taken < len(chunk) else ():
                lines.append(self._line(row))
        except RunError as problem:
            error = problem
        made.append(pa.array(lines, pa.large_binary()))
        return Chunk.of_batch(LINES, pa.record_batch([pa.concat_arrays(made)], _COLUMN)), error

    def _by_columns(self, chunk: Chunk) -> Iterator[EncodedRows]:
        if self._encode_columns is not None and chunk.has_batch:
            yield from encoded_parts(chunk.batch, self._encode_columns)

    def _line(self, row: NamedTuple) -> bytes:
        try:
            with located(self.sink):
                return self._encode(row).encode()
        except Exception as problem:
            after_failure(self.sink, OperatorMetrics(), problem, row, "process")
            raise  # a file has no `on_error`


def _column(rows: EncodedRows) -> pa.Array:
    starts = np.concatenate([np.zeros(1, np.int64), rows.ends])
    return pa.Array.from_buffers(
        pa.large_binary(), len(rows.ends), [None, pa.py_buffer(starts), pa.py_buffer(rows.data)]
    )


def encoded(lines: Chunk) -> EncodedRows:
    """Lines as they are written to a file."""
    column = lines.batch.column(0)
    if not len(column):
        return EncodedRows(memoryview(b""), np.empty(0, np.int64))
    _, starts, data = column.buffers()
    bounds = np.frombuffer(starts, np.int64)[column.offset : column.offset + len(column) + 1]
    return EncodedRows(memoryview(data).cast("B")[bounds[0] : bounds[-1]], bounds[1:] - bounds[0])
