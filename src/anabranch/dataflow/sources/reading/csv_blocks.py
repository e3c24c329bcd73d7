"""A block of a CSV file as columns: by compiled code, or by Arrow where it splits rows and cells as the row reader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.csv

from anabranch.dataflow.sources.reading.chunks import Doubt
from anabranch.dataflow.sources.reading.cuts import are_plain_quotes, mark_size
from anabranch.dataflow.sources.reading.text_cells import ColumnReader, column_reader, empty_as_null, has_infinite
from anabranch.graph.schema import AttributeType, Schema
from anabranch.operators.formats.cells import cell_parser
from anabranch.operators.formats.text_lines import BYTE_ORDER_MARK

if TYPE_CHECKING:
    from anabranch.dataflow.sources.reading.csv_native import NativeRows

# Numbers that Arrow can read at once, without a column of text in between.
_AT_ONCE = {"int": pa.int64(), "float": pa.float64()}

# Bytes from which on a process loads compiled code for them: for Arrow, about the time that loading takes.
_MUCH = 64 * 2**20
_already_read = 0
_is_prepared = False
# It needs the size of the text for every column of text: what is larger, or has more of them, is for Arrow.
_LARGEST_NATIVE, _MOST_TEXTS = 2**23, 16
_IN_NUMBERS_OR_AT_ENDS = b'0123456789+-.eE"\r\n\0'


class CsvBlocks:
    """Reads blocks of whole rows; `Doubt` or an Arrow error where a block is not for Arrow."""

    def __init__(self, schema: Schema, width: int, positions: tuple[int, ...], delimiter: str) -> None:
        self._names = [str(position) for position in range(width)]
        self._delimiter = delimiter
        self._as_text = dict.fromkeys(map(str, positions), pa.string())
        self._at_once = self._as_text | {
            str(position): _AT_ONCE[attribute.type.kind]
            for position, attribute in zip(positions, schema.attributes, strict=True)
            if attribute.type.kind in _AT_ONCE
        }
        self._is_optional = [attribute.type.optional for attribute in schema.attributes]
        self._blanks_at_edges = tuple(_blanks_at_edges(delimiter))
        self._native: NativeRows | None = None
        self._may_be_native = _may_be_native(schema, width, positions, delimiter)
        self._of_file = [attribute.type for attribute in schema.attributes], width, positions, delimiter
        self.readers = [_cell_reader(attribute.type) for attribute in schema.attributes]

    def columns(self, data: bytes, start: int, before: int | None) -> list[pa.Array]:
        """The cells of the wanted columns: text, or numbers already."""
        data = data[mark_size(data, start) :]
        self._check_text(data)
        _count_read(len(data))
        if _is_prepared and self._may_be_native and len(data) <= _LARGEST_NATIVE:
            found = self._read_natively(data)
            if found is not None:
                return found
            self._may_be_native = False  # what is not plain is seldom alone
        has_quotes = b'"' in data
        self._check(data, has_quotes=has_quotes)
        if self._at_once != self._as_text and not self._may_be_lenient(data):
            try:
                columns = self._read(data, self._at_once, has_quotes=has_quotes)
                if not any(pa.types.is_floating(each.type) and has_infinite(each) for each in columns):
                    return columns  # else: infinite, or just too large?
            except pa.ArrowInvalid:  # what Arrow takes for no number may be one
                self._at_once = self._as_text
        return self._read(data, self._as_text, has_quotes=has_quotes)

    def _read_natively(self, data: bytes) -> list[pa.Array] | None:
        if self._native is None:
            from anabranch.dataflow.sources.reading.csv_native import NativeRows

            self._native = NativeRows(*self._of_file)
        return self._native.columns(data)

    def _read(self, data: bytes, types: dict[str, pa.DataType], *, has_quotes: bool) -> list[pa.Array]:
        reader = pyarrow.csv.open_csv(
            pa.BufferReader(data),
            pyarrow.csv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=self._names),
            pyarrow.csv.ParseOptions(
                delimiter=self._delimiter, quote_char='"' if has_quotes else False, newlines_in_values=has_quotes
            ),
            pyarrow.csv.ConvertOptions(
                check_utf8=False,  # all of the block was checked
                column_types=types,
                include_columns=list(types),
                null_values=[""],  # of numbers: text stays as it is
            ),
        )
        columns = [column.combine_chunks() for column in reader.read_all().columns]
        if any(column.null_count and not optional for column, optional in zip(columns, self._is_optional, strict=True)):
            raise Doubt
        return columns

    def _may_be_lenient(self, data: bytes) -> bool:
        """Whether Arrow might take something for a number that is none: it is blind to blanks around it."""
        # Hexadecimal numbers, and what may follow nan. A single byte is found much faster than two.
        if any(two[1:] in data and two in data for two in (b"0x", b"0X", b"n(", b"N(")):
            return True
        if b" " not in data and b"\t" not in data:
            return False
        return data[:1].isspace() or data[-1:] in b" \t" or any(blank in data for blank in self._blanks_at_edges)

    def _check_text(self, data: bytes) -> None:
        if not data or data.startswith(BYTE_ORDER_MARK):  # Arrow takes one away wherever it starts
            raise Doubt
        if not data.isascii():
            check_utf8(data)

    def _check(self, data: bytes, *, has_quotes: bool) -> None:
        if self._delimiter == "\0":  # Arrow has no such delimiter
            raise Doubt
        if b"\r" in data and data.count(b"\r") != data.count(b"\r\n"):  # Arrow ends rows at each
            raise Doubt
        if has_quotes:
            array = np.frombuffer(data, np.uint8)
            if not are_plain_quotes(array, np.flatnonzero(array == ord('"')), self._delimiter):
                raise Doubt


def expect(size: int) -> None:
    """Before the first of so many bytes: where they are many, with those before, compiled code is loaded for them."""
    global _is_prepared
    if not _is_prepared and _already_read + size > _MUCH:
        from anabranch.codegen.runtime.csv_rows import read_rows  # brings numba with it

        read_rows.prepare()
        _is_prepared = True


def _count_read(size: int) -> None:
    global _already_read
    _already_read += size


def _may_be_native(schema: Schema, width: int, positions: tuple[int, ...], delimiter: str) -> bool:
    """Whether compiled code tells cells apart, and rows from blank lines; a column is read for one attribute."""
    if sum(attribute.type.kind not in _AT_ONCE for attribute in schema.attributes) > _MOST_TEXTS:
        return False
    is_plain = delimiter.isascii() and ord(delimiter) not in _IN_NUMBERS_OR_AT_ENDS
    return is_plain and width > 1 and len(set(positions)) == len(positions)


def check_utf8(data: bytes) -> None:
    try:
        data.decode()
    except UnicodeDecodeError:
        raise Doubt from None


def _blanks_at_edges(delimiter: str) -> Iterator[bytes]:
    edges = {delimiter.encode(), b"\n", b"\r", b'"'}
    for blank in (b" ", b"\t"):
        yield from (blank + edge for edge in edges)
        yield from (edge + blank for edge in edges)


def _cell_reader(kind: AttributeType) -> ColumnReader:
    read = column_reader(kind, cell_parser(kind))

    def read_cells(cells: pa.Array) -> pa.Array:
        if not pa.types.is_string(cells.type):
            return cells
        return read(empty_as_null(cells) if kind.optional else cells)

    return read_cells
