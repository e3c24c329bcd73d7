"""Aggregate functions as code over a list: what a window holds of a group is the list, a few entries per aggregate.

Each does exactly what its accumulator in `operators/aggregates.py` does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from anabranch.codegen.python.names import Names
from anabranch.codegen.python.values import key_of
from anabranch.codegen.types import Type
from anabranch.graph.schema import AttributeType, Schema
from anabranch.operators.aggregate import Column
from anabranch.operators.aggregates import Aggregate, UserAggregate, WindowEdge

Read = Callable[[str], str]  # the local that holds an attribute of the tuple


@dataclass(frozen=True)
class SlotColumn:
    """The code of one aggregate, for entries of the list `slot` from a certain one on.

    first: expressions for the entries when the first tuple has been added
    add: statements that add another tuple
    add_always: statements for every tuple, the first included
    result: an expression for the result; `type` is what it certainly is, `is_normal` whether in normal form, too
    """

    first: tuple[str, ...] = ()
    add: tuple[str, ...] = ()
    result: str = "None"
    type: Type | None = None
    add_always: tuple[str, ...] = ()
    is_normal: bool = False


def slot_column(
    column: Column, schema: Schema, read: Read, item: Callable[[], str], at: int, names: Names
) -> SlotColumn:
    match column:
        case WindowEdge(edge=edge):
            return SlotColumn(result=f"window_{edge}")
        case UserAggregate(factory=factory):
            made = f"{names.constant(factory, 'aggregate')}()"
            return SlotColumn((made,), (), f"slot[{at}].result()", None, (f"slot[{at}].add({item()})",))
        case Aggregate(function="count"):
            return SlotColumn(("1",), (f"slot[{at}] += 1",), f"slot[{at}]", Type("int"), is_normal=True)
        case Aggregate(attribute=str(attribute)):
            return _AGGREGATES[column.function](column, schema, read, attribute, f"slot[{at}]", at, names)
    raise AssertionError(column)


def _as_attribute(kind: AttributeType) -> Type | None:
    return Type(kind.kind, kind.optional) if kind.kind not in ("list", "tuple") else None


def _first(column: Aggregate, schema: Schema, read: Read, name: str, entry: str, at: int, names: Names) -> SlotColumn:
    return SlotColumn((read(name),), (), entry, _as_attribute(schema[name]), is_normal=True)


def _last(column: Aggregate, schema: Schema, read: Read, name: str, entry: str, at: int, names: Names) -> SlotColumn:
    return SlotColumn((read(name),), (f"{entry} = {read(name)}",), entry, _as_attribute(schema[name]), is_normal=True)


def _sum(column: Aggregate, schema: Schema, read: Read, name: str, entry: str, at: int, names: Names) -> SlotColumn:
    kind, value = schema[name], read(name)
    zero = "0.0" if kind.kind == "float" else "0"
    total = Type("float" if kind.kind == "float" else "int")
    if not kind.optional:
        return SlotColumn((f"{zero} + {value}",), (f"{entry} += {value}",), entry, total)
    first = f"{zero} if {value} is None else {zero} + {value}"
    return SlotColumn((first,), (f"if {value} is not None: {entry} += {value}",), entry, total)


def _mean(column: Aggregate, schema: Schema, read: Read, name: str, entry: str, at: int, names: Names) -> SlotColumn:
    value, count = read(name), f"slot[{at + 1}]"
    total = _sum(column, schema, read, name, entry, at, names)
    if not schema[name].optional:
        add = (*total.add, f"{count} += 1")
        return SlotColumn((*total.first, "1"), add, f"{entry} / {count}", Type("float"))
    add = (*total.add, f"if {value} is not None: {count} += 1")
    result = f"({entry} / {count} if {count} else None)"
    return SlotColumn((*total.first, f"0 if {value} is None else 1"), add, result, Type("float", optional=True))


def _std(column: Aggregate, schema: Schema, read: Read, name: str, entry: str, at: int, names: Names) -> SlotColumn:
    """Welford's recurrence: entries for the count, the mean and the squares."""
    value, count, mean, squares = read(name), entry, f"slot[{at + 1}]", f"slot[{at + 2}]"
    steps = [
        f"{count} += 1",
        f"distance = {value} - {mean}",
        f"{mean} += distance / {count}",
        f"{squares} += distance * ({value} - {mean})",
    ]
    if schema[name].optional:
        steps = [f"if {value} is not None: {'; '.join(steps)}"]
    nan, sqrt = names.constant(math.nan, "nan"), names.constant(math.sqrt, "sqrt")
    spread = f"{sqrt}({squares} / ({count} - {column.ddof}))"
    result = f"({nan} if {count} <= {column.ddof} else {spread})"
    if schema[name].optional:
        result = f"(None if {count} == 0 else {result})"
    kind = Type("float", optional=schema[name].optional)
    return SlotColumn(("0", "0.0", "0.0"), (), result, kind, tuple(steps))


def _extreme(column: Aggregate, schema: Schema, read: Read, name: str, entry: str, at: int, names: Names) -> SlotColumn:
    """The first of the smallest or of the largest values; NaN is larger than every number."""
    kind, value = schema[name], read(name)
    better = _is_larger(kind, value, entry) if column.function == "max_" else _is_larger(kind, entry, value)
    if kind.optional:
        better = f"{value} is not None and ({entry} is None or {better})"
    return SlotColumn((value,), (f"if {better}: {entry} = {value}",), entry, _as_attribute(kind), is_normal=True)


def _is_larger(kind: AttributeType, one: str, other: str) -> str:
    larger = f"{one} > {other}"
    return f"({larger} or ({one} != {one} and {other} == {other}))" if kind.kind == "float" else larger


def _arg_max(column: Aggregate, schema: Schema, read: Read, name: str, entry: str, at: int, names: Names) -> SlotColumn:
    """An attribute of the first tuple with the largest `by`: entries for the value and for `by`."""
    assert column.by is not None
    rank, best = read(column.by), f"slot[{at + 1}]"
    better = _is_larger(schema[column.by], rank, best)
    if schema[column.by].optional:
        better = f"{rank} is not None and ({best} is None or {better})"
    add = f"if {better}: {best} = {rank}; {entry} = {read(name)}"
    return SlotColumn((read(name), rank), (add,), entry, _as_attribute(schema[name]), is_normal=True)


def _distinct(
    column: Aggregate, schema: Schema, read: Read, name: str, entry: str, at: int, names: Names
) -> SlotColumn:
    value = read(name)
    key = key_of(schema, (name,), [value], names)
    add = f"{entry}.add({key})"
    if schema[name].optional:
        return SlotColumn(("set()",), (), f"len({entry})", Type("int"), (f"if {value} is not None: {add}",))
    return SlotColumn((f"{{{key}}}",), (add,), f"len({entry})", Type("int"), is_normal=True)


def _collect(column: Aggregate, schema: Schema, read: Read, name: str, entry: str, at: int, names: Names) -> SlotColumn:
    return SlotColumn((f"[{read(name)}]",), (f"{entry}.append({read(name)})",), entry)


_AGGREGATES = {
    "any_": _first,
    "first": _first,
    "last": _last,
    "sum_": _sum,
    "mean": _mean,
    "std": _std,
    "min_": _extreme,
    "max_": _extreme,
    "arg_max": _arg_max,
    "count_distinct": _distinct,
    "collect": _collect,
}
