"""The files that programs read, made once and kept in build/bench."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.spark.host import FOLDER
from examples.data.calls import write_calls

DISTINCT_A, DISTINCT_B = 10_007, 1_009
_ROWS_OF_GROUP = 1 << 17


def calls_file(count: int) -> str:
    """A day of phone calls as CSV."""
    path = FOLDER / f"calls-{count}.csv"
    if not path.exists():
        write_calls(path, count)
    return str(path)


def pairs_file(count: int) -> str:
    """Tuples with two keys that have nothing to do with each other, as Parquet without compression."""
    path = FOLDER / f"pairs-{count}.parquet"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        random = np.random.default_rng(7)
        schema = pa.schema([(name, pa.int64()) for name in ("a", "b", "value")])
        # Without dictionaries what is read is as large as what is moved.
        with pq.ParquetWriter(part, schema, compression="none", use_dictionary=False) as file:
            for first in range(0, count, _ROWS_OF_GROUP):
                size = min(_ROWS_OF_GROUP, count - first)
                columns = [random.integers(0, most, size) for most in (DISTINCT_A, DISTINCT_B, 1_000_000)]
                file.write_table(pa.table(columns, schema=schema))
        os.replace(part, path)
    return str(path)


def pairs_repeated(count: int, times: int) -> str:
    """The same file several times, under names that one pattern finds."""
    original = Path(pairs_file(count))
    folder = FOLDER / f"pairs-{count}-{times}-times"
    folder.mkdir(exist_ok=True)
    for number in range(times):
        link = folder / f"{number:03}.parquet"
        if not link.exists():
            os.link(original, link)
    return str(folder / "*.parquet")
