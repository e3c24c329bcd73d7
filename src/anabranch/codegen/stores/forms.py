"""What the sequential meaning of each operator keeps, read into a store and written from one."""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from anabranch.codegen.stores.schema import ANY, INSTANCE, StoredField, StoreSchema, TableSchema
from anabranch.codegen.stores.store import Record, Store
from anabranch.codegen.stores.window_forms import Content, form_of_windows
from anabranch.graph.model import Operator
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.barrier import Barrier
from anabranch.operators.base import OperatorDefinition
from anabranch.operators.distinct import Distinct
from anabranch.operators.join import Join
from anabranch.operators.merge_by import MergeBy
from anabranch.operators.process import Process
from anabranch.operators.sort import Sort


class Form(Protocol):
    def read(self, meaning: Any) -> Content:
        """The records of the tables, and the values."""

    def write(self, meaning: Any, store: Store) -> None:
        """The same into a meaning that has not begun."""


def form_of(operator: Operator, schema: StoreSchema) -> Form:
    definition = operator.definition
    match definition:
        case Process():
            return InstancesForm(definition, schema.tables[0])
        case WindowAggregate():
            return form_of_windows(operator, definition)
        case Distinct():
            return SeenForm(definition)
        case Join():
            return JoinForm()
        case Sort():
            return BufferForm()
        case MergeBy() | Barrier():
            return WaitingForm(tuple(field.path[0] for field in schema.values))
    return ValuesForm(tuple(field.path[0] for field in schema.values))


@dataclass(frozen=True)
class InstancesForm:
    """Instances of a user's class by key, in the order in which the keys came first."""

    definition: Process
    table: TableSchema

    def read(self, meaning: Any) -> Content:
        names = self.table.columns
        if names == (INSTANCE,):
            found = [Record(key, (instance,)) for key, instance in meaning.instances.items()]
        else:
            found = [
                Record(key, tuple(getattr(instance, name) for name in names))
                for key, instance in meaning.instances.items()
            ]
        return {"instances": found}, {}

    def write(self, meaning: Any, store: Store) -> None:
        assert store.schema is not None
        names = store.schema.tables[0].columns
        for record in store.table("instances"):
            if names == (INSTANCE,):
                [instance] = record.values
            else:
                instance = self.definition.factory()
                for name, value in zip(names, record.values, strict=True):
                    setattr(instance, name, value)
            meaning.instances[record.key] = instance


def as_objects(schema: StoreSchema, instances: Mapping[Any, Any]) -> StoreSchema:
    """The schema of a class whose instances do not all have just the attributes that its code seems to give them."""
    [table] = schema.tables
    names = set(table.columns)
    if names == {INSTANCE} or all(set(getattr(each, "__dict__", ())) == names for each in instances.values()):
        return schema
    opaque = StoredField((INSTANCE,), ANY)
    return replace(schema, tables=(replace(table, fields=(opaque,)),))


@dataclass(frozen=True)
class SeenForm:
    """The keys that `distinct` has seen."""

    definition: Distinct

    def read(self, meaning: Any) -> Content:
        if self.definition.window is None:
            return {"seen": [Record(key) for key in meaning.seen]}, {}
        seen = [Record(key, (times,)) for key, times in meaning.seen.items()]
        held = [Record(key, (time,)) for time, key in meaning.held]
        values = {name: getattr(meaning, name) for name in ("clock", "has_zone", "boundary", "arrived")}
        return {"seen": seen, "held": held} if self.definition.window.shape == "sliding" else {"seen": seen}, values

    def write(self, meaning: Any, store: Store) -> None:
        seen = {record.key: record.values[0] if record.values else 1 for record in store.table("seen")}
        meaning.seen = Counter(seen)
        meaning.held = deque((record.values[0], record.key) for record in store.table("held"))
        for name, value in store.values.items():
            setattr(meaning, name, value)


class JoinForm:
    """Tuples that may be met, each side in the order in which they came."""

    def read(self, meaning: Any) -> Content:
        tables = {
            name: sorted(
                (Record(key, each) for key, held in window.held.items() for each in held.items()),
                key=lambda record: int(record.values[0]),
            )
            for name, window in zip(("left", "right"), meaning.windows, strict=True)
        }
        left, right = meaning.windows
        arrivals = {"left_arrivals": left.arrivals, "right_arrivals": right.arrivals}
        return tables, {**arrivals, "clock": meaning.clock, "has_zone": meaning.has_zone}

    def write(self, meaning: Any, store: Store) -> None:
        meaning.clock, meaning.has_zone = store.values["clock"], store.values["has_zone"]
        for name, window in zip(("left", "right"), meaning.windows, strict=True):
            window.arrivals = store.values[f"{name}_arrivals"]
            for record in store.table(name):
                number, item = record.values
                window.held.setdefault(record.key, {})[number] = item
                if window.axis is not None:
                    heapq.heappush(window.by_time, (window.time(item), number, record.key))
                elif not window.window.per_key:
                    window.by_arrival.append((number, record.key))
        for window in meaning.windows if meaning.clock is not None else ():
            window.expire(meaning.clock)  # a part that was told the time later has more than that


class BufferForm:
    """The tuples that `sort` holds back."""

    def read(self, meaning: Any) -> Content:
        return {"buffer": [Record(None, (item,)) for item in meaning.buffer]}, {"zones": dict(meaning.zones)}

    def write(self, meaning: Any, store: Store) -> None:
        meaning.buffer = [record.values[0] for record in store.table("buffer")]
        meaning.zones = dict(store.values["zones"])


@dataclass(frozen=True)
class WaitingForm:
    """Tuples that wait for those of other inputs."""

    names: tuple[str, ...]

    def read(self, meaning: Any) -> Content:
        waiting = [Record(None, (port, item)) for port, queue in enumerate(meaning.waiting) for item in queue]
        values = {name: getattr(meaning, name) for name in self.names}
        return {"waiting": waiting}, {**values, "open": sorted(values["open"])} if "open" in values else values

    def write(self, meaning: Any, store: Store) -> None:
        meaning.waiting = [deque() for _ in meaning.waiting]
        for port, item in (record.values for record in store.table("waiting")):
            meaning.waiting[port].append(item)
        for name, value in store.values.items():
            setattr(meaning, name, set(value) if name == "open" else value)


@dataclass(frozen=True)
class ValuesForm:
    """Attributes as they are. What the meaning does not know is the traversal's: where a loop stands."""

    names: tuple[str, ...]

    def read(self, meaning: Any) -> Content:
        return {}, {name: getattr(meaning, name) for name in self.names if name in meaning.state}

    def write(self, meaning: Any, store: Store) -> None:
        for name in meaning.state:
            setattr(meaning, name, store.values[name])


def read(operator: Operator, meaning: Any, schema: StoreSchema | None, ended_inputs: int, **more: Any) -> Store:
    """The store of an operator; `more` are values that the meaning does not have."""
    if schema is None:
        return Store(operator.id, ended_inputs=ended_inputs)
    if isinstance(operator.definition, Process):
        schema = as_objects(schema, meaning.instances)
    tables, values = form_of(operator, schema).read(meaning)
    frozen = {name: tuple(records) for name, records in tables.items()}
    return Store(operator.id, schema, frozen, {**values, **more}, ended_inputs)


def written(operator: Operator, store: Store, meaning: Any = None) -> Any:
    """A meaning with what is in a store: the given one, which has not begun, or a new one."""
    definition = operator.definition
    assert isinstance(definition, OperatorDefinition)
    if meaning is None:
        meaning = definition.meaning(operator)
    if store.schema is not None:
        form_of(operator, store.schema).write(meaning, store)
    return meaning
