"""DataFrames of Spark as columns: put in order by Spark, and left where its workers are, if these are on this machine.

Each task of the sort writes its part of the rows to a file, which whoever reads the source maps to memory: no row
passes through the process of the program. Of a cluster elsewhere, that process gets them all.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from anabranch.errors import BuildError, SourceError, in_words
from anabranch.graph.schema import Schema
from anabranch.operators.sinks.in_spark import is_on_this_machine
from anabranch.operators.sources.frames import Frame, check_names, check_type, source_for

_CASTS = {
    "int": 'df.withColumn("{name}", df["{name}"].cast("bigint"))',
    "float": 'df.withColumn("{name}", df["{name}"].cast("double"))',
    "bool": 'df.withColumn("{name}", df["{name}"].cast("boolean"))',
    "str": 'df.withColumn("{name}", df["{name}"].cast("string"))',
    "datetime": 'df.withColumn("{name}", df["{name}"].cast("timestamp"))',
    "date": 'df.withColumn("{name}", df["{name}"].cast("date"))',
}


class SparkFrame:
    """The rows as they are when they are first asked for."""

    def __init__(self, frame: Any, schema: Schema, order_by: tuple[str, ...], *, allows_ties: bool) -> None:
        _check(frame, schema, order_by)
        self._data = frame
        self._names = list(schema.names)
        self._order_by = list(order_by)
        self._allows_ties = allows_ties
        self._found: Frame | None = None

    def __len__(self) -> int:
        return len(self.read())

    def rows(self, start: int, stop: int) -> list[Any]:
        return self.read().rows(start, stop)

    def read(self) -> Frame:
        if self._found is None:
            self._found = self._in_files() if is_on_this_machine(self._data.sparkSession) else self._in_driver()
        return self._found

    def _in_order(self) -> Any:
        wanted = dict.fromkeys((*self._names, *self._order_by))
        return self._data.select([f"`{name}`" for name in wanted]).orderBy([f"`{name}`" for name in self._order_by])

    def _in_driver(self) -> Frame:
        table = _asked(self._in_order().toArrow)
        keys = [table.column(name).combine_chunks() for name in self._order_by]
        if not self._allows_ties:
            self._refuse(_tie(keys))
        return Frame(tuple(table.column(name) for name in self._names))

    def _in_files(self) -> Frame:
        folder = tempfile.mkdtemp(prefix="anabranch-frame-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        write = _writer(folder, self._names, self._order_by)
        written = self._in_order().mapInArrow(write, "partition int, path string, rows bigint, tie string")
        parts = sorted(_asked(written.collect), key=lambda part: part.partition)
        if not self._allows_ties:
            self._refuse(next((part.tie for part in parts if part.tie is not None), None))
        paths = [part.path for part in parts if part.rows] or [part.path for part in parts[:1]]
        if not paths:
            return self._in_driver()
        return frame_in_files(paths)

    def _refuse(self, tie: str | None) -> None:
        if tie is not None:
            by = ", ".join(self._order_by)
            raise SourceError(
                f"several rows of the DataFrame are equal by order_by={by!r} ({tie}), so their order is not defined",
                hint='name more columns in order_by=[…], which tell them apart; or ties="any", if it does not matter',
            )


def frame_in_files(paths: Sequence[str]) -> Frame:
    """What streams of record batches hold, one behind the other."""
    table = pa.concat_tables(pa.ipc.open_stream(pa.memory_map(path)).read_all() for path in paths)
    return Frame(tuple(table.columns), tuple(paths))


def _check(frame: Any, schema: Schema, order_by: tuple[str, ...]) -> None:
    if type(frame).__module__.partition(".")[0] != "pyspark" or not hasattr(frame, "mapInArrow"):
        raise BuildError(f"frame= is a {type(frame).__name__}, and not a DataFrame of Spark", hint=source_for(frame))
    if frame.isStreaming:
        raise BuildError("frame= is a streaming DataFrame, which has no end", hint="ab.start reads files that arrive")
    from pyspark.sql.pandas.types import to_arrow_type

    check_names(frame.columns, schema, "DataFrame")
    for name in order_by:
        if frame.columns.count(name) != 1:
            raise BuildError(
                f"order_by= names '{name}', which is no column of the DataFrame, or several",
                hint=f"its columns are {', '.join(frame.columns[:50])}",
            )
    for attribute in schema.attributes:
        field = frame.schema[attribute.name]
        try:
            found = to_arrow_type(field.dataType, timezone="UTC")
        except Exception as problem:  # Arrow has no such type
            raise BuildError(
                f"column '{field.name}' is of type {field.dataType.simpleString()}, which cannot be read as "
                f"{attribute.type}: {in_words(problem)}",
                hint=f"convert it before, or change the type of {schema.name}.{field.name}",
            ) from None
        check_type(attribute.name, found, schema, _CASTS)


def _asked(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except Exception as problem:  # whatever the DataFrame does, and what Spark does with it
        first = (str(problem).strip().splitlines() or [type(problem).__name__])[0]
        raise SourceError(f"the DataFrame cannot be read: {first}") from problem


# In tasks -----------------------------------------------------------------------------------------------------------


def _writer(folder: str, names: list[str], order_by: list[str]) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        path = Path(folder) / f"{context.partitionId()}-{secrets.token_hex(8)}.arrow"
        rows, found, last, writer = 0, None, None, None
        for batch in batches:
            if writer is None:
                writer = pa.ipc.new_stream(str(path), batch.select(names).schema)
            keys = [batch.column(name) for name in order_by]
            if found is None:
                both = keys if last is None else [pa.concat_arrays(each) for each in zip(last, keys, strict=True)]
                found = _tie(both)
            last = [key.slice(len(key) - 1) for key in keys] if batch.num_rows else last
            writer.write_batch(batch.select(names))
            rows += batch.num_rows
        if writer is not None:
            writer.close()
            yield pa.RecordBatch.from_pydict(
                {
                    "partition": pa.array([context.partitionId()], pa.int32()),
                    "path": [str(path)],
                    "rows": pa.array([rows], pa.int64()),
                    "tie": pa.array([found], pa.string()),
                }
            )

    return write


def _tie(keys: Sequence[pa.Array]) -> str | None:
    """The first values that two rows next to each other share, where rows are in the order of the keys."""
    if len(keys[0]) < 2:
        return None
    same = None
    for key in keys:
        one, other = key.slice(1), key.slice(0, len(key) - 1)
        equal = pc.fill_null(pc.equal(one, other), pc.and_(one.is_null(), other.is_null()))
        if pa.types.is_floating(key.type):
            nan = pc.and_(pc.is_nan(one), pc.is_nan(other))
            equal = pc.or_(equal, pc.fill_null(nan, False))
        same = equal if same is None else pc.and_(same, equal)
    at = pc.index(same, True).as_py()
    return None if at < 0 else ", ".join(repr(key[at].as_py()) for key in keys)
