"""Reading a slice of text: block after block by Arrow, and by the row reader where Arrow would read it otherwise."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO, NamedTuple, Protocol

import pyarrow as pa

from anabranch.codegen.chunks import Chunk
from anabranch.codegen.columns import NoColumns
from anabranch.dataflow.sources.reading.chunks import Doubt, Found, chunk_of_columns, chunks_of_rows
from anabranch.dataflow.sources.reading.csv_blocks import CsvBlocks
from anabranch.dataflow.sources.reading.cuts import ByteRange, Shorter, csv_cuts, line_cuts
from anabranch.dataflow.sources.reading.jsonl_blocks import JsonlBlocks, is_flat
from anabranch.dataflow.sources.reading.line_numbers import count_lines, lines_before
from anabranch.dataflow.sources.reading.lines_blocks import LinesBlocks
from anabranch.dataflow.sources.reading.slices import Slice, readable
from anabranch.dataflow.sources.reading.text_cells import ColumnReader
from anabranch.errors import SourceError
from anabranch.graph.values import ValueProblem
from anabranch.operators.base import Unreadable
from anabranch.operators.formats import text_lines as lines
from anabranch.operators.formats.csv_format import CsvOptions, read_records
from anabranch.operators.formats.csv_records import csv_records
from anabranch.operators.formats.jsonl_format import read_json_lines
from anabranch.operators.formats.lines_format import read_plain_lines
from anabranch.operators.formats.stored_files import from_full_name, status_of
from anabranch.operators.sources.read_files import ReadFiles

# Bytes. A block that Arrow cannot take is cut into smaller ones: a bad row costs no more than its neighbourhood.
_BLOCKS = (2**21, 2**18, 2**15)


def read_text_slice(definition: ReadFiles, part: Slice, chunk_size: int) -> Iterator[Found]:
    try:
        yield from _chunks(definition, part, chunk_size)
    except Shorter:
        raise _shorter(part) from None


def _chunks(definition: ReadFiles, part: Slice, chunk_size: int) -> Iterator[Found]:
    with lines.open_for_reading(from_full_name(part.path)) as stream, readable(part.name):
        must_be_as_found(stream, part)
        yield from TextSlice(definition, part, stream, chunk_size).chunks(part.start, part.stop, part.before)


def must_be_as_found(stream: BinaryIO, part: Slice) -> None:
    """A file of another length is another file: slices would begin and end in the middle of its rows."""
    status = status_of(stream)
    if status.version != part.version:
        raise lines.changed(part.name)
    size = status.size
    if part.found is not None and size < part.found:
        raise _shorter(part)
    if part.found is not None and size > part.found:
        raise SourceError(
            f"{part.name}: it has become longer since it was found: it had {part.found:,} bytes, and has {size:,}",
            hint="move files in when they are complete; put this one back as it was: what is mended keeps its length",
        )


def _shorter(part: Slice) -> SourceError:
    return SourceError(
        f"{part.name}: it has become shorter since it was found",
        hint="put it back as it was; move files in when they are complete, and leave them as they are",
    )


class Block(NamedTuple):
    """Whole rows of a file."""

    start: int
    stop: int
    before: int | None  # lines of the file before it, where rows need to know


class Blocks(Protocol):
    """How a format reads a block with Arrow: its columns as Arrow gives them, and for each how to get at its values."""

    readers: list[ColumnReader]

    def columns(self, data: bytes, start: int, before: int | None) -> list[pa.Array]: ...


class TextSlice:
    def __init__(self, definition: ReadFiles, part: Slice, stream: BinaryIO, chunk_size: int) -> None:
        self._format = definition.format
        self._schema = definition.schema
        self._part = part
        self._stream = stream
        self._chunk_size = chunk_size
        self._delimiter = CsvOptions(**definition.options).delimiter if self._format == "csv" else ""
        self._blocks = self._blocks_of_format()

    def _blocks_of_format(self) -> Blocks | None:
        match self._format:
            case "csv":
                return CsvBlocks(self._schema, self._part.width, self._part.positions, self._delimiter)
            case "jsonl":
                return JsonlBlocks(self._schema) if is_flat(self._schema) else None
            case _:
                return LinesBlocks(self._schema)

    def chunks(self, start: int, stop: int, before: int | None, depth: int = 0) -> Iterator[Found]:
        if self._blocks is None:
            yield from self._chunks_of_rows(Block(start, stop, before))
            return
        for block in self._cut(start, stop, before, _BLOCKS[depth]):
            chunks = self._by_columns(block, self._blocks)
            if chunks is not None:
                yield from chunks
            elif depth + 1 < len(_BLOCKS):
                yield from self.chunks(block.start, block.stop, block.before, depth + 1)
            else:
                yield from self._chunks_of_rows(block)

    def chunks_of_lines(self, found: lines.LineReader, before: int) -> Iterator[Found]:
        """The same of what is read to its end by the row reader."""
        has_mark = before == 0 and self._format != "lines"
        numbered = self._read_lines(lines.text_lines(found, self._part.name, skip_mark=has_mark, before=before))
        return chunks_of_rows(self._schema, numbered, self._chunk_size)

    def _chunks_of_rows(self, block: Block) -> Iterator[Found]:
        return chunks_of_rows(self._schema, self._rows(block), self._chunk_size)

    def _cut(self, start: int, stop: int, before: int | None, size: int) -> Iterator[Block]:
        if stop - start <= 2 * size:
            yield Block(start, stop, before)
            return
        if self._format == "csv":
            ends = csv_cuts(self._stream, start, stop, size, self._delimiter)
        else:
            ends = line_cuts(self._stream, start, stop, size)
        for end in ends:
            yield Block(start, end, before)
            if before is not None:
                before += count_lines(self._stream, start, end)
            start = end

    def _by_columns(self, block: Block, blocks: Blocks) -> list[Chunk] | None:
        """The block as Arrow reads it, or None."""
        if block.stop - block.start >= lines.LONGEST_ROW:
            return None
        try:
            columns = blocks.columns(self._read(block), block.start, block.before)
            return [self._chunk(columns, blocks.readers, at) for at in range(0, len(columns[0]), self._chunk_size)]
        except (Doubt, ValueProblem, NoColumns, pa.ArrowException):
            return None

    def _chunk(self, columns: list[pa.Array], readers: list[ColumnReader], at: int) -> Chunk:
        values = [read(column.slice(at, self._chunk_size)) for read, column in zip(readers, columns, strict=True)]
        return chunk_of_columns(self._schema, values)

    def _rows(self, block: Block) -> Iterator[Any]:
        """The block as the row reader reads it. Lines are counted only where one has to be named."""
        done = 0
        before = block.before
        if before is None:
            for item in self._numbered_rows(block, 0):
                if isinstance(item, Unreadable):
                    break
                yield item
                done += 1
            else:
                return
            before = lines_before(self._stream, self._part.path, block.start)
        yield from islice(self._numbered_rows(block, before), done, None)

    def _numbered_rows(self, block: Block, before: int) -> Iterator[Any]:
        has_mark = block.start == 0 and self._format != "lines"
        name = self._part.name
        return self._read_lines(lines.text_lines(self._byte_range(block), name, skip_mark=has_mark, before=before))

    def _read_lines(self, found: Iterator[lines.Line]) -> Iterator[Any]:
        name, schema = self._part.name, self._schema
        match self._format:
            case "csv":
                records = csv_records(found, self._delimiter)
                return read_records(records, name, schema, self._part.width, self._part.positions)
            case "jsonl":
                return read_json_lines(found, name, schema)
            case _:
                return read_plain_lines(found, name, schema)

    def _byte_range(self, block: Block) -> lines.LineReader:
        if block.stop - block.start > 2 * _BLOCKS[0]:  # too large to hold
            return ByteRange(self._stream, block.start, block.stop)
        return io.BytesIO(self._read(block))

    def _read(self, block: Block) -> bytes:
        self._stream.seek(block.start)
        data = self._stream.read(block.stop - block.start)
        if len(data) < block.stop - block.start:
            raise Shorter
        return data
