"""Large rows for the driver, past Spark: tasks put them into files where driver and workers see the same folder.

Spark would hold what it fetches several times over, and what `toLocalIterator` has fetched as long as the session lives
(4.3: `DAGScheduler.activeQueryToJobs` is cleaned when a query ends, and these jobs begin after that).
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from anabranch.engines.spark.chunk_rows import Kind, Row

_LEAST = 1 << 14  # bytes: smaller rows are no burden


def spooled(rows: Iterable[Row], folder: str, tail: int) -> Iterator[Row]:
    """The rows of a task; large ones for the tail are written to a file of the task's own, and say where they are."""
    if not folder or not os.path.isdir(folder):
        yield from rows
        return
    path = Path(folder) / f"{secrets.token_hex(8)}.rows"
    file: BinaryIO | None = None
    try:
        for row in rows:
            if row.place != tail or row.kind != Kind.CHUNK or memoryview(row.payload).nbytes < _LEAST:
                yield row
                continue
            file = file or path.open("wb")
            start, size = file.tell(), file.write(row.payload)
            file.flush()
            yield replace(row, kind=Kind.SPOOLED, payload=json.dumps([path.name, start, size]).encode())
    finally:
        if file is not None:
            file.close()


def payload_of(row: Row, folder: str) -> Any:
    """What a row carries, wherever that is."""
    if row.kind != Kind.SPOOLED:
        return bytes(row.payload)
    name, start, size = json.loads(bytes(row.payload))
    with (Path(folder) / name).open("rb") as file:
        file.seek(start)
        return pa.py_buffer(file.read(size))
