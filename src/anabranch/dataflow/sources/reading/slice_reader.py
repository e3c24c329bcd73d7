"""Reading a slice, whatever its format."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from anabranch.dataflow.sources.reading.pieces import Piece
from anabranch.dataflow.sources.reading.slices import Slice, not_by_slices, slices_of_file
from anabranch.dataflow.sources.reading.text_slices import read_text_slice
from anabranch.operators.sources.read_files import ReadFiles


def read_slice(definition: ReadFiles, part: Slice, *, chunk_size: int) -> Iterator[Piece]:
    """The rows of a slice in order, in pieces of at most `chunk_size`; a `SourceError` where the row reader has one."""
    if part.problem is not None:
        raise copy.copy(part.problem)  # an error that is raised remembers where: each time anew
    if part.is_uncut:
        for each in _cut_now(definition, part):
            yield from read_slice(definition, each, chunk_size=chunk_size)
    elif definition.format == "parquet":
        from anabranch.dataflow.sources.reading.parquet_slices import read_row_groups

        yield from read_row_groups(definition.schema, part, chunk_size)
    else:
        yield from read_text_slice(definition, part, chunk_size)


def _cut_now(definition: ReadFiles, part: Slice) -> list[Slice]:
    slices = slices_of_file(definition, Path(part.path))
    if slices is None:
        raise not_by_slices(part.name)
    return [replace(each, name=part.name) for each in slices]
