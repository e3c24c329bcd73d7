"""Frames: columns that are at hand, of Arrow, pandas or Polars, checked against the type of the tuples they hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from anabranch.errors import BuildError, in_words
from anabranch.graph.schema import Schema
from anabranch.operators.formats.arrow_types import mismatch


@dataclass(frozen=True, eq=False)
class Frame:
    """A column for each attribute, in their order.

    A column is an array of Arrow's in chunks or, where no array holds what pandas does, a list of Python's objects.
    """

    columns: tuple[Any, ...]
    files: tuple[str, ...] = ()  # where they lie already, as streams of record batches of just these columns

    def __len__(self) -> int:
        return len(self.columns[0])

    def rows(self, start: int, stop: int) -> list[Any]:
        """Some of the rows, as columns of one array each."""
        return [_part(column, start, stop) for column in self.columns]


def _part(column: Any, start: int, stop: int) -> Any:
    if isinstance(column, list):
        return column[start:stop]
    part = column.slice(start, stop - start)
    return part.chunk(0) if part.num_chunks == 1 else part.combine_chunks()


def arrow_frame(data: Any, schema: Schema) -> Frame:
    """Of a table, a record batch, or what gives a stream of them; that is read to its end."""
    return frame_of_table(as_table(data, schema), schema, "table", _ARROW_CASTS)


def polars_frame(frame: Any, schema: Schema) -> Frame:
    if type(frame).__name__ == "LazyFrame":
        raise BuildError("frame= is a LazyFrame, which has no rows yet", hint="frame.collect()")
    if not _is_of(frame, "polars", "DataFrame"):
        raise BuildError(f"frame= is a {type(frame).__name__}, and not a DataFrame of Polars", hint=source_for(frame))
    check_names(list(frame.columns), schema, "frame")
    return frame_of_table(as_table(frame.select(list(schema.names)), schema), schema, "frame", _POLARS_CASTS)


def as_table(data: Any, schema: Schema) -> pa.Table:
    if not isinstance(data, pa.Table) and not hasattr(data, "__arrow_c_stream__") and not _is_batch(data):
        raise BuildError(
            f"data= is a {type(data).__name__}, which gives no Arrow data",
            hint=f"give a table, a reader of record batches, or anything with __arrow_c_stream__; {source_for(data)}",
        )
    try:
        table = pa.table(data)
        table.validate()
    except Exception as problem:  # whoever gives a stream may raise anything while it is read
        raise BuildError(
            f"the Arrow data cannot be read: {in_words(problem)}",
            hint=f"check what makes it; a table with the columns {', '.join(schema.names)} is expected",
        ) from problem
    return table


def _is_batch(data: Any) -> bool:
    return isinstance(data, pa.RecordBatch) or hasattr(data, "__arrow_c_array__")


def check_names(
    names: Sequence[Any], schema: Schema, what: str, hint: Callable[[str], str | None] | None = None
) -> None:
    """A `BuildError` for a column that is missing or there several times."""
    for name in schema.names:
        count = list(names).count(name)
        if count > 1:
            raise BuildError(
                f"there are {count} columns '{name}' in the {what}",
                hint="give each a name of its own, or leave out the one that is not meant",
            )
        if count == 0:
            known = ", ".join(map(str, list(names)[:50])) or "none"
            raise BuildError(
                f"there is no column '{name}' in the {what}, which {schema.name} needs; its columns are {known}",
                hint=(hint and hint(name)) or f"rename the column, or the attribute of {schema.name}",
            )


def frame_of_table(table: pa.Table, schema: Schema, what: str, casts: dict[str, str]) -> Frame:
    check_names(table.column_names, schema, what)
    columns = tuple(table.column(name) for name in schema.names)
    for attribute, column in zip(schema.attributes, columns, strict=True):
        check_type(attribute.name, column.type, schema, casts)
    return Frame(columns)


def check_type(name: str, found: pa.DataType, schema: Schema, casts: dict[str, str]) -> None:
    kind = schema[name]
    difference = mismatch(kind, found, name)
    if difference is not None:
        cast = casts.get(kind.kind)
        raise BuildError(
            difference,
            hint=(f"convert it before, where that loses nothing: {cast.format(name=name)}; or " if cast else "")
            + f"change the type of {schema.name}.{name}",
        )


_ARROW_TYPES = {"int": "int64", "float": "float64", "bool": "bool_", "str": "string", "date": "date32"}
_ARROW_CASTS = {kind: f'table["{{name}}"].cast(pa.{arrow}())' for kind, arrow in _ARROW_TYPES.items()} | {
    "datetime": 'table["{name}"].cast(pa.timestamp("us"))'
}
_POLARS_TYPES = {"int": "Int64", "float": "Float64", "bool": "Boolean", "str": "String", "date": "Date"}
_POLARS_CASTS = {
    kind: f'frame.with_columns(pl.col("{{name}}").cast(pl.{polars}))'
    for kind, polars in (_POLARS_TYPES | {"datetime": 'Datetime("us")'}).items()
}


def _is_of(frame: Any, package: str, *kinds: str) -> bool:
    return type(frame).__module__.partition(".")[0] == package and type(frame).__name__ in kinds


def source_for(data: Any) -> str:
    """Which source takes this instead."""
    sources = {"pandas": "ab.from_pandas", "polars": "ab.from_polars", "pyarrow": "ab.from_arrow"}
    source = sources.get(type(data).__module__.partition(".")[0], "ab.from_items")
    return f"a {type(data).__name__} goes to {source}" if source != "ab.from_items" else f"tuples go to {source}"
