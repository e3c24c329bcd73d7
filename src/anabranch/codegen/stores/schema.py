"""What there is in an operator's store, found from the operator's own code: never from what is before or behind it."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass, replace

from anabranch.codegen.functions import Refusal
from anabranch.codegen.inference import type_class
from anabranch.codegen.types import UNKNOWN, Type, type_of_attribute, type_of_schema
from anabranch.graph.model import Operator, Port
from anabranch.graph.schema import Schema
from anabranch.graph.windows import Window
from anabranch.operators.aggregate import Column, WindowAggregate
from anabranch.operators.aggregates import Aggregate, UserAggregate, WindowEdge
from anabranch.operators.barrier import Barrier
from anabranch.operators.base import OperatorDefinition
from anabranch.operators.distinct import Distinct
from anabranch.operators.feedback import Feedback
from anabranch.operators.join import Join
from anabranch.operators.merge_by import MergeBy
from anabranch.operators.process import Process
from anabranch.operators.punctuate import Punctuate
from anabranch.operators.sort import Sort

Path = tuple[str, ...]
FORMAT = 1  # of stores as they are described here
ANY = "any object"  # only Python can keep it
INSTANCE = "the instance"  # in place of its attributes, where these are not known
FLAG = "?"  # the end of a path: whether a value is there that may be None


@dataclass(frozen=True)
class StoredField:
    """A value that the operator keeps for each key; `is_kept` is False where native code has no word for it.

    Nothing in the operator reads such a value, so native code can do without; whoever reads it later must not find a
    zero in its place.
    """

    path: Path
    type: str
    is_kept: bool = True

    @property
    def is_flag(self) -> bool:
        return self.path[-1] == FLAG

    def __str__(self) -> str:
        return ".".join(self.path).replace(f".{FLAG}", FLAG)


@dataclass(frozen=True)
class TableSchema:
    """Records of one kind: their key, and what each of them has. A tuple is a field for each of its attributes."""

    name: str
    key: tuple[StoredField, ...]
    fields: tuple[StoredField, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The values of a record, by name."""
        return tuple(dict.fromkeys(field.path[0] for field in self.fields))


@dataclass(frozen=True)
class StoreSchema:
    """The tables of a store, and the values that it has once; `entry` says what a record of the first table is."""

    operator: str
    entry: str
    tables: tuple[TableSchema, ...]
    values: tuple[StoredField, ...] = ()
    format: int = FORMAT

    @property
    def key(self) -> tuple[StoredField, ...]:
        return self.tables[0].key if self.tables else ()

    @property
    def fields(self) -> tuple[StoredField, ...]:
        return (*(field for table in self.tables for field in table.fields), *self.values)

    @property
    def not_kept(self) -> tuple[StoredField, ...]:
        return tuple(each for each in self.fields if not each.is_kept)

    def __str__(self) -> str:
        by = f" by {', '.join(map(str, self.key))}" if self.key else ""
        kept = ", ".join(f"{each}: {each.type}" for each in self.fields if each.is_kept and not each.is_flag)
        text = f"{self.operator} keeps {self.entry}{by}{f': {kept}' if kept else ''}"
        missing = ", ".join(map(str, self.not_kept))
        return f"{text}; nothing in it reads {missing}" if missing else text


def schema_of(operator: Operator, words: Container[Path] | None = None) -> StoreSchema | None:
    """The schema of an operator's store, or None where it has none; `words` are the paths that native code keeps."""
    definition = operator.definition
    match definition:
        case Process():
            return _of_process(operator, definition, words)
        case WindowAggregate():
            return _of_windows(operator, definition, words)
        case Distinct():
            return _of_distinct(operator, definition)
        case Join():
            return _of_join(operator, definition)
        case Sort():
            zones = _field("zones", ANY)  # whether the datetimes that it sorts by have a zone, by attribute
            return StoreSchema(operator.id, "tuples in their order", (_tuples(operator, "buffer"),), (zones,))
        case MergeBy() | Barrier():
            values = (_field("open", "list"), _field("has_zone", "bool | None"))
            waiting = _tuples(operator, "waiting", _field("input", "int"))
            return StoreSchema(
                operator.id, "tuples that wait", (waiting,), values if isinstance(definition, MergeBy) else ()
            )
        case Punctuate():
            return StoreSchema(operator.id, "a count", (), (_field("seen", "int"),))
        case Feedback():
            loop = _field("open_inputs", "int"), _field("is_closed", "bool")
            return StoreSchema(operator.id, "a loop", (), (_field("entered", "int"), *loop))
        case OperatorDefinition():
            names = definition.meaning(operator).state
            return (
                StoreSchema(operator.id, "its state", (), tuple(_field(name, ANY) for name in names)) if names else None
            )
    return None


def lacking(schema: StoreSchema | None, paths: Collection[Path]) -> StoreSchema | None:
    """The same schema where these fields are not kept."""
    if schema is None or not paths:
        return schema
    tables = tuple(
        replace(table, fields=tuple(replace(each, is_kept=each.path not in paths) for each in table.fields))
        for table in schema.tables
    )
    return replace(schema, tables=tables)


def _field(name: str, kind: str) -> StoredField:
    return StoredField((name,), kind)


def _key(port: Port, names: tuple[str, ...]) -> tuple[StoredField, ...]:
    return tuple(_field(name, str(type_of_attribute(port.schema[name]))) for name in names)


