"""`collect`: tuples kept in memory, for the program that ran the stream."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from anabranch.errors import SinkError
from anabranch.graph.model import Operator, Record
from anabranch.graph.schema import Schema
from anabranch.operators.base import Emission, SinkMeaning
from anabranch.operators.formats import StreamWriter
from anabranch.operators.formats.failures import why
from anabranch.operators.formats.growing_file import lost
from anabranch.operators.formats.json_values import parse_json, tuple_from_json
from anabranch.operators.formats.jsonl_format import JSONL
from anabranch.operators.sinks.base import SinkDefinition, located

if TYPE_CHECKING:
    import pyarrow as pa

_FILE = "items.jsonl"


@dataclass(frozen=True)
class Collect(SinkDefinition):
    """Keeps every tuple; `name` is what the result calls them by."""

    record: ClassVar[Record] = Record(kind="collect")

    name: str
    ordered: bool = True

    @property
    def label(self) -> str:
        return self.name

    @property
    def target(self) -> str:
        return f"collect({self.name!r})"

    def meaning(self, operator: Operator) -> CollectMeaning:
        return CollectMeaning(operator)


class Chunk(Protocol):
    """Tuples as rows or as columns, as generated code has them (`codegen/chunks.py`)."""

    @property
    def has_rows(self) -> bool: ...
    @property
    def rows(self) -> list[Any]: ...
    @property
    def batch(self) -> pa.RecordBatch: ...
    def cut(self, start: int, stop: int) -> Chunk: ...
    def __len__(self) -> int: ...


class CollectMeaning(SinkMeaning):
    """For a stream the tuples are also kept in a file, from which they are there again after a restart."""

    def __init__(self, operator: Operator) -> None:
        super().__init__(operator)
        self._rows: list[Any] = []
        self._chunks: list[Chunk] = []  # behind those
        self._kept = 0  # how many of them are in the file
        self._file: StreamWriter | None = None
        self._path = Path()
        self._bytes = 0  # of the file, that the checksum is of
        self._mark = hashlib.blake2b(digest_size=16)

    @property
    def items(self) -> list[Any]:
        """All tuples; always the same list."""
        for chunk in self._chunks:
            self._rows += chunk.rows
        self._chunks.clear()
        return self._rows

    @property
    def chunks(self) -> list[Chunk] | None:
        """The same as columns, where nobody asked for tuples and all came so."""
        return None if self._rows else self._chunks

    def first(self, count: int) -> tuple[list[Any], int]:
        """The first of the tuples, and how many there are."""
        rows = self._rows[:count]
        for chunk in self._chunks:
            rows += chunk.cut(0, min(count - len(rows), len(chunk))).rows
        return rows, len(self._rows) + sum(map(len, self._chunks))

    def process(self, port: int, item: Any) -> Iterable[Emission]:
        self.items.append(item)
        return ()

    def write_chunk(self, chunk: Chunk) -> int:
        """Tuples that nobody else has, or can change; how many they were. Those of a stream are looked at at once."""
        if self.operator.inputs[0].schema.has_lists:
            return 0
        if chunk.has_rows or self._file is not None:
            self.items.extend(chunk.rows)
        else:
            self._chunks.append(chunk)
        return len(chunk)

    def check_written(self, position: Any, folder: Path) -> None:
        with located(self.operator):
            _read(folder / _FILE, self.operator.inputs[0].schema, position)

    def resume(self, position: Any | None, folder: Path) -> None:
        schema = self.operator.inputs[0].schema
        self._path = folder / _FILE
        with located(self.operator):
            items: list[Any] = []
            self._mark = hashlib.blake2b(digest_size=16)
            if position is not None:
                items, self._mark = _read(self._path, schema, position)
            self._file = JSONL.stream_writer(schema)
            self._file.resume(self._path, position)
            self.items[:] = items  # the list itself stays: engines may have got hold of it before
            self._kept, self._bytes = len(items), 0 if position is None else position["bytes"]

    def sync(self) -> Any:
        """The position has a checksum of the file: what is read back from it has to be what was collected."""
        assert self._file is not None, "resume before sync"
        with located(self.operator):
            while self._kept < len(self.items):
                self._file.write(self.items[self._kept])
                self._kept += 1
            size = self._file.sync()["bytes"]
            self._mark.update(_bytes(self._path, self._bytes, size))
            self._bytes = size
            return {"bytes": size, "items": self._kept, "mark": self._mark.hexdigest()}

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def discard(self) -> None:
        self.close()


def _read(path: Path, schema: Schema, position: Any) -> tuple[list[Any], hashlib.blake2b]:
    """What was collected up to a position, and the checksum of it. JSON lines give back every value as it was."""
    content = _bytes(path, 0, position["bytes"])
    mark = hashlib.blake2b(content, digest_size=16)
    if mark.hexdigest() != position["mark"]:
        raise lost(path, f"kept {position['items']:,} tuples in it, and they are not what it wrote")
    from_json = tuple_from_json(schema)
    return [from_json(parse_json(line.decode())) for line in content.splitlines()], mark


def _bytes(path: Path, start: int, stop: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(start)
            return file.read(stop - start)
    except FileNotFoundError:
        return b""
    except OSError as problem:
        raise SinkError(f"{path}: {why(problem)}") from None
