"""Reading a slice, whatever its format."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import cast

from anabranch.dataflow.sources.reading import csv_blocks
from anabranch.dataflow.sources.reading.chunks import Found
from anabranch.dataflow.sources.reading.compressed_slices import read_compressed
from anabranch.dataflow.sources.reading.slices import Slice, not_by_slices, slices_of_file
from anabranch.dataflow.sources.reading.text_slices import read_text_slice
from anabranch.dataflow.sources.source_count import Failed
from anabranch.graph.model import Operator
from anabranch.operators.formats.stored_files import from_full_name
from anabranch.operators.sources.located import located
from anabranch.operators.sources.read_files import ReadFiles


def expect(definition: ReadFiles, slices: Iterable[Slice], *, tasks: int = 1) -> None:
    """Before the first of these is read, which so many tasks have among them: makes ready what reading needs."""
    if definition.format == "csv":
        csv_blocks.expect(sum(map(_size, slices)) // tasks)


def _size(part: Slice) -> int:
    """In bytes of the file, of which a compressed one has fewer than its text."""
    if not part.is_uncut:
        return part.stop if part.is_compressed else part.stop - part.start
    with suppress(OSError):
        return os.stat(part.path).st_size
    return 0


def chunks_of(source: Operator, part: Slice, *, chunk_size: int) -> Iterator[Found | Failed]:
    """The tuples of a slice in order; a failure is the last of them."""
    try:
        with located(source):
            yield from read_slice(cast(ReadFiles, source.definition), part, chunk_size=chunk_size)
    except Exception as problem:
        yield Failed(problem)


def read_slice(definition: ReadFiles, part: Slice, *, chunk_size: int) -> Iterator[Found]:
    """The rows of a slice in order, in chunks of at most `chunk_size`; a `SourceError` where the row reader has one."""
    if part.problem is not None:
        raise copy.copy(part.problem)  # an error that is raised remembers where: each time anew
    if part.is_uncut:
        for each in _cut_now(definition, part):
            yield from read_slice(definition, each, chunk_size=chunk_size)
    elif definition.format == "parquet":
        from anabranch.dataflow.sources.reading.parquet_slices import read_row_groups

        yield from read_row_groups(definition.schema, part, chunk_size)
    elif part.is_compressed:
        yield from read_compressed(definition, part, chunk_size)
    else:
        yield from read_text_slice(definition, part, chunk_size)


def _cut_now(definition: ReadFiles, part: Slice) -> list[Slice]:
    slices = slices_of_file(definition, from_full_name(part.path))
    if slices is None:
        raise not_by_slices(part.name)
    return [replace(each, name=part.name) for each in slices]
