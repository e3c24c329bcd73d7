"""What a slice is read as: chunks of tuples, and at their places what could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import pyarrow as pa

from anabranch.codegen.chunks import Chunk, as_columns
from anabranch.errors import SourceError
from anabranch.graph.schema import Schema
from anabranch.operators.base import Unreadable

# Rows in order, by columns where they have such; or a row that could not be read.
Found: TypeAlias = Chunk | Unreadable


class Doubt(Exception):
    """Arrow may read this otherwise than the row reader does, which therefore has to read it."""


def chunks_of_rows(schema: Schema, items: Iterable[Any], chunk_size: int) -> Iterator[Found]:
    """What a row reader gives, as chunks of at most `chunk_size` rows."""
    rows: list[Any] = []
    try:
        for item in items:
            if isinstance(item, Unreadable):
                if rows:
                    yield as_columns(Chunk.of_rows(schema, rows))
                    rows = []
                yield item
                continue
            rows.append(item)
            if len(rows) >= chunk_size:
                yield as_columns(Chunk.of_rows(schema, rows))
                rows = []
    except SourceError:  # it has its place behind them
        if rows:
            yield as_columns(Chunk.of_rows(schema, rows))
        raise
    if rows:
        yield as_columns(Chunk.of_rows(schema, rows))


def chunk_of_columns(schema: Schema, columns: list[pa.Array]) -> Chunk:
    fields = [
        pa.field(attribute.name, column.type, nullable=attribute.type.optional)
        for attribute, column in zip(schema.attributes, columns, strict=True)
    ]
    return Chunk.of_batch(schema, pa.record_batch(columns, pa.schema(fields)))
