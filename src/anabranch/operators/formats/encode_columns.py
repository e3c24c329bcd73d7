"""Many rows at once from Arrow columns: the very bytes that a text format's encoder gives for each row in turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anabranch.graph.schema import Schema
from anabranch.operators.formats.arrow_batches import holds
from anabranch.operators.formats.column_texts import (
    bounds_of,
    cell_texts,
    data_of,
    joined,
    json_members,
    with_replaced,
)


class EncodedRows(NamedTuple):
    """Whole lines, and where each of them ends."""

    data: memoryview
    ends: npt.NDArray[np.int32] | npt.NDArray[np.int64]


EncodeColumns = Callable[[pa.RecordBatch], EncodedRows | None]


def column_encoder(format: str, schema: Schema, options: Mapping[str, Any]) -> EncodeColumns | None:
    """An encoder for columns; None for a format or a schema that has none.

    It gives None for a batch that must go row by row: one of its rows cannot be written, or it is not laid out as
    `arrow_schema` says.
    """
    if not schema.attributes:
        return None
    lines: EncodeColumns
    match format:
        case "csv":
            lines = partial(_csv_lines, schema, options.get("delimiter", ","))
        case "jsonl":
            lines = partial(_json_lines, schema)
        case "lines":
            lines = _plain_lines
        case _:
            return None
    return partial(_encode, schema, lines)


def _encode(schema: Schema, lines: EncodeColumns, batch: pa.RecordBatch) -> EncodedRows | None:
    if not holds(schema, batch):
        return None
    try:
        return lines(batch)
    except pa.ArrowException:  # more text than an Arrow column holds
        return None


def _rows(lines: pa.Array) -> EncodedRows:
    bounds = bounds_of(lines)
    return EncodedRows(data_of(lines), bounds[1:] - bounds[0])


def _json_lines(schema: Schema, batch: pa.RecordBatch) -> EncodedRows:
    return _rows(joined([*json_members(schema, batch.columns), "\n"], batch.num_rows))


def _plain_lines(batch: pa.RecordBatch) -> EncodedRows | None:
    (texts,) = batch.columns
    data = bytes(data_of(texts))
    if b"\n" in data:
        return None
    if b"\r" in data and pc.any(pc.ends_with(texts, "\r")).as_py():
        return None
    return _rows(joined([texts, "\n"], len(texts)))


# CSV ----------------------------------------------------------------------------------------------------------------

_SPECIAL = ('"', "\n", "\r", "\ufeff")
_HAVE_ANY_CHARACTER = ("str", "bytes", "list", "tuple")
_IN_OTHERS = "0123456789+-.:Tabefilnrstu"  # what numbers, bools and dates are written with


def _csv_lines(schema: Schema, delimiter: str, batch: pa.RecordBatch) -> EncodedRows:
    cells = []
    for attribute, column in zip(schema.attributes, batch.columns, strict=True):
        texts = cell_texts(attribute.type, column)
        if attribute.type.kind in _HAVE_ANY_CHARACTER or delimiter in _IN_OTHERS:
            texts = _quoted(texts, delimiter)
        cells.append(pc.fill_null(texts, ""))
    if len(cells) == 1:  # a line with nothing in it would be skipped as blank
        cells = [pc.if_else(pc.equal(pc.binary_length(cells[0]), 0), '""', cells[0])]
    if len(delimiter.encode()) > 1:
        pieces = [piece for cell in cells for piece in (cell, delimiter)]
        return _rows(joined([*pieces[:-1], "\n"], batch.num_rows))
    lines = _rows(pc.binary_join_element_wise(*cells, "", delimiter))
    data = bytearray(lines.data)
    np.frombuffer(data, np.uint8)[lines.ends - 1] = ord("\n")  # in place of the last delimiter: faster than adding one
    return EncodedRows(memoryview(data), lines.ends)


def _quoted(texts: pa.Array, delimiter: str) -> pa.Array:
    """The cells, in quotes where they must be."""
    data = bytes(data_of(texts))
    found = [character for character in (*_SPECIAL, delimiter) if character.encode() in data]
    if not found:
        return texts
    must_be = pc.match_substring(texts, found[0])
    for character in found[1:]:
        must_be = pc.or_(must_be, pc.match_substring(texts, character))
    doubled = pc.replace_substring(texts.filter(must_be), '"', '""')
    return with_replaced(texts, must_be, pc.binary_join_element_wise('"', doubled, '"', ""))
