"""Slices of a source: stretches of its files that tasks read by themselves, in the order of its rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import BinaryIO

from anabranch.dataflow.sources.reading.cuts import csv_cuts, line_cuts
from anabranch.dataflow.sources.reading.line_numbers import count_lines
from anabranch.errors import SourceError
from anabranch.operators.formats.addresses import FilePath
from anabranch.operators.formats.compressed import Decompressed
from anabranch.operators.formats.csv_format import CsvOptions, find_columns
from anabranch.operators.formats.csv_records import csv_records
from anabranch.operators.formats.failures import why
from anabranch.operators.formats.stored_files import full_name, status_of
from anabranch.operators.formats.text_lines import open_for_reading, text_lines
from anabranch.operators.sources.read_files import ReadFiles

SLICE_SIZE = 4 * 2**20  # bytes


@dataclass(frozen=True)
class Slice:
    """A stretch of one file, of whole rows; its content is fixed when it is cut, also where the file grows later."""

    path: str  # absolute: a task may run in another folder
    name: str  # the file as the program names it, for messages
    start: int = 0  # a byte of a text, a row group of a Parquet file
    stop: int = 0
    before: int | None = None  # lines of a text, or rows of a Parquet file, that go before it, where rows need them
    width: int = 0  # of a CSV file: how many columns it has,
    positions: tuple[int, ...] = ()  # and at which of them each attribute stands
    problem: SourceError | None = None  # the file cannot be read: what to raise when it is reached
    found: int | None = None  # of a text in a stream: how long it was, and has to be still when it is read
    version: str | None = None  # of a file at an address: which one it was
    skipped: int = 0  # of a row group that is too large for one slice: rows of it that go before,
    rows: int | None = None  # and how many are in this one
    is_compressed: bool = (
        False  # all of a file that begins so; `start` is a byte of the text in it, `stop` the file's end
    )
    is_uncut: bool = False  # the whole file, which could not be cut: it is, when it is read


def slices_of(definition: ReadFiles, *, size: int = SLICE_SIZE) -> list[Slice] | None:
    """The source in slices of about `size` bytes, in the order of its rows; None where it has to be read by rows.

    So it is where a file can be read only once (a pipe) or its size is not known, where the partitions of the source
    are drawn in turn (`slices_of_file` cuts each of them), and where a delimiter is more than one byte.
    """
    files = definition.files()
    if definition.is_live or (definition.partition_by and len(files) > 1):
        return None
    found: list[Slice] = []
    for path in files:
        slices = slices_of_file(definition, path, size=size)
        if slices is None:
            return None
        found += slices
    return found


def slices_of_file(definition: ReadFiles, path: FilePath, *, size: int = SLICE_SIZE) -> list[Slice] | None:
    """The slices of one file of a source."""
    whole = Slice(full_name(path), str(path))
    try:
        if definition.format == "parquet":
            from anabranch.dataflow.sources.reading.parquet_slices import row_group_slices

            return row_group_slices(whole, definition.schema, size)
        with open_for_reading(path) as stream, readable(whole.name):
            return _text_slices(stream, whole, definition, size)
    except SourceError as problem:
        return [replace(whole, problem=problem)]


def not_by_slices(name: str) -> SourceError:
    return SourceError(
        f"{name}: cannot be read as a part of a stream: it is a pipe, or its delimiter is no ASCII character",
        hint="move whole files into the folder",
    )


@contextmanager
def readable(name: str) -> Iterator[None]:
    """What the operating system refuses to read is an error of the source."""
    try:
        yield
    except OSError as problem:
        raise SourceError(f"{name}: {why(problem)}", hint=getattr(problem, "hint", None)) from None


def _text_slices(stream: BinaryIO, whole: Slice, definition: ReadFiles, size: int) -> list[Slice] | None:
    status = status_of(stream)
    is_compressed = isinstance(getattr(stream, "raw", None), Decompressed)
    if not status.is_regular or (status.size == 0 and stream.read(1)):  # some of /proc say 0
        return None
    whole = replace(whole, stop=status.size, is_compressed=is_compressed, version=status.version)
    if definition.format == "csv":
        options = CsvOptions(**definition.options)
        if not options.delimiter.isascii():
            return None
        whole = _after_header(stream, whole, definition, options)
        if is_compressed:
            return [whole]
        return list(_cut(whole, csv_cuts(stream, whole.start, whole.stop, size, options.delimiter)))
    if is_compressed:
        return [whole]
    slices = _cut(whole, line_cuts(stream, whole.start, whole.stop, size))
    if definition.format == "lines" and len(definition.schema.attributes) > 1:
        slices = _numbered(stream, slices)
    return list(slices)


def _after_header(stream: BinaryIO, whole: Slice, definition: ReadFiles, options: CsvOptions) -> Slice:
    width = len(definition.schema.attributes)
    if not options.header:
        return replace(whole, width=width, positions=tuple(range(width)))
    records = csv_records(text_lines(stream, whole.name), options.delimiter)
    width, positions = find_columns(records, whole.name, definition.schema)
    start = stream.tell() if whole.is_compressed else min(stream.tell(), whole.stop)
    return replace(whole, start=start, width=width, positions=tuple(positions))


def _cut(whole: Slice, ends: Iterator[int]) -> Iterator[Slice]:
    start = whole.start
    for end in ends:
        yield replace(whole, start=start, stop=end)
        start = end


def _numbered(stream: BinaryIO, slices: Iterator[Slice]) -> Iterator[Slice]:
    before = 0
    for each in slices:
        yield replace(each, before=before)
        before += count_lines(stream, each.start, each.stop)
