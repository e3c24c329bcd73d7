"""Writes tuples to a Parquet file, a row group at a time; what is kept of it is always a readable file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from anabranch.errors import SinkError
from anabranch.graph.schema import AttributeType, Schema
from anabranch.operators.formats.addresses import FilePath
from anabranch.operators.formats.arrow_batches import holds, zones
from anabranch.operators.formats.arrow_types import arrow_schema, datetime_paths
from anabranch.operators.formats.atomic_file import unwritable
from anabranch.operators.formats.output_file import OutputFile, output_file
from anabranch.operators.formats.writer import Writer

_ROW_GROUP = 2**16  # rows
_HEAVIEST = 64 * 2**20  # characters and bytes in a row group's strings


class ParquetFileWriter(Writer):
    """Datetimes are stored as microseconds, in UTC or without a zone: the first in a column decides.

    That is why the file is begun only when the first row group is full. All work on the file is done by one
    thread of its own: interrupts are raised in the main thread only, and half done work on a Parquet file
    cannot be taken up again.
    """

    def __init__(
        self, schema: Schema, zones: Mapping[str, bool] = MappingProxyType({}), *, is_durable: bool = False
    ) -> None:
        """`zones` were decided by rows before the file's. What is durable outlives a crash of the machine."""
        self._schema = schema
        self._is_durable = is_durable
        self.is_empty = True
        self.broken: SinkError | None = None  # why a row group is there in part
        self._plain = [_to_arrow(attribute.type) for attribute in schema.attributes]
        self._datetimes = datetime_paths(schema)
        self._zoned = dict(zones)
        self._assumed: set[str] = set()  # the paths among them where the file had to begin without a datetime
        self._rows: list[Any] = []
        self._before: list[list[Any] | pa.RecordBatch] = []  # what comes before these rows in their row group
        self._count = 0
        self._weight = 0
        self._thread: ThreadPoolExecutor | None = None
        self._file: OutputFile | None = None
        self._writer: Any = None
        self._is_complete = False
        self._failure: SinkError | None = None  # met by a row of a batch, and not yet said

    def open(self, path: FilePath, name: FilePath | None = None) -> None:
        self._file = output_file(path, name)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="parquet")
        try:
            if not self._datetimes:
                self._in_thread(self._begin)
        except BaseException:
            self.discard()
            raise

    def write(self, item: Any) -> None:
        assert self._file is not None, "open before write"
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        if self._datetimes:
            self._check_zones(item)
        self.is_empty = False
        self._rows.append(item)
        self._count += 1
        self._weight += sum(map(_weight, item))
        self._flush_if_full()

    def write_batch(self, batch: pa.RecordBatch) -> int:
        """Row groups are the same as from rows, unless long strings fill them."""
        if self._failure is not None or not holds(self._schema, batch) or not self._fits_zones(batch):
            return 0
        taken, rows = 0, int(batch.num_rows)
        while taken < rows:
            size = min(rows - taken, max(1, _ROW_GROUP - self._count))
            part = batch.slice(taken, size)
            self.is_empty = False
            self._before += [self._rows, part] if self._rows else [part]
            self._rows = []
            self._count += size
            self._weight += part.nbytes
            taken += size
            try:
                self._flush_if_full()
            except SinkError as problem:
                self._failure = problem
                return taken - 1
        return taken

    def _flush_if_full(self) -> None:
        if self._count >= _ROW_GROUP or self._weight >= _HEAVIEST:
            self._in_thread(self._flush)

    def finish(self) -> None:
        self._in_thread(self._finish)

    def stage(self) -> None:
        if self._file is not None:
            self._file.stage()

    def commit(self) -> None:
        file = self._file
        if file is not None:
            self._in_thread(partial(file.commit, durable=self._is_durable))
            if not self._is_durable:  # else it is a part of a stream's
                file.forget_partial()
            self._file = None
        self._end_thread()

    def keep(self) -> FilePath | None:
        with suppress(SinkError):  # what stopped the run is said already
            self.complete()
        file = self._file
        if file is None or self.is_empty:
            self.discard()
            return None
        self._file = None
        self._end_thread()
        return file.keep()

    def discard(self) -> None:
        self._in_thread(self._discard)
        self._end_thread()

    def _in_thread(self, work: Callable[[], None]) -> None:
        """Do some work on the file to its end, also where an interrupt ends the waiting for it."""
        if self._thread is not None:
            self._thread.submit(work).result()

    def _end_thread(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.shutdown()

    def _check_zones(self, item: Any) -> None:
        found: dict[str, bool] = {}
        for path, datetimes in self._datetimes:
            for value in datetimes(item):
                zoned = value.tzinfo is not None
                if self._zoned.get(path, found.get(path, zoned)) != zoned:
                    raise SinkError(
                        f"{self._name}: column '{path}' cannot hold datetimes with a zone and without; "
                        f"{value} has {'one' if zoned else 'none'}, unlike those before it",
                        hint="give all of them a zone, or none",
                    )
                found[path] = zoned
        self._decide(found)

    def _fits_zones(self, batch: pa.RecordBatch) -> bool:
        """Whether the datetimes of a batch have zones where those before them have; if so, that is remembered."""
        found = dict(zones(self._schema, batch)) if self._datetimes else {}
        if any(self._zoned.get(path, zoned) != zoned for path, zoned in found.items()):
            return False
        self._decide(found)
        return True

    def _decide(self, found: dict[str, bool]) -> None:
        self._zoned |= found
        self._assumed.difference_update(found)

    @property
    def zones(self) -> dict[str, bool]:
        """What the datetimes so far decided: whether those at a path have a zone."""
        return {path: has_zone for path, has_zone in self._zoned.items() if path not in self._assumed}

    @property
    def _name(self) -> FilePath:
        assert self._file is not None
        return self._file.name

    def _begin(self) -> None:
        """Fix the file's types and open it."""
        if self._writer is not None:
            return
        assert self._file is not None
        for path, _ in self._datetimes:
            if path not in self._zoned:
                self._assumed.add(path)
                self._zoned[path] = False
        zoned = frozenset(path for path, has_zone in self._zoned.items() if has_zone)
        self._types = arrow_schema(self._schema, zoned)
        with _Failures(self._name):
            self._writer = pq.ParquetWriter(str(self._file.place), self._types, write_page_checksum=True)

    def _flush(self) -> None:
        if not self._count:
            return
        self._begin()
        try:
            with _Failures(self._name):
                parts = [*self._before, self._rows]
                table = pa.Table.from_batches([self._as_batch(part) for part in parts], self._types)
                self._writer.write_table(table, row_group_size=_ROW_GROUP)
        except SinkError as problem:
            self.broken = problem
            raise
        self._rows, self._before, self._count, self._weight = [], [], 0, 0

    def _as_batch(self, part: list[Any] | pa.RecordBatch) -> pa.RecordBatch:
        if isinstance(part, list):
            columns = [
                pa.array([convert(row[at]) for row in part], type=self._types.field(at).type)
                for at, convert in enumerate(self._plain)
            ]
        else:
            columns = part.columns  # where there are no datetimes in them they get the file's zones
        return pa.RecordBatch.from_arrays(columns, schema=self._types)

    def _finish(self) -> None:
        if self._file is None or self._is_complete:
            return
        failure, self._failure = self._failure, None
        try:
            if self.broken is not None:
                raise self.broken
            self._flush()
            self._begin()
            with _Failures(self._name):
                self._writer.close()
        except SinkError as problem:
            self._discard()  # without its end it is no Parquet file
            raise failure or problem from None
        self._is_complete = True
        if failure is not None:
            raise failure

    def _discard(self) -> None:
        if self._file is None:
            return
        file, self._file = self._file, None
        self._rows, self._before = [], []
        if self._writer is not None:
            with suppress(Exception):  # a disk that was full still is
                self._writer.close()
            self._writer.is_open = False  # or it tries again when it is deleted, and complains on stderr
        file.discard()


class _Failures:
    """What Arrow raises while it writes becomes a `SinkError` that names the file."""

    def __init__(self, path: FilePath) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> None:
        if isinstance(problem, OSError):
            raise unwritable(self._path, problem) from None
        if isinstance(problem, pa.ArrowException):
            raise SinkError(f"{self._path}: {problem}") from None


def _to_arrow(kind: AttributeType) -> Callable[[Any], Any]:
    """A function from a value to what Arrow builds arrays from: nested tuples become dictionaries."""
    if kind.element is not None:
        each = _to_arrow(kind.element)
        return lambda value: None if value is None else [each(element) for element in value]
    if kind.nested is not None:
        members = [(member.name, _to_arrow(member.type)) for member in kind.nested.attributes]
        return lambda value: (
            None
            if value is None
            else {name: convert(part) for (name, convert), part in zip(members, value, strict=True)}
        )
    return lambda value: value


def _weight(value: Any) -> int:
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, list | tuple):
        return 8 * len(value) + sum(map(_weight, value))
    return 0
