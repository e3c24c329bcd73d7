"""Large rows, past what moves the others: tasks put them into files where driver and workers see the same folder.

Spark copies what it moves several times: from a worker into Java, from there into a file, and all the way back. What
`toLocalIterator` fetches it would even hold as long as the session lives (4.3: `DAGScheduler.activeQueryToJobs` is
cleaned when a query ends, and these jobs begin after that).
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import replace
from io import FileIO
from pathlib import Path

import pyarrow as pa

from anabranch.dataflow.transport.rows import Kind, Row

_LEAST = 1 << 14  # bytes: smaller rows are no burden


def spool(rows: Iterable[Row], folder: str, only_for: int | None = None) -> Iterator[Row]:
    """The rows of a task; large ones are written to a file of the task's own, and say where they are.

    `only_for` is the place that alone is certain to see the folder, if not all are.
    """
    if not folder or not os.path.isdir(folder):
        yield from rows
        return
    path = Path(folder) / f"{secrets.token_hex(8)}.rows"
    file: FileIO | None = None
    try:
        for row in map(Row.packed, rows):
            is_seen = only_for is None or (row.place == only_for and row.kind != Kind.STATE)
            is_large = row.kind in (Kind.CHUNK, Kind.STATE) and memoryview(row.payload).nbytes >= _LEAST
            if not is_seen or not is_large:
                yield row
                continue
            size = memoryview(row.payload).nbytes
            try:
                file = file or path.open("wb", buffering=0)
                start = file.tell()
                is_full = file.write(row.payload) < size
            except OSError:
                is_full = True
            if is_full:  # there may be room elsewhere
                yield row
            else:
                yield replace(row, kind=Kind.SPOOLED, payload=json.dumps([path.name, start, size, row.kind]).encode())
    finally:
        if file is not None:
            file.close()


def file_of(row: Row) -> str:
    """The name of the file that a row is in."""
    name: str = json.loads(bytes(row.payload))[0]
    return name


def fetch(row: Row, folder: str) -> Row:
    """A row with what it carries, wherever that is."""
    if row.kind != Kind.SPOOLED:
        return row
    name, start, size, kind = json.loads(bytes(row.payload))
    with (Path(folder) / name).open("rb") as file:
        file.seek(start)
        return replace(row, kind=kind, payload=pa.py_buffer(file.read(size)))
