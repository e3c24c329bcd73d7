"""A block of a CSV file as columns of text, read by Arrow where it splits rows and cells as `csv_records` does."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv

from anabranch.engines.reading.cuts import are_plain_quotes, mark_size
from anabranch.engines.reading.pieces import Doubt
from anabranch.engines.reading.text_cells import ColumnReader, column_reader, empty_as_null
from anabranch.graph.schema import AttributeType, Schema
from anabranch.operators.formats.cells import cell_parser
from anabranch.operators.formats.text_lines import BYTE_ORDER_MARK


class CsvBlocks:
    """Reads blocks of whole rows; `Doubt` or an Arrow error where a block is not for Arrow."""

    def __init__(self, schema: Schema, width: int, positions: tuple[int, ...], delimiter: str) -> None:
        self._names = [str(position) for position in range(width)]
        self._wanted = [str(position) for position in positions]
        self._delimiter = delimiter
        self.readers = [_cell_reader(attribute.type) for attribute in schema.attributes]

    def columns(self, data: bytes, start: int, before: int | None) -> list[pa.Array]:
        """The cells of the wanted columns."""
        data = data[mark_size(data, start) :]
        has_quotes = b'"' in data
        self._check(data, has_quotes=has_quotes)
        reader = pyarrow.csv.open_csv(
            pa.BufferReader(data),
            pyarrow.csv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=self._names),
            pyarrow.csv.ParseOptions(
                delimiter=self._delimiter, quote_char='"' if has_quotes else False, newlines_in_values=has_quotes
            ),
            pyarrow.csv.ConvertOptions(
                check_utf8=False,  # all of the block was checked
                column_types=dict.fromkeys(self._wanted, pa.string()),
                include_columns=self._wanted,
                null_values=[],
            ),
        )
        return [column.combine_chunks() for column in reader.read_all().columns]

    def _check(self, data: bytes, *, has_quotes: bool) -> None:
        if self._delimiter == "\0":  # Arrow has no such delimiter
            raise Doubt
        if not data or data.startswith(BYTE_ORDER_MARK):  # it takes one away wherever it starts
            raise Doubt
        if not data.isascii():
            check_utf8(data)
        if b"\r" in data and data.count(b"\r") != data.count(b"\r\n"):  # Arrow ends rows at each
            raise Doubt
        if has_quotes:
            array = np.frombuffer(data, np.uint8)
            if not are_plain_quotes(array, np.flatnonzero(array == ord('"')), self._delimiter):
                raise Doubt


def check_utf8(data: bytes) -> None:
    try:
        data.decode()
    except UnicodeDecodeError:
        raise Doubt from None


def _cell_reader(kind: AttributeType) -> ColumnReader:
    read = column_reader(kind, cell_parser(kind))
    return (lambda cells: read(empty_as_null(cells))) if kind.optional else read
