"""Parquet files sliced at their row groups, and their columns as those of tuples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from anabranch.dataflow.sources.reading.arrow_columns import ColumnsReader
from anabranch.dataflow.sources.reading.chunks import Found
from anabranch.dataflow.sources.reading.slices import Slice
from anabranch.errors import SourceError
from anabranch.graph.schema import Schema
from anabranch.operators.formats.addresses import Address
from anabranch.operators.formats.parquet_format import check_columns, columns_in, group_batches, open_parquet
from anabranch.operators.formats.stored_files import from_full_name, version_at

_LARGEST = 2**28  # bytes of a row group: what is read in one go is held in one go, and Arrow's texts end at 2 GB


def row_group_slices(whole: Slice, schema: Schema, size: int) -> list[Slice]:
    """Slices of whole row groups of about `size` bytes together, and of some rows of a group that is too large."""
    path = from_full_name(whole.path)
    path = path if isinstance(path, Address) else Path(whole.name)
    version = version_at(path)
    with open_parquet(path, version) as file:
        check_columns(file, path, schema)
        whole = replace(whole, version=version)
        groups = [file.metadata.row_group(at) for at in range(file.num_row_groups)]
    slices = []
    start = before = taken = rows = 0
    for at, group in enumerate(groups, 1):
        is_too_large = group.total_byte_size > _LARGEST
        if is_too_large and start < at - 1:
            slices.append(replace(whole, start=start, stop=at - 1, before=before))
            start, before = at - 1, rows
        taken += group.total_byte_size
        rows += group.num_rows
        if is_too_large:
            slices += _parts(replace(whole, start=start, stop=at, before=before), group)
        elif taken >= size or at == len(groups):
            slices.append(replace(whole, start=start, stop=at, before=before))
        else:
            continue
        start, before, taken = at, rows, 0
    return slices


def _parts(whole: Slice, group: Any) -> list[Slice]:
    """A row group cut by its rows. Each part reads over those before it, so they are few."""
    count = min(-(-group.total_byte_size // _LARGEST), max(group.num_rows, 1))
    ends = [group.num_rows * number // count for number in range(count + 1)]
    return [
        replace(whole, before=(whole.before or 0) + start, skipped=start, rows=stop - start)
        for start, stop in pairwise(ends)
    ]


def read_row_groups(schema: Schema, part: Slice, chunk_size: int) -> Iterator[Found]:
    reader = ColumnsReader(schema, part.name)
    number = (part.before or 0) + 1
    with open_parquet(from_full_name(part.path), part.version) as file:
        _must_be_as_cut(file, part)
        before = number - 1 - part.skipped
        batches = group_batches(file, part.name, schema, range(part.start, part.stop), before)
        for batch in batches if part.rows is None else _some(batches, part.skipped, part.rows):
            for at in range(0, batch.num_rows, chunk_size):
                some = batch.slice(at, chunk_size)
                yield from reader.chunks(columns_in(some, schema), number)
                number += some.num_rows


def _some(batches: Iterator[pa.RecordBatch], skipped: int, rows: int) -> Iterator[pa.RecordBatch]:
    """The rows of a row group behind those that are skipped."""
    for batch in batches:
        found = batch.slice(min(skipped, batch.num_rows), rows)
        skipped -= min(skipped, batch.num_rows)
        rows -= found.num_rows
        if found.num_rows:
            yield found
        if not rows:
            return


def _must_be_as_cut(file: Any, part: Slice) -> None:
    """Of a file that was written anew, other rows may stand in a row group of the same number."""
    if part.stop <= file.num_row_groups:
        before = sum(file.metadata.row_group(at).num_rows for at in range(part.start)) + part.skipped
        has_rows = part.rows is None or file.metadata.row_group(part.start).num_rows >= part.skipped + part.rows
        if part.before in (None, before) and has_rows:
            return
    raise SourceError(
        f"{part.name}: it has other row groups than when it was found",
        hint="put it back as it was; move files in when they are complete, and leave them as they are",
    )
