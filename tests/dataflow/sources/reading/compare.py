"""A source read in slices against the same source read by rows."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from anabranch.codegen.columns import batch_of
from anabranch.dataflow.sources.reading import Slice, csv_blocks, cuts, read_slice, slices_of, text_slices
from anabranch.errors import SourceError
from anabranch.graph.schema import schema_of
from anabranch.operators.base import Unreadable
from anabranch.operators.formats import csv_records, file_format, text_lines
from anabranch.operators.formats.addresses import FilePath
from anabranch.operators.sources.read_files import ReadFiles
from tests.codegen.exactness import exact


def source(format_name: str, row_type: type, pattern: str | FilePath, **options: Any) -> ReadFiles:
    return ReadFiles(format_name, schema_of(row_type), pattern, options)


@contextmanager
def written(*contents: bytes) -> Iterator[str]:
    """Files of these contents; the pattern that names them in this order."""
    with tempfile.TemporaryDirectory() as folder:
        for number, content in enumerate(contents):
            (Path(folder) / f"{number:03}.data").write_bytes(content)
        yield f"{folder}/*.data"


@contextmanager
def small_limits(block: int = 64, longest_row: int = 10_000) -> Iterator[None]:
    """Blocks, windows and the longest row that is read, so small that files of a few rows meet them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_slices, "_BLOCKS", (block, max(block // 4, 1)))
        patch.setattr(cuts, "_WINDOW", block)
        patch.setattr(cuts, "_MARGINS", (block // 8 + 1, block))
        patch.setattr(text_lines, "LONGEST_ROW", longest_row)
        patch.setattr(csv_records, "LONGEST_ROW", longest_row)
        yield


def assert_same(definition: ReadFiles, *, size: int, chunk_size: int) -> None:
    """Everything is the same: values and their types, bad rows with their lines, the order, and an error at the end."""
    expected = by_rows(definition)
    for is_native in (False, True) if definition.format == "csv" else (False,):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(csv_blocks, "_is_prepared", is_native)
            assert in_slices(definition, size, chunk_size) == expected


def by_rows(definition: ReadFiles) -> list[Any]:
    found: list[Any] = []
    try:
        for path in definition.files():
            for item in file_format(definition.format).read(path, definition.schema, **definition.options):
                found.append(item if isinstance(item, Unreadable) else exact(item))
    except SourceError as problem:
        found.append((problem.message, problem.where, problem.raw, problem.hint))
    return found


def in_slices(definition: ReadFiles, size: int, chunk_size: int) -> list[Any]:
    found: list[Any] = []
    slices = slices_of(definition, size=size)
    assert slices is not None
    try:
        for each in slices:
            for piece in pieces(definition, pickle.loads(pickle.dumps(each)), chunk_size):
                found += [piece] if isinstance(piece, Unreadable) else [exact(row) for row in piece]
    except SourceError as problem:
        found.append((problem.message, problem.where, problem.raw, problem.hint))
    return found


def pieces(definition: ReadFiles, part: Slice, chunk_size: int) -> Iterator[Any]:
    """Lists of rows, none of them too long; batches have the layout that `batch_of` gives to their rows."""
    for found in read_slice(definition, part, chunk_size=chunk_size):
        if isinstance(found, Unreadable):
            yield found
            continue
        assert 0 < len(found) <= chunk_size
        if found.has_batch:
            found.batch.validate(full=True)
            assert found.batch.schema == batch_of(definition.schema, found.rows).schema
        yield found.rows
