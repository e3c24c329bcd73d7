"""What a window has aggregated of a group, as plain values: those of each column that its result is made of.

count()                        how many tuples
sum_                           the total
mean                           the total, and of how many values
std                            how many values, their mean, the squares of distances, and the scale of both
min_, max_, any_, first, last  the value
arg_max                        the best rank, and the value there
count_distinct                 the values that were seen; as keys, so that NaN equals itself
collect                        the values, in order
a class of the user's          its instance
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from anabranch.graph.schema import Schema
from anabranch.operators.aggregate import Column, WindowAggregate
from anabranch.operators.aggregates import Aggregate, UserAggregate, WindowEdge

_HELD: dict[str, tuple[str, ...]] = {
    "count": ("count",),
    "sum_": ("total",),
    "mean": ("total", "count"),
    "std": ("count", "mean", "squares", "scale"),
    "min_": ("value",),
    "max_": ("value",),
    "any_": ("value",),
    "first": ("value",),
    "last": ("value",),
    "arg_max": ("best", "value"),
    "count_distinct": ("seen",),
    "count_values": ("seen",),
    "distinct_values": ("seen",),
    "collect": ("values",),
}
_COPIES: dict[str, Callable[[Any], Any]] = {"seen": lambda seen: seen.copy(), "values": list}


def held_by(function: str) -> tuple[str, ...]:
    """The attributes of an accumulator that its result is made of."""
    return _HELD[function]


def values_of(columns: Sequence[tuple[str, Column]], made: Sequence[Any]) -> tuple[Any, ...]:
    """Of each column that aggregates; edges are of the window."""
    found = []
    for (_, column), each in zip(columns, made, strict=True):
        match column:
            case Aggregate(function=function):
                found.append(tuple(_copied(name, getattr(each, name)) for name in _HELD[function]))
            case UserAggregate():
                found.append(each)
    return tuple(found)


def accumulators_of(definition: WindowAggregate, schema: Schema, values: Sequence[Any]) -> list[Any]:
    """The accumulators that have these values."""
    given, made = iter(values), []
    for _, column in definition.columns:
        match column:
            case Aggregate(function=function):
                each: Any = column.accumulator(schema)
                for name, value in zip(_HELD[function], next(given), strict=True):
                    setattr(each, name, _copied(name, value))
                if hasattr(each, "has_value"):
                    each.has_value = True  # an open window has a tuple
                made.append(each)
            case UserAggregate():
                made.append(next(given))
            case WindowEdge():
                made.append(None)
    _count_sums(definition, schema, made)
    return made


def _count_sums(definition: WindowAggregate, schema: Schema, made: list[Any]) -> None:
    """A sum is counted too where somebody knows how many tuples there are: native code asks the first that may know."""
    counting = [
        (column.function, each)
        for (_, column), each in zip(definition.columns, made, strict=True)
        if isinstance(column, Aggregate) and column.function in ("count", "mean", "std", "sum_")
        if column.attribute is None or not schema[column.attribute].optional
    ]
    known = next((each.count for function, each in counting if function != "sum_"), 0)
    for function, each in counting:
        if function == "sum_":
            each.count = known


def _copied(name: str, value: Any) -> Any:
    return _COPIES[name](value) if name in _COPIES else value
