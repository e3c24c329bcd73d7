"""A window aggregate in two steps: parts of its windows, each made of tuples of a stretch, and what is made of parts.

The tuples of a *stretch* are put into windows as if the stream began with them. A window that closes so, or is open
when the stretch ends, is a part. That is exact for tumbling windows by the stream's clock: what is late in a stretch is
late in the stream, and of what is not, all tuples of a window are late or none is, since the time before the stretch is
the same for all of them. The tuples that move the time of a stretch into another window come between the parts, as they
are: there windows close, and there they would fail.

A part is a tuple with further attributes. Its own ones are those of the first tuple of the part, then it says of how
many tuples it is (0: it is a tuple that only moves the time), and what is known of them all. Windows, which have code
in every form, give for each part only what is computed of its tuples, and else the positions of some in the stretch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from anabranch.graph.model import Operator, Record
from anabranch.graph.schema import ORDERABLE, Attribute, AttributeType, Schema
from anabranch.operators.aggregate import Column, TimeWindows, WindowAggregate
from anabranch.operators.aggregates import Aggregate, UserAggregate, WindowEdge
from anabranch.operators.base import Emission, Meaning, OperatorDefinition

_INT = AttributeType("int")


@dataclass(frozen=True)
class TwoSteps:
    """Two operators for one: `parts` makes parts, `whole` puts windows together of them; or finds what it may take."""

    parts: Operator
    whole: Operator

    @property
    def only_in_python(self) -> Aggregate | None:
        """What parts know that has no native code, though in one place it would have."""
        making = self.parts.definition
        known = making.known if isinstance(making, MakeParts) else ()
        return next((each.aggregate for each in known if each.aggregate.function == "distinct_values"), None)


@dataclass(frozen=True)
class Known:
    """What a part knows of its tuples: the result of an aggregate, or with a `name` an attribute of the tuple there."""

    aggregate: Aggregate
    type: AttributeType
    name: str | None = None


@dataclass(frozen=True)
class MakeParts(OperatorDefinition):
    """What gives parts of the tuples of a stretch. `known` are their attributes behind the size.

    Its windows take tuples with their positions, which are `numbered`, and give what is in `given`: the position of the
    first tuple, the size, and what is aggregated.
    """

    record: ClassVar = Record(kind="parts", state="stateless")
    windows: WindowAggregate
    known: tuple[Known, ...]
    numbered: Schema
    given: Schema

    def part(self, closed: Any, tuple_at: Mapping[int, Any]) -> tuple[Any, ...]:
        """A part, as the windows give it; the tuples are found by their positions."""
        first, size, *results = closed
        values = []
        for each in self.known:
            result = results[self._results[each.aggregate]]
            values.append(result if each.name is None else getattr(tuple_at[result], each.name))
        return (*tuple_at[first], size, *values)

    def positions(self, closed: Any) -> list[int]:
        """Where the tuples are that a part needs."""
        return [closed[0], *(closed[2 + self._results[each.aggregate]] for each in self.known if each.name is not None)]

    @cached_property
    def _results(self) -> dict[Aggregate, int]:
        return {aggregate: at for at, aggregate in enumerate(dict.fromkeys(each.aggregate for each in self.known))}

    def alone(self, item: Any, schema: Schema, size: int) -> tuple[Any, ...]:
        """A part of one tuple, or with a size of 0 what only moves the time."""
        values = []
        for each in self.known:
            if each.name is not None:
                values.append(getattr(item, each.name))
                continue
            accumulator = each.aggregate.accumulator(schema)
            accumulator.add(item)
            values.append(accumulator.result())
        return (*item, size, *values)


@dataclass(frozen=True)
class AggregateOfParts(OperatorDefinition):
    """What closes windows and gives their results: `windows` are over parts, of tuples that are as `known`."""

    record: ClassVar = Record(kind="aggregate")
    windows: WindowAggregate
    known: Schema

    def meaning(self, operator: Operator) -> Meaning:
        return _WindowsOfParts(operator, self)

    def shown(self, item: Any) -> Any:
        return tuple.__new__(self.known.type, item[: len(self.known.names)]) if isinstance(item, tuple) else item


class _WindowsOfParts(TimeWindows):
    def __init__(self, operator: Operator, definition: AggregateOfParts) -> None:
        super().__init__(operator, definition.windows)
        self.size_at = len(definition.known.names)

    def _is_only_time(self, port: int, item: Any) -> bool:
        return not item[self.size_at]

    def _late(self, item: Any) -> Iterator[Emission]:
        self.late += item[self.size_at]
        return iter(())


def in_two_steps(operator: Operator, definition: WindowAggregate) -> TwoSteps | str:
    """The two steps of an operator without a key, or why there are not two."""
    why = _why_in_one_step(operator, definition)
    if why is not None:
        return why
    schema = operator.inputs[0].schema
    steps = _Steps(schema)
    over_parts = tuple((name, steps.over_parts(column)) for name, column in definition.columns)
    results = dict.fromkeys(each.aggregate for each in steps.known)
    columns = [Aggregate("first", steps.position), Aggregate("count"), *results]
    names = [f"{steps.prefix}_{number}" for number in range(len(columns))]
    numbered = _schema(f"Numbered{schema.name}", [*schema.attributes, Attribute(steps.position, _INT)])
    given = [Attribute(name, each.result_type(numbered)) for name, each in zip(names, columns, strict=True)]
    making = MakeParts(
        replace(definition, columns=tuple(zip(names, columns, strict=True))),
        tuple(steps.known),
        numbered,
        _schema("Parts", given),
    )
    known = [Attribute(steps.name(number), each.type) for number, each in enumerate(steps.known)]
    part = _schema(f"PartOf{schema.name}", [*schema.attributes, Attribute(steps.size, _INT), *known])
    [into], [out] = operator.inputs, operator.outputs
    parts = Operator(f"{operator.id}: parts", making, operator.inputs, (replace(out, schema=part),), operator.location)
    whole = AggregateOfParts(replace(definition, columns=over_parts), schema)
    return TwoSteps(parts, replace(operator, definition=whole, inputs=(replace(into, schema=part),)))


class _Steps:
    """What parts have to know of their tuples, and for each aggregate what it is over parts."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.prefix = "part"
        while any(name.startswith(self.prefix) for name in schema.names):
            self.prefix += "_"
        self.size, self.position = f"{self.prefix}_size", f"{self.prefix}_position"
        self.known: list[Known] = []

    def name(self, number: int) -> str:
        """Of an attribute of a part."""
        return f"{self.prefix}_{number}"

    def over_parts(self, column: Column) -> Column:
        match column:
            case Aggregate(function="count"):
                return Aggregate("sum_", self.size)
            case Aggregate(function="count_distinct", attribute=str(name)):
                values = Aggregate("distinct_values", name)
                return Aggregate("count_values", self._kept(Known(values, values.result_type(self.schema))))
            case Aggregate(function="last", attribute=str(name)):
                return Aggregate("last", self._of_tuple(Aggregate("last", self.position), name))
            case Aggregate(function="arg_max", attribute=str(name), by=str(by)):
                best = Aggregate("arg_max", self.position, by)
                return Aggregate("arg_max", self._of_tuple(best, name), self._of_tuple(best, by))
            case Aggregate(function="sum_" | "min_" | "max_"):
                return replace(column, attribute=self._kept(Known(column, column.result_type(self.schema))))
        return column  # of the first tuple, or of the window

    def _of_tuple(self, position: Aggregate, name: str) -> str:
        return self._kept(Known(position, self.schema[name], name))

    def _kept(self, known: Known) -> str:
        if known not in self.known:
            self.known.append(known)
        return self.name(self.known.index(known))


