"""What the generators of sample data share: numbers that only a seed decides, and files that appear whole."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

import numpy as np
import pyarrow as pa
import pyarrow.csv

BLOCK = 250_000  # rows made at a time: memory does not grow with the size of the file


def blocks(count: int) -> Iterator[tuple[int, int]]:
    """The (first, size) of each block of rows."""
    for first in range(0, count, BLOCK):
        yield first, min(BLOCK, count - first)


def uniform(seed: int, purpose: int, block: int, size: int) -> np.ndarray:
    """Numbers from [0, 1) that depend on the arguments only."""
    return np.random.default_rng([seed, purpose, block]).random(size)


def trait(ids: np.ndarray, seed: int, purpose: int) -> np.ndarray:
    """A number from [0, 1) for each id, the same whenever that id is asked for (the mixer of splitmix64)."""
    state = (seed * 1_000_003 + purpose) % 2**64
    bits = ids.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(state)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (bits >> np.uint64(11)).astype(np.float64) / 2**53


def skewed(fractions: np.ndarray, size: int) -> np.ndarray:
    """Indices below `size`, of which the first are by far the most frequent."""
    return (fractions**2 * size).astype(np.int64)


def zipf(fraction: float, size: int) -> int:
    """An index below `size`: index 1 is half as frequent as index 0, index 2 a third as frequent, and so on."""
    return min(int((size + 1) ** fraction) - 1, size - 1)


class CsvFile:
    """A CSV file that is written beside its place; `commit` moves it there."""

    def __init__(self, path: Path, columns: dict[str, pa.DataType]) -> None:
        self._path = path
        self._part = path.with_name(f".{path.name}.{os.getpid()}.part")
        self._schema = pa.schema(list(columns.items()))
        path.parent.mkdir(parents=True, exist_ok=True)
        self._stream = self._part.open("wb")
        self._stream.write((",".join(columns) + "\n").encode())
        options = pyarrow.csv.WriteOptions(include_header=False, quoting_style="none")
        self._writer = pyarrow.csv.CSVWriter(self._stream, self._schema, write_options=options)

    def write(self, columns: Mapping[str, np.ndarray | pa.Array]) -> None:
        self._writer.write_batch(pa.record_batch([columns[name] for name in self._schema.names], self._schema))

    def close(self) -> None:
        self._writer.close()
        self._stream.close()

    def commit(self) -> None:
        os.replace(self._part, self._path)

    def discard(self) -> None:
        with suppress(OSError):
            self._stream.close()
        self._part.unlink(missing_ok=True)


@contextmanager
def csv_files(paths: Sequence[Path], columns: dict[str, pa.DataType]) -> Iterator[list[CsvFile]]:
    """Files to write to, which appear at their places when all are complete, and not at all after an error."""
    files: list[CsvFile] = []
    try:
        for path in paths:
            files.append(CsvFile(path, columns))
        yield files
        for file in files:
            file.close()
        for file in files:
            file.commit()
    finally:
        for file in files:
            file.discard()


@contextmanager
def text_file(path: Path) -> Iterator[TextIO]:
    """A text file to write to, which appears at its place when it is complete, and not at all after an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def check_size(count: int, folder: Path, bytes_per_row: int) -> None:
    """Raise a `ValueError` for a number of rows that makes no sense or that the disk cannot hold."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"the count must be a whole number of 1 or more, not {count!r}")
    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    free = shutil.disk_usage(existing).free
    if count * bytes_per_row > free:
        needed, left = count * bytes_per_row // 10**6 + 1, free // 10**6
        raise ValueError(f"{count:,} rows need about {needed:,} MB, and {existing} has {left:,} MB left")


def command(module: str, summary: str, out: str, write: Callable[[Path, int, int], None]) -> None:
    """The command line of a generator: `--count`, `--out`, `--seed`."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=summary)
    parser.add_argument("--count", type=int, default=1_000_000, help="how many rows (default: 1000000)")
    parser.add_argument("--out", type=Path, default=Path(out), help=f"where to write (default: {out})")
    parser.add_argument("--seed", type=int, default=7, help="another seed gives other data (default: 7)")
    given = parser.parse_args()
    try:
        write(given.out, given.count, given.seed)
    except (ValueError, OSError) as problem:
        sys.exit(f"{parser.prog}: {problem}")
