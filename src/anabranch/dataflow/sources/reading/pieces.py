"""What a slice is read as: batches of columns, and at their places what could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import pyarrow as pa

from anabranch.codegen.columns import NoColumns, batch_of
from anabranch.graph.schema import Schema
from anabranch.operators.base import Unreadable

# Rows in order: columns as `batch_of` makes them; the rows themselves where they have no columns; or a row that could
# not be read.
Piece: TypeAlias = pa.RecordBatch | list[Any] | Unreadable


class Doubt(Exception):
    """Arrow may read this otherwise than the row reader does, which therefore has to read it."""


def pieces_of_rows(schema: Schema, items: Iterable[Any], chunk_size: int) -> Iterator[Piece]:
    """What a row reader gives, as pieces of at most `chunk_size` rows."""
    rows: list[Any] = []
    for item in items:
        if isinstance(item, Unreadable):
            if rows:
                yield _columns_or_rows(schema, rows)
                rows = []
            yield item
            continue
        rows.append(item)
        if len(rows) >= chunk_size:
            yield _columns_or_rows(schema, rows)
            rows = []
    if rows:
        yield _columns_or_rows(schema, rows)


def _columns_or_rows(schema: Schema, rows: list[Any]) -> pa.RecordBatch | list[Any]:
    try:
        return batch_of(schema, rows)
    except NoColumns:
        return rows


def batch_of_columns(schema: Schema, columns: list[pa.Array]) -> pa.RecordBatch:
    fields = [
        pa.field(attribute.name, column.type, nullable=attribute.type.optional)
        for attribute, column in zip(schema.attributes, columns, strict=True)
    ]
    return pa.record_batch(columns, pa.schema(fields))