def _tuples(
    operator: Operator, name: str, *before: StoredField, port: int = 0, key: tuple[str, ...] = ()
) -> TableSchema:
    into = operator.inputs[port]
    return TableSchema(name, _key(into, key), (*before, *_of_tuple("tuple", into.schema)))


def _of_tuple(name: str, schema: Schema, words: Container[Path] | None = None) -> Iterator[StoredField]:
    for path, kind in _leaves((name,), type_of_schema(schema)):
        yield StoredField(path, kind, words is None or path in words)


# Instances ----------------------------------------------------------------------------------------------------------


def types_of_instances(operator: Operator, definition: Process) -> dict[str, Type] | None:
    """The types of what an operator's instances keep; None where that is not known, so that only Python can keep it."""
    methods = {
        name: (type_of_schema(port.schema),) for name, port in zip(definition.methods, operator.inputs, strict=True)
    }
    typed = type_class(definition.factory, methods)
    return None if isinstance(typed, Refusal) else dict(typed.fields)


def _of_process(operator: Operator, definition: Process, words: Container[Path] | None) -> StoreSchema:
    types = types_of_instances(operator, definition)
    fields = [
        StoredField(path, kind, words is None or kind == ANY or path in words)
        for name, each in (types or {}).items()
        for path, kind in _leaves((name,), each)
    ]
    if types is None:
        fields = [_field(INSTANCE, ANY)]
    table = TableSchema("instances", _key(operator.inputs[0], definition.key), tuple(fields))
    return StoreSchema(operator.id, f"a {definition.label}", (table,))


def _leaves(path: Path, kind: Type) -> Iterator[tuple[Path, str]]:
    """The paths of a value, those of a nested tuple one by one, and of each that may be None whether it is there."""
    if kind.kind == "none":
        return
    if kind.optional:
        yield (*path, FLAG), "bool"
    if kind.kind == "tuple":
        for name, each in kind.members:
            for below, text in _leaves((*path, name), each):
                is_shown_optional = kind.optional and below[-1] != FLAG and text != ANY and not text.endswith("| None")
                yield below, f"{text} | None" if is_shown_optional else text
    else:
        yield path, ANY if kind == UNKNOWN else str(kind)


# Windows ------------------------------------------------------------------------------------------------------------


def _of_windows(operator: Operator, definition: WindowAggregate, words: Container[Path] | None) -> StoreSchema:
    window, into = definition.window, operator.inputs[0]
    key, entry = _key(into, definition.key_names), f"{window.shape} windows"
    if window.shape == "sliding" and not window.is_by_time:
        recent = TableSchema("recent", key, (_field("arrival", "int"), *_of_tuple("tuple", into.schema, words)))
        counts = TableSchema("counts", key, (_field("since_last", "int"),))
        return StoreSchema(operator.id, entry, (recent, counts), (_field("arrivals", "int"),))
    fields: list[StoredField] = []
    if window.is_by_time:
        fields.append(_field("end", "int"))
    elif window.shape == "tumbling":
        fields.append(_field("tuples", "int"))
    if definition.group_by:
        fields.append(_field("group", ", ".join(f"{each}: {each.type}" for each in _key(into, definition.group_by))))
    fields += [
        _field(name, _of_column(each, into.schema))
        for name, each in definition.columns
        if not isinstance(each, WindowEdge)
    ]
    tables = [TableSchema("windows", key, tuple(fields))]
    if window.is_by_time:
        clock = _field("reached", "int | None"), _field("has_zone", "bool | None")
        tables.append(TableSchema("clocks", key if window.clock == "key" else (), clock))
    return StoreSchema(operator.id, entry, tuple(tables))


def _of_column(column: Column, schema: Schema) -> str:
    if isinstance(column, UserAggregate):
        return ANY
    assert isinstance(column, Aggregate)
    kinds = [str(type_of_attribute(schema[name])) for name in (column.attribute, column.by) if name is not None]
    return f"{column} of {', '.join(kinds)}" if kinds else str(column)


# The others ---------------------------------------------------------------------------------------------------------


def _of_distinct(operator: Operator, definition: Distinct) -> StoreSchema:
    into = operator.inputs[0]
    key, window = _key(into, definition.key_names), definition.window
    tables = [TableSchema("seen", key, (_field("times", "int"),) if window is not None else ())]
    values: list[StoredField] = []
    if window is not None:
        time = type_of_attribute(into.schema[window.on]).kind if window.on is not None else "none"
        if window.shape == "sliding":
            tables.append(TableSchema("held", key, (_field("time", time),)))
        values = [
            _field("clock", f"{time} | None"),
            _field("has_zone", "bool | None"),
            _field("boundary", "int | None"),
            _field("arrived", "int"),
        ]
    return StoreSchema(operator.id, "what was seen", tuple(tables), tuple(values))


def _of_join(operator: Operator, definition: Join) -> StoreSchema:
    def side(name: str, port: int, on: tuple[str, ...]) -> TableSchema:
        return _tuples(operator, name, _field("number", "int"), port=port, key=on)

    tables = side("left", 0, definition.left_on), side("right", 1, definition.right_on)
    arrivals = _field("left_arrivals", "int"), _field("right_arrivals", "int")
    time = _time(operator, definition.left, 0) or _time(operator, definition.right, 1) or "none"
    clock = _field("clock", f"{time} | None"), _field("has_zone", "bool | None")
    return StoreSchema(operator.id, "tuples that may be met", tables, (*arrivals, *clock))


def _time(operator: Operator, window: Window, port: int) -> str | None:
    return None if window.on is None else type_of_attribute(operator.inputs[port].schema[window.on]).kind
