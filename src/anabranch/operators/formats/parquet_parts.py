"""Writes the rows of a stream to a folder of Parquet files, one for each stretch between two syncs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.errors import SinkError
from anabranch.graph.schema import Schema
from anabranch.operators.formats.atomic_file import writing_to
from anabranch.operators.formats.durability import leaving_no_folder, make_folder
from anabranch.operators.formats.growing_file import lost, not_of_this_stream
from anabranch.operators.formats.hidden_places import is_leftover
from anabranch.operators.formats.parquet_writer import ParquetFileWriter
from anabranch.operators.formats.writer import StreamWriter

if TYPE_CHECKING:
    import pyarrow as pa

_PART = re.compile(r"part-([0-9]{8}|[1-9][0-9]{8,})\.parquet", re.ASCII)


class ParquetParts(StreamWriter):
    """A position is how many parts there are, and which columns have datetimes with a zone, as far as that is known.

    Parts are numbered, so that their names, sorted, are the order. A part is complete or not there; one is begun when
    there is a row for it.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._path = Path()
        self._parts = 0
        self._zones: dict[str, bool] = {}
        self._part: ParquetFileWriter | None = None
        self._lost: SinkError | None = None  # what cost rows that were taken

    def check_new(self, path: Path) -> None:
        with writing_to(path):
            if any(not name.startswith(".") for name in _names(path)):
                raise not_of_this_stream(path)
            folder = Path(os.path.realpath(path))
            with leaving_no_folder(folder):
                make_folder(folder)

    def check_written(self, path: Path, position: Any) -> None:
        with writing_to(path):
            _check_parts(path, _numbers(_names(path)), position["parts"])

    def resume(self, path: Path, position: Any | None) -> None:
        self.close()
        position = position or {"parts": 0}
        self._path, self._parts, self._zones = path, position["parts"], dict(position.get("zones", {}))
        self._lost = None
        with writing_to(path):
            names = _names(path)
            found = _numbers(names)
            _check_parts(path, found, self._parts)
            make_folder(Path(os.path.realpath(path)))
            torn = [_part(number) for number in sorted(found) if number >= self._parts]
            for name in [*torn, *filter(is_leftover, names)]:
                (path / name).unlink()

    def write(self, item: Any) -> None:
        self._begun().write(item)

    def write_batch(self, batch: pa.RecordBatch) -> int:
        try:
            part = self._begun()
        except SinkError:
            return 0  # `write` says it again, with its row
        return part.write_batch(batch)

    def sync(self) -> dict[str, Any]:
        part = self._part
        if part is not None and part.broken is not None:
            self._lost = part.broken
        if self._lost is not None:
            raise self._lost
        if part is not None and part.is_empty:
            self.close()
        elif part is not None:
            self._complete(part)
        return {"parts": self._parts, "zones": dict(self._zones)} if self._zones else {"parts": self._parts}

    def close(self) -> None:
        part, self._part = self._part, None
        if part is not None:
            part.discard()

    def _complete(self, part: ParquetFileWriter) -> None:
        with self._remembering():
            part.close()
        self._zones = part.zones
        self._parts, self._part = self._parts + 1, None

    def _begun(self) -> ParquetFileWriter:
        if self._part is None:
            part = ParquetFileWriter(self._schema, self._zones, is_durable=True)
            with self._remembering():
                part.open(self._path / _part(self._parts), self._path)
            self._part = part
        return self._part

    @contextmanager
    def _remembering(self) -> Iterator[None]:
        try:
            yield
        except SinkError as problem:
            self._lost = problem
            raise


def _part(number: int) -> str:
    return f"part-{number:08d}.parquet"


def _numbers(names: list[str]) -> list[int]:
    return [int(match[1]) for name in names if (match := _PART.fullmatch(name))]


def _check_parts(path: Path, found: list[int], parts: int) -> None:
    for number in sorted({*range(parts)} - {*found}):
        raise lost(path, f"wrote {parts:,} parts to it, and {_part(number)} is gone")


def _names(path: Path) -> list[str]:
    """What is in a folder, which need not be there."""
    try:
        return sorted(os.listdir(path))
    except FileNotFoundError:
        return []
    except NotADirectoryError:
        if not path.exists():  # it is a folder above that is none
            raise
        raise SinkError(
            f"{path}: is not a folder, and a stream writes a folder of Parquet files",
            hint="move it away, or choose another path for the output",
        ) from None
