"""A block of JSON lines as columns, read by Arrow where it takes every line as `parse_json` does."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.json

from anabranch.dataflow.sources.reading.chunks import Doubt
from anabranch.dataflow.sources.reading.csv_blocks import check_utf8
from anabranch.dataflow.sources.reading.cuts import Bytes, Places, mark_size
from anabranch.dataflow.sources.reading.text_cells import ColumnReader, column_reader, has_infinite
from anabranch.graph.schema import AttributeType, Schema
from anabranch.operators.formats.text_values import PARSERS

_TYPES = {"int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}  # all others of one value are strings in JSON
_AFTER_NUMBERS = np.frombuffer(b",]} \t\r\n", np.uint8)
_LONG_LINE = 300  # bytes: in shorter ones no number is too large for Python and nothing is nested too deeply
_SAMPLE = 30  # every so many bytes of long lines, to find long numbers
_DEEPEST = 200


def is_flat(schema: Schema) -> bool:
    """Whether Arrow can read such objects at all: lists and nested tuples are left to the row reader."""
    return all(each.type.element is None and each.type.nested is None for each in schema.attributes)


class JsonlBlocks:
    """Reads blocks of whole lines; `Doubt` or an Arrow error where a block is not for Arrow."""

    def __init__(self, schema: Schema) -> None:
        self._has_floats = any(each.type.kind == "float" for each in schema.attributes)
        self._names = schema.names
        self._types = pa.schema([(each.name, _TYPES.get(each.type.kind, pa.string())) for each in schema.attributes])
        self.readers = [_reader(each.type) for each in schema.attributes]

    def columns(self, data: bytes, start: int, before: int | None) -> list[pa.Array]:
        data = data[mark_size(data, start) :]
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
        if not data.endswith(b"\n"):
            data += b"\n"
        lines = self._check(data)
        table = pyarrow.json.read_json(
            pa.BufferReader(data),
            pyarrow.json.ReadOptions(use_threads=False, block_size=len(data) + 1),
            pyarrow.json.ParseOptions(explicit_schema=self._types, unexpected_field_behavior="ignore"),
        )
        if table.num_rows != lines:  # several on one line
            raise Doubt
        return [table.column(name).combine_chunks() for name in self._names]

    def _check(self, data: bytes) -> int:
        """How many lines there are. No object goes on in the next line, since inside one no `{` follows a `}`."""
        if not data.isascii():
            check_utf8(data)
        array = np.frombuffer(data, np.uint8)
        ends = np.flatnonzero(array == ord("\n"))
        inner = ends[:-1]
        if not data.startswith(b"{"):  # Arrow crashes on a null, and takes a byte order mark away wherever it starts
            raise Doubt
        if (array[inner - 1] != ord("}")).any() or (array[inner + 1] != ord("{")).any():
            raise Doubt
        if self._has_floats and b"-" in data:
            _check_zeros(array)
        if np.diff(ends, prepend=-1).max() > _LONG_LINE:
            _check_long_lines(array, ends)
        return len(ends)


def _check_zeros(array: Bytes) -> None:
    """Python makes 0.0 of the int -0 where a float is asked for, and Arrow -0.0."""
    minus = np.flatnonzero(array[:-2] == ord("-"))
    following = array[minus[array[minus + 1] == ord("0")] + 2]
    if np.isin(following, _AFTER_NUMBERS).any():
        raise Doubt


def _check_long_lines(array: Bytes, ends: Places) -> None:
    sample = array[::_SAMPLE]
    is_digit = (sample >= ord("0")) & (sample <= ord("9"))
    if b"\1" * (_LONG_LINE // _SAMPLE - 1) in is_digit.tobytes():
        raise Doubt
    opens = ((array == ord("[")) | (array == ord("{"))).view(np.uint8)
    starts = np.concatenate(([0], ends[:-1] + 1))
    if np.add.reduceat(opens, starts, dtype=np.int32).max() > _DEEPEST:
        raise Doubt


def _reader(kind: AttributeType) -> ColumnReader:
    read = _itself if kind.kind in _TYPES or kind.kind == "str" else column_reader(kind, PARSERS[kind.kind])

    def read_present(column: pa.Array) -> pa.Array:
        if column.null_count and not kind.optional:
            raise Doubt
        if kind.kind == "float" and has_infinite(column):  # JSON has no such number: it was too large
            raise Doubt
        return read(column)

    return read_present


def _itself(column: pa.Array) -> pa.Array:
    return column
