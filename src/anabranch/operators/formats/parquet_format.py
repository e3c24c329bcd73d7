"""Parquet: columns matched to attributes by name, read batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from anabranch.errors import SourceError
from anabranch.graph.schema import AttributeType, Schema
from anabranch.graph.values import TOO_FINE, ValueProblem, value_normalizer
from anabranch.operators.base import Unreadable
from anabranch.operators.formats.arrow_types import mismatch, plain_type
from anabranch.operators.formats.base import Format, Item
from anabranch.operators.formats.parquet_parts import ParquetParts
from anabranch.operators.formats.parquet_writer import ParquetFileWriter
from anabranch.operators.formats.text_lines import open_for_reading
from anabranch.operators.formats.text_values import shown
from anabranch.operators.formats.writer import StreamWriter, Writer

_BATCH = 4096  # rows
_BUFFER = 2**20  # bytes read ahead per column, instead of a whole row group


class ParquetFormat(Format):
    """No options. A column of the wrong type is an error of the file; a null out of place, of its row."""

    name = "parquet"

    def probe(self, path: Path, schema: Schema, **options: Any) -> None:
        with open_parquet(path) as file:
            check_columns(file, path, schema)

    def read(self, path: Path, schema: Schema, **options: Any) -> Iterator[Item]:
        with open_parquet(path) as file:
            check_columns(file, path, schema)
            read_batch = batch_reader(schema, str(path))
            first = 1
            for batch in group_batches(file, str(path), schema, range(file.num_row_groups)):
                yield from read_batch(batch, first)
                first += batch.num_rows

    def writer(self, schema: Schema, **options: Any) -> Writer:
        return ParquetFileWriter(schema)

    def stream_writer(self, schema: Schema, **options: Any) -> StreamWriter:
        return ParquetParts(schema)


PARQUET = ParquetFormat()


def open_parquet(path: Path) -> Any:
    """The file, or a `SourceError` that says why it is none."""
    open_for_reading(path).close()  # says in plain words why a file cannot be opened at all
    try:
        return pq.ParquetFile(str(path), buffer_size=_BUFFER, pre_buffer=False, page_checksum_verification=True)
    except Exception as problem:  # Arrow has no one class for what a damaged file makes it raise
        why = "" if "magic bytes" in str(problem) else f", or a damaged one: {_first_line(problem)}"
        raise SourceError(f"{path}: not a Parquet file{why}") from None


def check_columns(file: Any, path: Path, schema: Schema) -> None:
    """A `SourceError` where the file lacks a column, or has it of another type."""
    try:
        found: pa.Schema = file.schema_arrow
        names = list(found.names)
    except Exception as problem:  # as above
        raise SourceError(f"{path}: the columns cannot be read: {_first_line(problem)}") from None
    for attribute in schema.attributes:
        count = names.count(attribute.name)
        if count > 1:
            raise SourceError(f"{path}: there are several columns '{attribute.name}'")
        if count == 0:
            raise SourceError(f"{path}: there is no column '{attribute.name}'; the file has {', '.join(names[:50])}")
        difference = mismatch(attribute.type, found.field(attribute.name).type, attribute.name)
        if difference is not None:
            raise SourceError(f"{path}: {difference}", hint=f"change the type of {schema.name}.{attribute.name}")


def group_batches(file: Any, name: str, schema: Schema, groups: range, before: int = 0) -> Iterator[Any]:
    """The batches of some row groups; `before` rows of the file go before them. No batch spans two groups, so that a
    damaged one takes no row of another along."""
    rows = before
    columns = list(schema.names)
    try:
        for group in groups:
            for batch in file.iter_batches(_BATCH, row_groups=[group], columns=columns, use_threads=False):
                batch.validate()
                yield batch
                rows += batch.num_rows
    except GeneratorExit:
        raise
    except Exception as problem:  # as above
        raise SourceError(
            f"{name}: damaged; nothing after row {rows} can be read: {_first_line(problem)}",
            where=f"{name}:row {rows + 1}",
        ) from None


def batch_reader(schema: Schema, name: str) -> Callable[[Any, int], Iterator[Item]]:
    """A function from a batch and the number of its first row to its rows."""
    make = schema.type._make  # type: ignore[attr-defined]  # every schema's type is a NamedTuple
    converters = [(attribute.name, _from_arrow(attribute.type)) for attribute in schema.attributes]

    def read_batch(batch: Any, first: int) -> Iterator[Item]:
        columns = [_python_values(batch.column(batch.schema.get_field_index(each))) for each in schema.names]
        for number, row in enumerate(zip(*columns, strict=True), first):
            column = ""
            try:
                values = []
                for (column, convert), value in zip(converters, row, strict=True):  # noqa: B007  # for the message
                    values.append(convert(value))
                item = make(values)
            except ValueProblem as problem:
                message = f"row {number}: column '{column}': {problem}"
                item = Unreadable(
                    message, where=f"{name}:row {number}", raw=repr(dict(zip(schema.names, row, strict=True)))
                )
            yield item

    return read_batch


class _Unconvertible:
    """A value of a column that Python cannot hold."""

    def __init__(self, single: Any, problem: Exception) -> None:
        self.message = self._shown = _first_line(problem)
        if "[ns]" in self.message or "[ns, " in self.message:  # of all that is read, only nanoseconds can be too fine
            self._shown = str(single.cast(pa.string())[0]) if pa.types.is_timestamp(single.type) else str(single.type)
            self.message = f"{self._shown} {TOO_FINE}"

    def __repr__(self) -> str:
        return f"<{self._shown}>"


def _python_values(column: Any) -> list[Any]:
    plain = plain_type(column.type)
    try:
        return _cast(column, plain)
    except Exception:  # one value is enough for that; find out which
        # Not slices: of a list, Arrow would cast the elements of all rows.
        return [_python_value(column.take(pa.array([row])), plain) for row in range(len(column))]


def _python_value(single: Any, plain: pa.DataType) -> Any:
    try:
        return _cast(single, plain)[0]
    except Exception as problem:  # Arrow and Python's datetime raise many kinds
        return _Unconvertible(single, problem)


def _cast(column: Any, plain: pa.DataType) -> list[Any]:
    values: list[Any] = (column if column.type == plain else column.cast(plain)).to_pylist()
    return values


def _from_arrow(kind: AttributeType) -> Callable[[Any], Any]:
    convert = _present(kind)

    def checked(value: Any) -> Any:
        if value is None:
            if kind.optional:
                return None
            raise ValueProblem(f"null, where {kind} is expected")
        if isinstance(value, _Unconvertible):
            raise ValueProblem(value.message)
        return convert(value)

    return checked


def _present(kind: AttributeType) -> Callable[[Any], Any]:
    if kind.element is not None:
        each = _from_arrow(kind.element)
        return lambda value: [each(element) for element in value]
    if kind.nested is not None:
        make = kind.nested.type._make  # type: ignore[attr-defined]  # every schema's type is a NamedTuple
        members = [(member.name, _from_arrow(member.type)) for member in kind.nested.attributes]
        return lambda value: make([convert(value[name]) for name, convert in members])
    return value_normalizer(kind.without_none())


def _first_line(problem: Exception) -> str:
    text = str(problem).strip() or type(problem).__name__
    return shown(text.splitlines()[0])[1:-1] if len(text) < 80 else text.splitlines()[0][:200]
