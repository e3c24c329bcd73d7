"""The columns of `aggregate`: which aggregate each attribute of the result is given, and whether it fits."""

from __future__ import annotations

import inspect
from typing import Any

from anabranch.api.aggregates import any_
from anabranch.api.base import check_attributes, did_you_mean
from anabranch.api.signatures import check_takes, value_type
from anabranch.api.where import Caller
from anabranch.errors import BuildError, shown
from anabranch.graph.schema import AttributeType, Schema
from anabranch.graph.windows import Window
from anabranch.operators.aggregate import Column
from anabranch.operators.aggregates import Aggregate, UserAggregate, WindowEdge


def aggregate_columns(
    given: dict[str, Any],
    target: Schema,
    schema: Schema,
    grouping: tuple[str, ...],
    window: Window,
    where: Caller,
) -> tuple[tuple[str, Column], ...]:
    """An aggregate for every attribute of the result, in order; those that group need not be given."""
    for name in given:
        if name not in target:
            raise BuildError(
                f"{target.name} has no attribute '{name}', for which aggregate is given {_shown_value(given[name])}",
                location=where.location,
                hint=f"use one of {', '.join(target.names)}" + did_you_mean(name, target.names),
            )
    columns: list[tuple[str, Column]] = []
    for name in target.names:
        if name in given:
            column = _column(name, given[name], schema, window, where)
        elif name in grouping:
            column = Aggregate("any_", name)
        else:
            raise BuildError(
                f"attribute '{name}' of {target.name} is given no aggregate",
                location=where.location,
                hint=f'add one, for example {name}=ab.last("…")',
            )
        found = _column_type(column, schema, window, where)
        if not target[name].accepts(found):
            raise BuildError(
                f"{column} gives {found}, but attribute '{name}' of {target.name} is {target[name]}",
                location=where.location,
                hint=f"make it {found} in {target.name}, or use another aggregate",
            )
        columns.append((name, column))
    return tuple(columns)


def _column(name: str, value: Any, schema: Schema, window: Window, where: Caller) -> Column:
    if isinstance(value, Aggregate):
        for attribute in (value.attribute, value.by):
            if attribute is not None and not isinstance(attribute, str):
                raise BuildError(
                    f"{value.function}() for '{name}' takes the name of an attribute, not {shown(attribute)}",
                    location=where.location,
                    hint=f"use one of {', '.join(schema.names)}",
                )
            check_attributes(attribute, schema, where.location, f"{value.function}() for '{name}'")
        return value
    if isinstance(value, WindowEdge):
        if not window.is_by_time:
            raise BuildError(
                f"{value} for '{name}' is for windows by time or delta",
                location=where.location,
                hint='use an aggregate such as ab.first("…") or ab.last("…")',
            )
        return value
    cls = value if isinstance(value, type) else getattr(value, "func", None)
    if not isinstance(cls, type) or not hasattr(cls, "add") or not hasattr(cls, "result"):
        hint = "use ab.count(), ab.sum_(attribute), …, or a class with add(self, t) and result(self)"
        if getattr(value, "__module__", None) == any_.__module__:
            hint = f"call it: ab.{value.__name__}(…)"
        raise BuildError(f"'{name}' is given {shown(value)}, which is no aggregate", location=where.location, hint=hint)
    try:
        inspect.signature(value).bind()
    except TypeError as problem:
        raise BuildError(
            f"{cls.__name__} cannot be made without arguments: {problem}",
            location=where.location,
            hint=f"give them beforehand: functools.partial({cls.__name__}, …)",
        ) from None
    check_takes(f"{cls.__name__}.add", cls.add, (schema,), where, is_method=True)
    check_takes(f"{cls.__name__}.result", cls.result, (), where, is_method=True)
    return UserAggregate(value, value_type(cls.result, f"aggregate {cls.__name__}", where))


def _shown_value(value: Any) -> str:
    return str(value) if isinstance(value, Aggregate | WindowEdge) else shown(value)


def _column_type(column: Column, schema: Schema, window: Window, where: Caller) -> AttributeType:
    match column:
        case UserAggregate():
            return column.type
        case WindowEdge():
            assert window.on is not None
            return schema[window.on]
        case Aggregate():
            with where.blamed():
                return column.result_type(schema)
