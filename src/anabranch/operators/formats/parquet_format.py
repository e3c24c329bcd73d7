"""Parquet: columns matched to attributes by name, read batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from anabranch.errors import SourceError
from anabranch.graph.schema import Schema
from anabranch.operators.formats.addresses import Address, FilePath
from anabranch.operators.formats.arrow_rows import first_line, row_reader
from anabranch.operators.formats.arrow_types import mismatch
from anabranch.operators.formats.base import Format, Item
from anabranch.operators.formats.compressed import how_to_decompress
from anabranch.operators.formats.parquet_parts import ParquetParts
from anabranch.operators.formats.parquet_writer import ParquetFileWriter
from anabranch.operators.formats.text_lines import changed, open_for_reading
from anabranch.operators.formats.writer import StreamWriter, Writer

_BATCH = 4096  # rows
_BUFFER = 2**20  # bytes read ahead per column, instead of a whole row group


class ParquetFormat(Format):
    """No options. A column of the wrong type is an error of the file; a null out of place, of its row."""

    name = "parquet"

    def probe(self, path: FilePath, schema: Schema, **options: Any) -> None:
        with open_parquet(path) as file:
            check_columns(file, path, schema)

    def read(self, path: FilePath, schema: Schema, **options: Any) -> Iterator[Item]:
        with open_parquet(path) as file:
            check_columns(file, path, schema)
            read_rows = row_reader(schema, str(path))
            first = 1
            for batch in group_batches(file, str(path), schema, range(file.num_row_groups)):
                yield from read_rows(columns_in(batch, schema), first)
                first += batch.num_rows

    def writer(self, schema: Schema, **options: Any) -> Writer:
        return ParquetFileWriter(schema)

    def stream_writer(self, schema: Schema, **options: Any) -> StreamWriter:
        return ParquetParts(schema)


PARQUET = ParquetFormat()


def open_parquet(path: FilePath, version: str | None = None) -> Any:
    """The file, or a `SourceError` that says why it is none. At an address it may be another one by now."""
    open_for_reading(path).close()  # says in plain words why a file cannot be opened at all
    command = how_to_decompress(path)
    if command is not None:
        raise SourceError(
            f"{path}: is compressed as a whole, and a Parquet file compresses its columns itself",
            hint=f"decompress it first: {command}",
        )
    try:
        return pq.ParquetFile(
            _source(path, version), buffer_size=_BUFFER, pre_buffer=False, page_checksum_verification=True
        )
    except SourceError:
        raise
    except Exception as problem:  # Arrow has no one class for what a damaged file makes it raise
        why = "" if "magic bytes" in str(problem) else f", or a damaged one: {first_line(problem)}"
        raise SourceError(f"{path}: not a Parquet file{why}") from None


def _source(path: FilePath, version: str | None) -> Any:
    if not isinstance(path, Address):
        return str(path)
    from anabranch.operators.formats.remote_files import RemoteFile

    file = RemoteFile(path)
    if version not in (None, file.version):
        raise changed(str(path))
    return pa.PythonFile(file, "r")


def check_columns(file: Any, path: FilePath, schema: Schema) -> None:
    """A `SourceError` where the file lacks a column, or has it of another type."""
    try:
        found: pa.Schema = file.schema_arrow
        names = list(found.names)
    except Exception as problem:  # as above
        raise SourceError(f"{path}: the columns cannot be read: {first_line(problem)}") from None
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
            f"{name}: damaged; nothing after row {rows} can be read: {first_line(problem)}",
            where=f"{name}:row {rows + 1}",
        ) from None


def columns_in(batch: Any, schema: Schema) -> list[Any]:
    """Those of the attributes, in their order: a file may have them in another one."""
    return [batch.column(batch.schema.get_field_index(name)) for name in schema.names]
