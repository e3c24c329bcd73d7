"""Aggregate functions as code: what a window holds of a group is a list, with a few entries per aggregate.

Each does exactly what its accumulator in `operators/aggregates.py` does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from anabranch.codegen.python.names import Names
from anabranch.codegen.python.values import is_its_own_key, key_of
from anabranch.codegen.types import Type
from anabranch.graph.schema import AttributeType, Schema
from anabranch.operators.aggregate import Column
from anabranch.operators.aggregates import Aggregate, UserAggregate, WindowEdge, add_to_spread


@dataclass(frozen=True)
class SlotColumn:
    """The code of one aggregate.

    first: expressions for its entries when the first tuple has been added
    held: the attributes of its accumulator that these are
    add: statements that add another tuple
    add_always: statements for every tuple, the first included
    result: an expression for the result; `type` is what it certainly is, `is_normal` whether in normal form, too
    """

    result: str
    type: Type | None = None
    first: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    add: tuple[str, ...] = ()
    add_always: tuple[str, ...] = ()
    is_normal: bool = False


@dataclass(eq=False)
class Slots:
    """Where code for the aggregates of a window finds what it needs, as expressions.

    read: an attribute of the tuple that is added; item: that tuple
    entry: an entry of the list of a group; key: the attributes of the key, of the group whose result is asked for
    """

    schema: Schema
    names: Names
    key_names: tuple[str, ...]
    read: Callable[[str], str]
    item: Callable[[], str]
    entry: Callable[[int], str]
    key: str
    edge: Type | None = None  # what the edges of windows are

    def columns(self, columns: Sequence[Column], start: int) -> list[SlotColumn]:
        """The aggregates in order; their entries begin with number `start`."""
        found: list[SlotColumn] = []
        self._count: str | None = None
        for column in columns:
            found.append(self._column(column, start))
            start += len(found[-1].first)
        return found

    def _column(self, column: Column, at: int) -> SlotColumn:
        entry = self.entry(at)
        match column:
            case WindowEdge(edge=edge):
                is_normal = self.edge is not None and self.edge.kind != "int"
                return SlotColumn(f"window_{edge}", self.edge, is_normal=is_normal)
            case UserAggregate(factory=factory):
                made = f"{self.names.constant(factory, 'aggregate')}()"
                add = (f"{entry}.add({self.item()})",)
                return SlotColumn(f"{entry}.result()", None, (made,), ("",), add_always=add)
            case Aggregate(function="count"):
                self._count = entry
                return SlotColumn(entry, Type("int"), ("1",), ("count",), (f"{entry} += 1",), is_normal=True)
            case Aggregate(function=function, attribute=str(name)):
                if function in ("any_", "first", "last") and name in self.key_names and self._is_own_key(name):
                    return SlotColumn(self._of_key(name), self._type(name), is_normal=True)
                write: Callable[[Slots, Aggregate, str, int], SlotColumn] = _AGGREGATES[function]
                return write(self, column, name, at)
        raise AssertionError(column)

    def _is_own_key(self, name: str) -> bool:
        return is_its_own_key(self.schema[name])

    def _of_key(self, name: str) -> str:
        return self.key if len(self.key_names) == 1 else f"{self.key}[{self.key_names.index(name)}]"

    def _type(self, name: str) -> Type | None:
        kind = self.schema[name]
        return Type(kind.kind, kind.optional) if kind.kind not in ("list", "tuple") else None

    # One function each --------------------------------------------------------------------------------------------

    def first(self, column: Aggregate, name: str, at: int) -> SlotColumn:
        return SlotColumn(self.entry(at), self._type(name), (self.read(name),), ("value",), is_normal=True)

    def last(self, column: Aggregate, name: str, at: int) -> SlotColumn:
        add = f"{self.entry(at)} = {self.read(name)}"
        return SlotColumn(self.entry(at), self._type(name), (self.read(name),), ("value",), (add,), is_normal=True)

    def sum(self, column: Aggregate, name: str, at: int) -> SlotColumn:
        kind, value, entry = self.schema[name], self.read(name), self.entry(at)
        zero = "0.0" if kind.kind == "float" else "0"
        total = Type("float" if kind.kind == "float" else "int")
        if not kind.optional:
            return SlotColumn(entry, total, (f"{zero} + {value}",), ("total",), (f"{entry} += {value}",))
        first = f"{zero} if {value} is None else {zero} + {value}"
        return SlotColumn(entry, total, (first,), ("total",), (f"if {value} is not None: {entry} += {value}",))

    def mean(self, column: Aggregate, name: str, at: int) -> SlotColumn:
        value, total, count = self.read(name), self.sum(column, name, at), self.entry(at + 1)
        held = ("total", "count")
        if self.schema[name].optional:
            add = (*total.add, f"if {value} is not None: {count} += 1")
            result = f"({total.result} / {count} if {count} else None)"
            first = (*total.first, f"0 if {value} is None else 1")
            return SlotColumn(result, Type("float", optional=True), first, held, add)
        if self._count is not None:  # somebody counts already
            return SlotColumn(f"{total.result} / {self._count}", Type("float"), total.first, ("total",), total.add)
        self._count = count
        add = (*total.add, f"{count} += 1")
        return SlotColumn(f"{total.result} / {count}", Type("float"), (*total.first, "1"), held, add)

    def std(self, column: Aggregate, name: str, at: int) -> SlotColumn:
        """As `add_to_spread`, which is called only for what is not finite."""
        value, count, mean, squares = self.read(name), self.entry(at), self.entry(at + 1), self.entry(at + 2)
        scale, add = self.entry(at + 3), self.names.constant(add_to_spread, "add_to_spread")
        scaled, distance, new_mean, new_squares = map(self.names.new, ("scaled", "distance", "new_mean", "new_squares"))
        is_finite = f"0.0 <= {new_squares} < {self.names.constant(math.inf, 'inf')}"
        steps = (
            f"{count} += 1",
            f"{scaled} = {value} * {scale}",
            f"{distance} = {scaled} - {mean}",
            f"{new_mean} = {mean} + {distance} / {count}",
            f"{new_squares} = {squares} + {distance} * ({scaled} - {new_mean})",
            f"{mean}, {squares}, {scale} = ({new_mean}, {new_squares}, {scale}) if {is_finite} "
            f"else {add}({value}, {count}, {mean}, {squares}, {scale})",
        )
        is_optional = self.schema[name].optional
        if is_optional:
            steps = (f"if {value} is not None: {'; '.join(steps)}",)  # type: ignore[assignment]
        nan, sqrt = self.names.constant(math.nan, "nan"), self.names.constant(math.sqrt, "sqrt")
        spread = f"{sqrt}({squares} / ({count} - {column.ddof})) / {scale}"
        result = f"({nan} if {count} <= {column.ddof} else {spread})"
        if is_optional:
            result = f"(None if {count} == 0 else {result})"
        held = ("count", "mean", "squares", "scale")
        return SlotColumn(result, Type("float", is_optional), ("0", "0.0", "0.0", "1.0"), held, add_always=steps)

    def extreme(self, column: Aggregate, name: str, at: int) -> SlotColumn:
        """The first of the smallest or of the largest values; NaN is larger than every number."""
        kind, value, entry = self.schema[name], self.read(name), self.entry(at)
        is_max = column.function == "max_"
        better = _is_larger(kind, value, entry) if is_max else _is_larger(kind, entry, value)
        if kind.optional:
            better = f"{value} is not None and ({entry} is None or {better})"
        elif kind.kind == "float":  # one comparison is enough for most values
            better = f"not {value} {'<=' if is_max else '>='} {entry} and ({better})"
        add = (f"if {better}: {entry} = {value}",)
        made = SlotColumn(entry, self._type(name), (value,), ("value",), add, is_normal=True)
        return _at_its_turn(made) if kind.kind == "datetime" else made

    def arg_extreme(self, column: Aggregate, name: str, at: int) -> SlotColumn:
        """An attribute of the first tuple with the largest `by`, or with the smallest."""
        assert column.by is not None
        rank, entry, best = self.read(column.by), self.entry(at), self.entry(at + 1)
        kind = self.schema[column.by]
        better = _is_larger(kind, rank, best) if column.function == "arg_max" else _is_larger(kind, best, rank)
        if kind.optional:
            better = f"{rank} is not None and ({best} is None or {better})"
        add = (f"if {better}: {best} = {rank}; {entry} = {self.read(name)}",)
        first = (self.read(name), rank)
        made = SlotColumn(entry, self._type(name), first, ("value", "best"), add, is_normal=True)
        return _at_its_turn(made) if kind.kind == "datetime" else made

    def distinct(self, column: Aggregate, name: str, at: int) -> SlotColumn:
        value, entry = self.read(name), self.entry(at)
        key = key_of(self.schema, (name,), [value], self.names)
        add = f"{entry}.add({key})"
        if self.schema[name].optional:
            always = (f"if {value} is not None: {add}",)
            return SlotColumn(f"len({entry})", Type("int"), ("set()",), ("seen",), add_always=always, is_normal=True)
        return SlotColumn(f"len({entry})", Type("int"), (f"{{{key}}}",), ("seen",), (add,), is_normal=True)

    def distinct_values(self, column: Aggregate, name: str, at: int) -> SlotColumn:
        value, entry = self.read(name), self.entry(at)
        add = f"{entry}.setdefault({key_of(self.schema, (name,), [value], self.names)}, {value})"
        always = f"if {value} is not None: {add}" if self.schema[name].optional else add
        return SlotColumn(f"list({entry}.values())", None, ("{}",), ("seen",), add_always=(always,))

    def collect(self, column: Aggregate, name: str, at: int) -> SlotColumn:
        add = f"{self.entry(at)}.append({self.read(name)})"
        return SlotColumn(self.entry(at), None, (f"[{self.read(name)}]",), ("values",), (add,))


def _at_its_turn(column: SlotColumn) -> SlotColumn:
    """Datetimes may fail when they are compared, as the user's own aggregates may: the first of them is reported."""
    return replace(column, add=(), add_always=column.add)


def _is_larger(kind: AttributeType, one: str, other: str) -> str:
    larger = f"{one} > {other}"
    return f"{larger} or {one} != {one} and {other} == {other}" if kind.kind == "float" else larger


_AGGREGATES = {
    "any_": Slots.first,
    "first": Slots.first,
    "last": Slots.last,
    "sum_": Slots.sum,
    "mean": Slots.mean,
    "std": Slots.std,
    "min_": Slots.extreme,
    "max_": Slots.extreme,
    "arg_max": Slots.arg_extreme,
    "arg_min": Slots.arg_extreme,
    "count_distinct": Slots.distinct,
    "distinct_values": Slots.distinct_values,
    "collect": Slots.collect,
}