def _schema(name: str, attributes: Sequence[Attribute]) -> Schema:
    members = [(attribute.name, Any) for attribute in attributes]
    kind: Any = NamedTuple(name, members)  # type: ignore[misc]  # known only now
    return Schema(kind, tuple(attributes))


# Why not --------------------------------------------------------------------------------------------------------------


def _why_in_one_step(operator: Operator, definition: WindowAggregate) -> str | None:
    window = definition.window
    if not window.is_by_time:
        of_what = "the punctuations" if window.shape == "punctuated" else "the number of tuples"
        return f"where its windows end depends on {of_what} of the whole stream"
    if window.shape != "tumbling":
        return "a tuple is in several of its windows"
    if definition.late is not None:
        return f"late tuples go to '{definition.late}', each at its place in the order"
    if operator.on_error != "stop":
        return f'with on_error="{operator.on_error}" tuples that fail have to be passed over one by one'
    if operator.inputs[0].is_punctuated:
        return "there are punctuations between the tuples"
    schema = operator.inputs[0].schema
    found = (_why_not_associative(column, schema) for _, column in definition.columns)
    return next((why for why in found if why is not None), None)


def _why_not_associative(column: Column, schema: Schema) -> str | None:
    """Why the result for all tuples does not follow from results for some of them."""
    match column:
        case WindowEdge():
            return None
        case UserAggregate():
            return f"{column} is an aggregate of the user's own, of which it is not known how parts are put together"
        case Aggregate(function="count" | "any_" | "first" | "last" | "count_distinct"):
            return None
        case Aggregate(function="sum_", attribute=str(name)):
            if schema[name].kind == "float":
                return f"{column} adds floats, and the sum depends on the order in which that is done"
            return None
        case Aggregate(function="min_" | "max_", attribute=str(name)) | Aggregate(function="arg_max", by=str(name)):
            if schema[name].kind == "datetime":
                return f"{column} compares datetimes, which fails where only some have a zone"
            assert schema[name].kind in ORDERABLE
            return None
    return f"{column} is not computed of parts"
