"""Arrow's columns as those of tuples, where they hold nothing else; otherwise they are read row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from anabranch.codegen.chunks import Chunk
from anabranch.dataflow.sources.reading.chunks import Doubt, Found, chunk_of_columns, chunks_of_rows
from anabranch.dataflow.sources.reading.text_cells import ColumnReader, in_range
from anabranch.graph.schema import AttributeType, Schema
from anabranch.operators.formats.arrow_rows import decoded, row_reader
from anabranch.operators.formats.arrow_types import arrow_type, plain_type


class ColumnsReader:
    """Reads columns, of a file of that name if it is one. They are arrays, or lists of Python's objects."""

    def __init__(self, schema: Schema, name: str = "") -> None:
        self._schema = schema
        self._readers = [_reader(attribute.type) for attribute in schema.attributes]
        self._read_rows = row_reader(schema, name)

    def chunks(self, columns: Sequence[Any], first: int) -> Iterator[Found]:
        """All rows, the first of which has this number."""
        chunk = self._converted(columns)
        if chunk is not None:
            yield chunk
        else:
            yield from chunks_of_rows(self._schema, self._read_rows(columns, first), len(columns[0]))

    def _converted(self, columns: Sequence[Any]) -> Chunk | None:
        if any(isinstance(column, list) for column in columns):
            return None
        try:
            arrays = [read(column) for read, column in zip(self._readers, columns, strict=True)]
        except (Doubt, pa.ArrowException):
            return None
        return chunk_of_columns(self._schema, arrays)


def _reader(kind: AttributeType) -> ColumnReader:
    """A function from a column of a file to one of tuples; `Doubt` or an Arrow error where rows must be looked at."""
    convert = _CONVERTERS.get(kind.kind)
    if convert is None:
        return _doubt

    def read(column: pa.Array) -> pa.Array:
        if pa.types.is_dictionary(column.type):
            column = decoded(column)
        if column.null_count and not kind.optional:
            raise Doubt
        if column.null_count == len(column):
            return pa.nulls(len(column), arrow_type(kind))
        return convert(column)

    return read


def _doubt(column: pa.Array) -> pa.Array:
    raise Doubt


def _cast_to(target: pa.DataType) -> ColumnReader:
    return lambda column: column.cast(target)


def _floats(column: pa.Array) -> pa.Array:
    return column.cast(pa.float64(), safe=False)  # ints beyond 53 bits are rounded as Python does


def _texts(column: pa.Array) -> pa.Array:
    column = column.cast(pa.string())
    column.validate(full=True)  # of UTF-8 the file only claims it
    return column


def _moments(column: pa.Array) -> pa.Array:
    return in_range(column.cast(plain_type(column.type)))


_CONVERTERS: dict[str, Callable[[pa.Array], pa.Array]] = {
    "int": _cast_to(pa.int64()),
    "float": _floats,
    "bool": _cast_to(pa.bool_()),
    "str": _texts,
    "bytes": _cast_to(pa.binary()),
    "date": _moments,
    "datetime": _moments,
}
