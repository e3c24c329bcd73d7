"""A window aggregate in two steps: tuples that stand for others of their window, and what is made of these.

Of the tuples of a stretch, or of a channel's share of it, those that certainly are in the same windows are *together*:
the whole stream puts all of them into its windows, or none into one that has closed. One tuple of them, the first,
says how many they are, and their sums. Besides go on, as they are, those that an aggregate may choose: the last, and
those with the largest or smallest values. Each is a *part*: the tuple, its size, and what is known of those together.
One that is only chosen has a size of 0 and adds nothing.

For the number of different values of an attribute, in native code, only those are together that have the same value;
in the Python form parts know them as lists.

So parts are tuples of the stream, in its order, and whatever chooses among them finds what it would find among all. The
first of those together is the one that moves the time, if any of them does, so windows close where they always did.

Who is together is found by windows of the stretch itself: panes, each as long as the windows slide, or as they are
long. A pane is open until the time of the stretch is behind it, and a tuple that comes later is by itself, or late in
the stream as well. The time of the stream at a tuple is that of the tuples before the stretch, which is the same for
all of its tuples, or that of the stretch so far, which is the same for all that come into an open pane: it is the
boundary at which that pane begins. So they are in the same windows, each of which has closed for all of them or for
none.

A channel may have only some of the tuples of a stretch. Then those of others may come in between, and that holds if
the panes of the stream never go back (`passes/layout/ascending_panes.py`): wherever a tuple of a pane comes, the time
is the boundary at which the pane begins, so that nothing is late, and nothing closes before all of the pane have come.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeGuard

from anabranch.graph.model import Operator, Port, Record
from anabranch.graph.schema import ORDERABLE, Attribute, AttributeType, Schema
from anabranch.graph.windows import Window
from anabranch.operators.aggregate import Column, WindowAggregate
from anabranch.operators.aggregates import Aggregate, UserAggregate, WindowEdge
from anabranch.operators.base import OperatorDefinition

_INT = AttributeType("int")
_GROUPED = ("int", "float", "bool", "str")  # the kinds of values that native code can tell apart
_LATE = "late"  # the output for what comes behind its pane


@dataclass(frozen=True)
class TwoSteps:
    """Two operators for one: `parts` makes parts, `whole` puts windows together of them; or finds what it may take."""

    parts: Operator
    whole: Operator


@dataclass(frozen=True)
class MakeParts(OperatorDefinition):
    """What finds the parts of a stretch. `known` are their attributes behind the size, of all that are together.

    Its windows are the panes. They take tuples with their positions, which are `numbered`, and give what is in `given`:
    the position of the first tuple, the size, what is known, and the positions of the others that are chosen.
    """

    record: ClassVar = Record(kind="parts", state="stateless", selectivity="1:[0,1]", forwards="all")
    windows: WindowAggregate
    known: tuple[Aggregate, ...]
    numbered: Schema
    given: Schema

    @property
    def outputs(self) -> tuple[Port, ...]:
        """Of the windows: what panes give, and where one asks for it what came too late for its own."""
        late = (Port(_LATE, self.numbered),) if self.windows.late is not None else ()
        return (Port("out", self.given), *late)

    @property
    def knows_lists(self) -> bool:
        return any(each.function == "distinct_values" for each in self.known)

    @property
    def summed(self) -> list[str]:
        """The attributes of which it knows sums, where these are all that it knows."""
        return [each.attribute for each in self.known if each.attribute is not None]

    def found(self, closed: Iterable[Any], late: Iterable[Any]) -> dict[int, tuple[Any, ...]]:
        """Where the parts of a stretch are, and what each says of those it stands for."""
        parts: dict[int, tuple[Any, ...]] = {}
        count = len(self.known)
        for first, size, *results in closed:
            parts.update(dict.fromkeys(results[count:], self._nothing))
            parts[first] = (size, *results[:count])
        for *values, position in late:
            parts[position] = self.alone(values)
        return parts

    def alone(self, item: Sequence[Any]) -> tuple[Any, ...]:
        """What a tuple says that stands for itself."""
        return (1, *self._known_of([item]))

    @cached_property
    def _nothing(self) -> tuple[Any, ...]:
        return (0, *self._known_of([]))

    def _known_of(self, items: Iterable[Sequence[Any]]) -> list[Any]:
        accumulators = [each.accumulator(self.numbered) for each in self.known]
        for item in items:
            for accumulator in accumulators:
                accumulator.add(item)
        return [each.result() for each in accumulators]


@dataclass(frozen=True)
class AggregateOfParts(WindowAggregate):
    """What closes windows of parts and gives their results; the tuples that they are of are as `known`."""

    known: Schema | None = None

    def shown(self, item: Any) -> Any:
        assert self.known is not None
        return tuple.__new__(self.known.type, item[: len(self.known.names)]) if isinstance(item, tuple) else item


def in_two_steps(operator: Operator, definition: WindowAggregate, *, is_native: bool) -> TwoSteps | str:
    """The two steps of an operator without a key, or why there are not two; `is_native` where code may be native."""
    why = _why_in_one_step(operator, definition)
    if why is not None:
        return why
    schema = operator.inputs[0].schema
    values = [each.attribute for _, each in definition.columns if _counts_values(each) and each.attribute is not None]
    has_groups = is_native and all(schema[name].kind in _GROUPED for name in values)
    steps = _Steps(schema, values if has_groups else ())
    over_parts = tuple((name, steps.over_parts(column)) for name, column in definition.columns)
    columns = [Aggregate("first", steps.position), Aggregate("count"), *steps.known, *steps.chosen]
    names = [f"{steps.prefix}_{number}" for number in range(len(columns))]
    numbered = _schema(f"Numbered{schema.name}", [*schema.attributes, Attribute(steps.position, _INT)])
    given = [Attribute(name, each.result_type(numbered)) for name, each in zip(names, columns, strict=True)]
    making = MakeParts(
        _panes(definition, tuple(zip(names, columns, strict=True)), steps.groups),
        tuple(steps.known),
        numbered,
        _schema("Parts", given),
    )
    known = [Attribute(steps.name(number), each.result_type(schema)) for number, each in enumerate(steps.known)]
    part = _schema(f"PartOf{schema.name}", [*schema.attributes, Attribute(steps.size, _INT), *known])
    [into], [out] = operator.inputs, operator.outputs
    parts = Operator(f"{operator.id}: parts", making, operator.inputs, (replace(out, schema=part),), operator.location)
    whole = AggregateOfParts(definition.window, over_parts, group_by=definition.group_by, size=steps.size, known=schema)
    return TwoSteps(parts, replace(operator, definition=whole, inputs=(replace(into, schema=part),)))


def _counts_values(column: Column) -> TypeGuard[Aggregate]:
    return isinstance(column, Aggregate) and column.function == "count_distinct"


def _panes(
    definition: WindowAggregate, columns: tuple[tuple[str, Column], ...], groups: Sequence[str]
) -> WindowAggregate:
    """The windows of a stretch. What comes behind its pane may still be in windows that slide on."""
    window = definition.window
    panes = replace(definition, columns=columns, group_by=tuple(dict.fromkeys((*definition.group_by, *groups))))
    if window.shape == "tumbling":
        return panes
    return replace(panes, window=Window("tumbling", window.measure, pane_length(window), on=window.on), late=_LATE)


def pane_length(window: Window) -> Any:
    """How long what is together may be, of windows by time."""
    return window.slide if window.shape == "sliding" else window.length


class _Steps:
    """What parts know of those they stand for, who else is chosen, and for each aggregate what it is of parts."""

    def __init__(self, schema: Schema, groups: Sequence[str]) -> None:
        self.groups = groups  # who is together has the same values of these
        self.prefix = "part"
        while any(name.startswith(self.prefix) for name in schema.names):
            self.prefix += "_"
        self.size, self.position = f"{self.prefix}_size", f"{self.prefix}_position"
        self.known: list[Aggregate] = []
        self.chosen: list[Aggregate] = []  # their positions

    def name(self, number: int) -> str:
        """Of an attribute of a part."""
        return f"{self.prefix}_{number}"

    def over_parts(self, column: Column) -> Column:
        match column:
            case Aggregate(function="count"):
                return Aggregate("sum_", self.size)
            case Aggregate(function="sum_"):
                return Aggregate("sum_", self._kept(column))
            case Aggregate(function="count_distinct", attribute=str(name)) if name not in self.groups:
                return Aggregate("count_values", self._kept(Aggregate("distinct_values", name)))
            case Aggregate(function="last"):
                self._choose(Aggregate("last", self.position))
            case Aggregate(function="max_", attribute=by) | Aggregate(function="arg_max", by=by):
                self._choose(Aggregate("arg_max", self.position, by))
            case Aggregate(function="min_", attribute=by):
                self._choose(Aggregate("arg_min", self.position, by))
        return column

    def _choose(self, position: Aggregate) -> None:
        if position not in self.chosen:
            self.chosen.append(position)

    def _kept(self, known: Aggregate) -> str:
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
    if (window.length / pane_length(window)).denominator != 1:
        return "its windows do not begin where others end: their length is no multiple of slide="
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
