"""Schemas as Arrow schemas, and which Arrow types an attribute can be read from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pyarrow as pa

from anabranch.graph.schema import AttributeType, Schema

_SCALARS = {
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "str": pa.string(),
    "bytes": pa.binary(),
    "date": pa.date32(),
}


def arrow_schema(schema: Schema, zoned: frozenset[str] = frozenset()) -> pa.Schema:
    """The Arrow schema that holds tuples of `schema`; the datetimes at the paths in `zoned` are in UTC."""
    return pa.schema([_field(each.name, each.type, each.name, zoned) for each in schema.attributes])


def arrow_type(kind: AttributeType, path: str = "", zoned: frozenset[str] = frozenset()) -> pa.DataType:
    """The Arrow type that holds an attribute."""
    if kind.element is not None:
        return pa.list_(_field("element", kind.element, f"{path}[]", zoned))
    if kind.nested is not None:
        members = kind.nested.attributes
        return pa.struct([_field(each.name, each.type, f"{path}.{each.name}", zoned) for each in members])
    if kind.kind == "datetime":
        return pa.timestamp("us", tz="UTC" if path in zoned else None)
    return _SCALARS[kind.kind]


def _field(name: str, kind: AttributeType, path: str, zoned: frozenset[str]) -> pa.Field:
    return pa.field(name, arrow_type(kind, path, zoned), nullable=kind.optional)


# Reading ------------------------------------------------------------------------------------------


def mismatch(kind: AttributeType, found: pa.DataType, path: str) -> str | None:
    """Why a column cannot be read as an attribute, or None; `path` names it."""
    if pa.types.is_dictionary(found):
        found = found.value_type
    if pa.types.is_null(found):
        return None
    if kind.element is not None:
        return mismatch(kind.element, found.value_type, f"{path}[]") if _is_list(found) else _differ(kind, found, path)
    if kind.nested is not None:
        return _struct_mismatch(kind.nested, found, path) if pa.types.is_struct(found) else _differ(kind, found, path)
    return None if _READABLE[kind.kind](found) else _differ(kind, found, path)


def _struct_mismatch(schema: Schema, found: pa.DataType, path: str) -> str | None:
    names = [found.field(index).name for index in range(found.num_fields)]
    for each in schema.attributes:
        if names.count(each.name) != 1:
            return f"column '{path}' has no single member '{each.name}'; it has {', '.join(names)}"
        problem = mismatch(each.type, found.field(names.index(each.name)).type, f"{path}.{each.name}")
        if problem is not None:
            return problem
    return None


def _differ(kind: AttributeType, found: pa.DataType, path: str) -> str:
    return f"column '{path}' is of type {found}, which cannot be read as {kind}"


def plain_type(found: pa.DataType) -> pa.DataType:
    """The type to cast a column to so that its values become Python's without loss, or say so."""
    if pa.types.is_dictionary(found):
        return plain_type(found.value_type)
    if pa.types.is_timestamp(found):
        return pa.timestamp("us", tz="UTC" if found.tz is not None else None)
    if pa.types.is_date64(found):
        return pa.date32()
    if _is_list(found):
        return pa.list_(pa.field("element", plain_type(found.value_type)))
    if pa.types.is_struct(found):
        members = [found.field(index) for index in range(found.num_fields)]
        return pa.struct([pa.field(member.name, plain_type(member.type)) for member in members])
    return found


def _is_list(found: pa.DataType) -> bool:
    is_any = pa.types.is_list(found) or pa.types.is_large_list(found) or pa.types.is_fixed_size_list(found)
    return bool(is_any)


def _is_text(found: pa.DataType) -> bool:
    return bool(pa.types.is_string(found) or pa.types.is_large_string(found) or pa.types.is_string_view(found))


def _is_binary(found: pa.DataType) -> bool:
    is_plain = pa.types.is_binary(found) or pa.types.is_large_binary(found)
    return bool(is_plain or pa.types.is_fixed_size_binary(found) or pa.types.is_binary_view(found))


_READABLE: dict[str, Callable[[pa.DataType], bool]] = {
    "int": pa.types.is_integer,
    "float": lambda found: pa.types.is_integer(found) or pa.types.is_floating(found),
    "bool": pa.types.is_boolean,
    "str": _is_text,
    "bytes": _is_binary,
    "datetime": pa.types.is_timestamp,
    "date": pa.types.is_date,
}


# Datetimes ------------------------------------------------------------------------------------------

Datetimes = Callable[[Any], Iterator[datetime]]


def datetime_paths(schema: Schema, prefix: str = "") -> list[tuple[str, Datetimes]]:
    """Where tuples of `schema` hold datetimes, and how to get at those of one tuple."""
    return [
        (path, _at(position, datetimes))
        for position, each in enumerate(schema.attributes)
        for path, datetimes in _paths_in(each.type, f"{prefix}{each.name}")
    ]


def _paths_in(kind: AttributeType, path: str) -> list[tuple[str, Datetimes]]:
    if kind.kind == "datetime":
        return [(path, _itself)]
    if kind.element is not None:
        return [(inner, _in_each(datetimes)) for inner, datetimes in _paths_in(kind.element, f"{path}[]")]
    if kind.nested is not None:
        return datetime_paths(kind.nested, f"{path}.")
    return []


def _itself(value: Any) -> Iterator[datetime]:
    if value is not None:
        yield value


def _at(position: int, datetimes: Datetimes) -> Datetimes:
    return lambda item: iter(()) if item is None else datetimes(item[position])


def _in_each(datetimes: Datetimes) -> Datetimes:
    return lambda value: (found for element in value or () for found in datetimes(element))
