"""Rows of Arrow's columns as tuples, one by one: exact, or what is wrong with a row at its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from anabranch.graph.schema import AttributeType, Schema
from anabranch.graph.values import TOO_FINE, ValueProblem, value_normalizer
from anabranch.operators.base import Unreadable
from anabranch.operators.formats.arrow_types import plain_type
from anabranch.operators.formats.base import Item
from anabranch.operators.formats.objects import object_reader
from anabranch.operators.formats.text_values import shown

RowReader = Callable[[Sequence[Any], int], Iterator[Item]]


def row_reader(schema: Schema, name: str = "") -> RowReader:
    """A function from columns and the number of their first row to the rows; `name` is that of a file, if it is one.

    A column is an array of Arrow's, or a list of Python's objects where no array holds them all.
    """
    make = schema.type._make  # type: ignore[attr-defined]  # every schema's type is a NamedTuple
    arrow = [_from_arrow(attribute.type) for attribute in schema.attributes]
    objects = [object_reader(attribute.type) for attribute in schema.attributes]

    def read_rows(columns: Sequence[Any], first: int) -> Iterator[Item]:
        lists = [column if isinstance(column, list) else _python_values(column) for column in columns]
        converters = [
            (attribute, of_objects if isinstance(column, list) else of_array)
            for attribute, column, of_array, of_objects in zip(schema.names, columns, arrow, objects, strict=True)
        ]
        for number, row in enumerate(zip(*lists, strict=True), first):
            column = ""
            try:
                values = []
                for (column, convert), value in zip(converters, row, strict=True):  # noqa: B007  # for the message
                    values.append(convert(value))
                item = make(values)
            except ValueProblem as problem:
                raw = repr(dict(zip(schema.names, row, strict=True)))
                item = _unreadable(name, number, f"column '{column}': {problem}", raw)
            yield item

    return read_rows


def _unreadable(name: str, number: int, message: str, raw: str) -> Unreadable:
    if not name:
        return Unreadable(message, where=f"row {number}", raw=raw)
    return Unreadable(f"row {number}: {message}", where=f"{name}:row {number}", raw=raw)


def decoded(column: Any) -> Any:
    """The values of a dictionary, one for each row: null may be one of them. Out of views Arrow takes none."""
    values = column.dictionary
    if pa.types.is_string_view(values.type):
        values = values.cast(pa.large_string())
    elif pa.types.is_binary_view(values.type):
        values = values.cast(pa.large_binary())
    return values.take(column.indices)


class _Unconvertible:
    """A value of a column that Python cannot hold."""

    def __init__(self, single: Any, problem: Exception) -> None:
        self.message = self._shown = first_line(problem)
        if "[ns]" in self.message or "[ns, " in self.message:  # of all that is read, only nanoseconds can be too fine
            self._shown = str(single.cast(pa.string())[0]) if pa.types.is_timestamp(single.type) else str(single.type)
            self.message = f"{self._shown} {TOO_FINE}"

    def __repr__(self) -> str:
        return f"<{self._shown}>"


def _python_values(column: Any) -> list[Any]:
    if pa.types.is_dictionary(column.type):
        column = decoded(column)
    plain = plain_type(column.type)
    try:
        return _cast(column, plain)
    except Exception:  # one value is enough for that; find out which
        # Not slices: of a list, Arrow would cast the elements of all rows.
        return [_python_value(column.take(pa.array([row])), plain) for row in range(len(column))]


def _python_value(single: Any, plain: pa.DataType) -> Any:
    try:
        return _cast(single, plain)[0]
    except Exception as problem:  # Arrow and Python's datetime raise many kinds
        return _Unconvertible(single, problem)


def _cast(column: Any, plain: pa.DataType) -> list[Any]:
    values: list[Any] = (column if column.type == plain else column.cast(plain)).to_pylist()
    return values


def _from_arrow(kind: AttributeType) -> Callable[[Any], Any]:
    convert = _present(kind)

    def checked(value: Any) -> Any:
        if value is None:
            if kind.optional:
                return None
            raise ValueProblem(f"null, where {kind} is expected")
        if isinstance(value, _Unconvertible):
            raise ValueProblem(value.message)
        return convert(value)

    return checked


def _present(kind: AttributeType) -> Callable[[Any], Any]:
    if kind.element is not None:
        each = _from_arrow(kind.element)
        return lambda value: [each(element) for element in value]
    if kind.nested is not None:
        make = kind.nested.type._make  # type: ignore[attr-defined]  # every schema's type is a NamedTuple
        members = [(member.name, _from_arrow(member.type)) for member in kind.nested.attributes]
        return lambda value: make([convert(value[name]) for name, convert in members])
    return value_normalizer(kind.without_none())


def first_line(problem: Exception) -> str:
    text = str(problem).strip() or type(problem).__name__
    return shown(text.splitlines()[0])[1:-1] if len(text) < 80 else text.splitlines()[0][:200]
