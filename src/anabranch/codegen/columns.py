"""From rows to Arrow columns and back, exactly: every value comes back as it was, of the same type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from anabranch.graph.nans import with_one_nan
from anabranch.graph.schema import AttributeType, Schema
from anabranch.operators.formats.arrow_types import arrow_schema, datetime_paths


class NoColumns(Exception):
    """These rows have no columns: an Arrow column of datetimes has a zone or has none, and the rows hold both kinds."""


def batch_of(schema: Schema, rows: Sequence[Any]) -> pa.RecordBatch:
    """Rows as columns; datetimes in UTC are columns with that zone."""
    target = arrow_schema(schema, _zoned(schema, rows))
    columns = _transposed(rows, len(target))
    arrays = [
        _array(attribute.type, column, field.type)
        for attribute, column, field in zip(schema.attributes, columns, target, strict=True)
    ]
    return pa.record_batch(arrays, target)


def rows_of(schema: Schema, batch: pa.RecordBatch) -> list[Any]:
    return _tuples(schema, columns_of(schema, batch))


def columns_of(schema: Schema, batch: pa.RecordBatch) -> list[list[Any]]:
    """The values of each attribute."""
    return [_values(attribute.type, batch.column(at)) for at, attribute in enumerate(schema.attributes)]


def _zoned(schema: Schema, rows: Sequence[Any]) -> frozenset[str]:
    """The paths whose datetimes have a zone."""
    zoned = []
    for path, datetimes in datetime_paths(schema):
        kinds = {value.tzinfo is not None for row in rows for value in datetimes(row)}
        if len(kinds) == 2:
            raise NoColumns(f"'{path}' holds datetimes with a zone and without")
        if True in kinds:
            zoned.append(path)
    return frozenset(zoned)


def _transposed(rows: Sequence[Any], width: int) -> list[Sequence[Any]]:
    return list(zip(*rows, strict=True)) if rows else [()] * width


def _tuples(schema: Schema, columns: list[list[Any]]) -> list[Any]:
    make = schema.type._make  # type: ignore[attr-defined]  # a NamedTuple
    return list(map(make, zip(*columns, strict=True)))


# Values to arrays ---------------------------------------------------------------------------------------------------


def _array(kind: AttributeType, values: Sequence[Any], target: pa.DataType) -> pa.Array:
    if kind.element is not None:
        return _list_array(kind.element, values, target)
    if kind.nested is not None:
        return _struct_array(kind.nested, values, target)
    return pa.array(values, target)


def _list_array(element: AttributeType, values: Sequence[Any], target: pa.DataType) -> pa.Array:
    offsets = [0]
    inner: list[Any] = []
    for value in values:
        inner += value or ()
        offsets.append(len(inner))
    elements = _array(element, inner, target.value_type)
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), elements, type=target, mask=_mask(values))


def _struct_array(nested: Schema, values: Sequence[Any], target: pa.DataType) -> pa.Array:
    absent = (None,) * len(nested.attributes)
    columns = _transposed([absent if value is None else value for value in values], len(nested.attributes))
    fields = [target.field(at) for at in range(target.num_fields)]
    arrays = [
        _array(attribute.type, column, field.type)
        for attribute, column, field in zip(nested.attributes, columns, fields, strict=True)
    ]
    return pa.StructArray.from_arrays(arrays, fields=fields, mask=_mask(values))


def _mask(values: Sequence[Any]) -> pa.Array | None:
    """Which values are None, where any is."""
    return pa.array([value is None for value in values], pa.bool_()) if None in map(_none_or_0, values) else None


def _none_or_0(value: Any) -> int | None:
    """So that no `==` of a value is called."""
    return None if value is None else 0


# Arrays to values ---------------------------------------------------------------------------------------------------


def _values(kind: AttributeType, column: pa.Array) -> list[Any]:
    if kind.element is not None:
        values = _list_values(kind.element, column)
    elif kind.nested is not None:
        members = [_values(each.type, column.field(at)) for at, each in enumerate(kind.nested.attributes)]
        values = _tuples(kind.nested, members)
    else:
        return _SCALARS.get(kind.kind, _as_list)(column)
    if column.null_count:
        return [value if valid else None for value, valid in zip(values, column.is_valid().to_pylist(), strict=True)]
    return values


def _list_values(element: AttributeType, column: pa.Array) -> list[Any]:
    offsets = column.offsets.to_pylist()
    start, stop = offsets[0], offsets[-1]
    inner = _values(element, column.values.slice(start, stop - start))
    return [inner[a - start : b - start] for a, b in pairwise(offsets)]


def _numbers(column: pa.Array) -> list[Any]:
    if column.null_count:
        return column.to_pylist()  # type: ignore[no-any-return]  # pyarrow has no types
    return column.to_numpy(zero_copy_only=False).tolist()  # type: ignore[no-any-return]  # several times faster


def _floats(column: pa.Array) -> list[Any]:
    found = column.to_numpy(zero_copy_only=False)  # with NaN for None
    return with_one_nan(_numbers(column)) if np.isnan(found).any() else found.tolist()


def _datetimes(column: pa.Array) -> list[Any]:
    if column.type.tz is None:
        return column.to_pylist()  # type: ignore[no-any-return]
    return [value and value.replace(tzinfo=UTC) for value in column.to_pylist()]


def _as_list(column: pa.Array) -> list[Any]:
    return column.to_pylist()  # type: ignore[no-any-return]


_SCALARS: dict[str, Callable[[pa.Array], list[Any]]] = {
    "int": _numbers,
    "float": _floats,
    "bool": _numbers,
    "datetime": _datetimes,
}
