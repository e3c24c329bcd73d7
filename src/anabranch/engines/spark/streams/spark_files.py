"""Spark's own files in a checkpoint: how far they say that it has come, and whether they are what Spark has written.

Spark writes through Hadoop, which puts the checksums of a file, one for every 512 bytes, beside it: `.0.crc` for `0`.
Whoever reads them here learns of damage before anything is begun, in the name of the file that has it.
"""

from __future__ import annotations

import json
import os
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from anabranch.dataflow.streams.sealed_files import DamagedCheckpoint

_CRC = re.compile(r"\.(.+)\.crc")
_STATE = re.compile(r"(\d+)(?:_.+)?\.(?:changelog|zip)")  # of a version: batch n makes version n + 1
_HEAD = struct.Struct(">4si")  # before the checksums: four letters, and for how many bytes each is
_AT_ONCE = 1 << 22  # bytes


@dataclass(frozen=True)
class SparkLogs:
    """The batches that Spark has planned, with the entries of the log of arrivals up to which each takes them, and the
    last one that it has noted as done."""

    planned: dict[int, int]
    done: int


def read_logs(spark: Path) -> SparkLogs:
    planned = {number: _entries(spark / "offsets" / str(number)) for number in _numbers(spark / "offsets")}
    return SparkLogs(planned, max(_numbers(spark / "commits"), default=-1))


def _numbers(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.iterdir() if path.name.isdecimal()] if folder.is_dir() else []


def _entries(path: Path) -> int:
    try:
        return int(json.loads(path.read_bytes().splitlines()[-1])["entries"])
    except (ValueError, KeyError, IndexError, TypeError):
        raise DamagedCheckpoint(path, "it does not say how far a batch of Spark's goes") from None


def check_files(spark: Path, done: int) -> None:
    """Refuse files that are not what Spark has written, as far as it has noted their batch as done.

    State of a batch behind that is written again. Where Spark was killed meanwhile, a file may be of the one attempt,
    and its checksums of the other; nobody reads them.
    """
    for path, sums in _with_checksums(spark):
        state = _STATE.fullmatch(path.name)
        if state is not None and int(state[1]) > done + 1:
            continue
        try:
            is_whole = _is_as_written(path, sums)
        except FileNotFoundError:  # removed meanwhile, by a server of Spark's that tidies up
            continue
        if not is_whole:
            raise DamagedCheckpoint(path, f"this file of Spark's does not match its checksums, in {sums.name}")


def _with_checksums(folder: Path) -> Iterator[tuple[Path, Path]]:
    for place, _, names in os.walk(folder):
        for name in sorted(names):
            of = _CRC.fullmatch(name)
            # What Spark was writing when it was killed has another name until it is whole, and is written again.
            if of is not None and of[1] in names and not of[1].endswith(".tmp"):
                yield Path(place, of[1]), Path(place, name)


def _is_as_written(path: Path, sums: Path) -> bool:
    found = sums.read_bytes()
    if len(found) < _HEAD.size or len(found) % 4:
        return False
    letters, each = _HEAD.unpack_from(found)
    if letters != b"crc\0" or not 0 < each <= _AT_ONCE:
        return False
    expected = iter(struct.unpack(f">{len(found) // 4 - 2}I", found[_HEAD.size :]))
    with path.open("rb") as file:
        while data := memoryview(file.read(_AT_ONCE // each * each)):
            if any(zlib.crc32(data[at : at + each]) != next(expected, None) for at in range(0, len(data), each)):
                return False
    return next(expected, None) is None
