"""The files that programs read, made once and kept in build/bench."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from benchmarks.spark.host import FOLDER
from examples.data.calls import write_calls

DISTINCT_A, DISTINCT_B = 10_007, 1_009
_ROWS_OF_GROUP = 1 << 17
_SCHEMA_OF_PAIRS = pa.schema([(name, pa.int64()) for name in ("a", "b", "value")])


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
        # Without dictionaries what is read is as large as what is moved.
        with pq.ParquetWriter(part, _SCHEMA_OF_PAIRS, compression="none", use_dictionary=False) as file:
            for first in range(0, count, _ROWS_OF_GROUP):
                size = min(_ROWS_OF_GROUP, count - first)
                columns = [random.integers(0, most, size) for most in (DISTINCT_A, DISTINCT_B, 1_000_000)]
                file.write_table(pa.table(columns, schema=_SCHEMA_OF_PAIRS))
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


def calls_in_files(count: int, each: int) -> list[Path]:
    """A day of phone calls as CSV files of `each` calls, numbered: by name, and by time, they are in their order."""
    folder = FOLDER / f"calls-{count}-by-{each}"
    if not folder.exists():
        calls = pyarrow.csv.read_csv(calls_file(count), convert_options=_AS_TEXT)
        calls = calls.add_column(0, "row", pa.array(np.arange(count)))
        part = folder.with_suffix(".part")
        part.mkdir(parents=True, exist_ok=True)
        for number, first in enumerate(range(0, count, each)):
            path = part / f"{number:05}.csv"
            pyarrow.csv.write_csv(calls.slice(first, each), path, _PLAIN)
            os.utime(path, (number, number))
        part.rename(folder)
    return sorted(folder.iterdir())


# So that cells are as they were.
_AS_TEXT = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(("phone", "area", "x", "y", "ts"), pa.string()))
_PLAIN = pyarrow.csv.WriteOptions(quoting_style="none")


def write_pairs(path: Path, a: np.ndarray, b: np.ndarray, value: np.ndarray) -> None:
    """A CSV file that appears whole."""
    path.parent.mkdir(exist_ok=True)
    part = path.with_suffix(".part")
    pyarrow.csv.write_csv(pa.table([a, b, value], schema=_SCHEMA_OF_PAIRS), part, _PLAIN)
    part.rename(path)
