"""Record batches of tuples: whether the columns are those of a schema, and what their datetimes are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from anabranch.graph.schema import AttributeType, Schema
from anabranch.operators.formats.arrow_types import arrow_type

# What Python's datetimes and dates can be, in Arrow's units.
_DATETIMES = (-62_135_596_800_000_000, 253_402_300_799_999_999)
_DATES = (-719_162, 2_932_896)


def holds(schema: Schema, batch: pa.RecordBatch) -> bool:
    """Whether a batch is laid out as `arrow_schema` says, and every row of it is a tuple of the schema."""
    if batch.num_columns != len(schema.attributes):
        return False
    try:
        batch.validate(full=True)  # for one, that strings are UTF-8
    except pa.ArrowInvalid:
        return False
    return _hold(schema, batch.columns, 0)


def _hold(schema: Schema, columns: Sequence[pa.Array], absent: int) -> bool:
    """`absent` of the tuples are None, and so are their attributes."""
    return all(
        (each.type.optional or column.null_count == absent) and _holds(each.type, column)
        for each, column in zip(schema.attributes, columns, strict=True)
    )


def _holds(kind: AttributeType, column: pa.Array) -> bool:
    found = column.type
    if kind.element is not None:
        if not pa.types.is_list(found):
            return False
        elements = column.flatten()
        return (kind.element.optional or not elements.null_count) and _holds(kind.element, elements)
    if kind.nested is not None:
        if not pa.types.is_struct(found) or found.num_fields != len(kind.nested.attributes):
            return False
        return _hold(kind.nested, column.flatten(), column.null_count)
    if kind.kind == "datetime":
        is_known = pa.types.is_timestamp(found) and found.unit == "us" and found.tz in (None, "UTC")
        return is_known and _is_within(column.view(pa.int64()), _DATETIMES)
    if kind.kind == "date":
        return found == pa.date32() and _is_within(column.view(pa.int32()), _DATES)
    return bool(found == arrow_type(kind))


def _is_within(numbers: pa.Array, bounds: tuple[int, int]) -> bool:
    found = pc.min_max(numbers)
    smallest, largest = found["min"].as_py(), found["max"].as_py()
    return smallest is None or bounds[0] <= smallest <= largest <= bounds[1]


def zones(schema: Schema, batch: pa.RecordBatch) -> Iterator[tuple[str, bool]]:
    """The paths (as `datetime_paths` has them) where a batch has datetimes, and whether these have a zone."""
    return _zones_of(schema, batch.columns, "")


def _zones_of(schema: Schema, columns: Sequence[pa.Array], prefix: str) -> Iterator[tuple[str, bool]]:
    for each, column in zip(schema.attributes, columns, strict=True):
        yield from _zones_in(each.type, column, f"{prefix}{each.name}")


def _zones_in(kind: AttributeType, column: pa.Array, path: str) -> Iterator[tuple[str, bool]]:
    if kind.element is not None:
        yield from _zones_in(kind.element, column.flatten(), f"{path}[]")
    elif kind.nested is not None:
        yield from _zones_of(kind.nested, column.flatten(), f"{path}.")
    elif kind.kind == "datetime" and column.null_count < len(column):
        yield path, column.type.tz is not None
