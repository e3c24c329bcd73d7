"""Stores divided by the hash of their keys, as tuples go to channels, and put together again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from anabranch.codegen.runtime.hash import key_hash
from anabranch.codegen.stores.store import Record, Store, Tables, WrongStore
from anabranch.graph.model import Operator
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.base import OperatorDefinition
from anabranch.operators.distinct import Distinct
from anabranch.operators.join import Join
from anabranch.operators.process import Process

Tell = Callable[[int, str, Record], Any]  # which part, which table, a record -> its place among those of all parts


def why_indivisible(operator: Operator) -> str | None:
    """Why what an operator keeps cannot be divided by its keys; None where it can, or where it keeps nothing."""
    definition = operator.definition
    match definition:
        case Process():
            return None if definition.key else "it has no key: one instance takes all tuples"
        case WindowAggregate():
            return None if definition.key_names else "its windows have no key"
        case Distinct(window=window):
            if window is not None and not window.is_by_time and window.shape != "punctuated":
                return "its window counts the tuples of all keys"
            return None
        case Join():
            if not definition.left_on:
                return "any two tuples may be a pair: nothing in them must be equal"
            by_count = [each for each in (definition.left, definition.right) if not each.is_by_time]
            return None if all(each.per_key for each in by_count) else "a window counts the tuples of all keys"
        case OperatorDefinition() if operator.kind in _IN_ONE_PLACE:
            return _IN_ONE_PLACE[operator.kind]
        case OperatorDefinition() if definition.meaning(operator).state:
            return "it is not known by which key it keeps what it keeps"
    return None


_IN_ONE_PLACE: Mapping[str, str] = {
    "sort": "it compares all tuples with one another",
    "merge_by": "it compares the heads of whole streams",
    "barrier": "it pairs tuples by their number in whole streams",
    "punctuate": "it counts the tuples of all keys",
    "feedback": "a loop has rounds that all tuples share",
}


def shows_order(operator: Operator) -> bool:
    """Whether what comes out depends on the order in which keys came first, or their windows began."""
    definition = operator.definition
    match definition:
        case Process(factory=factory):
            return not isinstance(factory, type) or any(hasattr(factory, name) for name in ("punctuation", "finish"))
        case WindowAggregate():
            return not definition.ranks  # else columns say it
    return False


def bucket_of(key: Any, buckets: int) -> int:
    return key_hash(key) % buckets


def split(operator: Operator, store: Store, buckets: int) -> list[Store]:
    """A store for each bucket: its keys', in their order, and what is of no key."""
    why = why_indivisible(operator)
    if why is not None:
        raise WrongStore(f"what '{operator.id}' keeps cannot be divided: {why}")
    tables: list[dict[str, list[Record]]] = [{name: [] for name in store.tables} for _ in range(buckets)]
    for name, records in store.tables.items():
        is_shared = _is_shared(store, name)
        for record in records:
            for bucket in range(buckets) if is_shared else [bucket_of(record.key, buckets)]:
                tables[bucket][name].append(record)
    return [replace(store, tables={name: tuple(each) for name, each in part.items()}) for part in tables]


def join(operator: Operator, parts: Sequence[Store], place_of: Tell | None = None) -> Store:
    """The stores of buckets as one. `place_of` says where a record stands among those of all parts.

    It is needed where the order shows, and more than one part has anything.
    """
    why = why_indivisible(operator)
    if why is not None and len(parts) > 1:
        raise WrongStore(f"what '{operator.id}' keeps is in one place: {why}")
    one = parts[0]
    for other in parts[1:]:
        if (other.operator, other.schema) != (one.operator, one.schema):
            raise WrongStore(f"stores of '{one.operator}' and of '{other.operator}' differ: they are not of one")
        if other.ended_inputs != one.ended_inputs:
            raise WrongStore(f"parts of the store of '{one.operator}' have not seen the same ends of streams")
    filled = [each for each in parts if any(each.tables[name] for name in each.tables if not _is_shared(each, name))]
    if place_of is None and len(filled) > 1 and shows_order(operator):
        raise WrongStore(f"it is not known in which order the keys of '{one.operator}' came")
    tables = {name: _joined(name, parts, place_of) for name in one.tables}
    values = {name: _value(one.operator, name, [each.values[name] for each in parts]) for name in one.values}
    return _renumbered(replace(one, tables=_without_old(tables, parts, values), values=values))


def _is_shared(store: Store, table: str) -> bool:
    """Whether a table is of all keys together: the stream's clock."""
    assert store.schema is not None
    [schema] = [each for each in store.schema.tables if each.name == table]
    return not schema.key


def _joined(name: str, parts: Sequence[Store], place_of: Tell | None) -> tuple[Record, ...]:
    if _is_shared(parts[0], name):
        if any(each.tables[name] != parts[0].tables[name] for each in parts):
            raise WrongStore(f"parts of the store of '{parts[0].operator}' stand at different times")
        return parts[0].tables[name]
    found = [(number, record) for number, part in enumerate(parts) for record in part.tables[name]]
    if place_of is not None:
        found.sort(key=lambda each: place_of(each[0], name, each[1]))
    return tuple(record for _, record in found)


def _value(operator_id: str, name: str, values: Sequence[Any]) -> Any:
    """What parts have of a value that stands for all keys: how far it is, as far as one of them knows."""
    known = [each for each in values if each is not None]
    if not known:
        return None
    if name == "has_zone" and any(each != known[0] for each in known):
        raise WrongStore(f"parts of the store of '{operator_id}' have times with a zone, and without one")
    return max(known)


def _without_old(tables: Tables, parts: Sequence[Store], values: Mapping[str, Any]) -> Tables:
    """What `distinct` has seen in a window that is over by now: a part forgets it only with its next tuple."""
    if values.get("boundary") is None:
        return tables
    old = {
        id(record) for part in parts if part.values["boundary"] != values["boundary"] for record in part.table("seen")
    }
    return {**tables, "seen": tuple(record for record in tables["seen"] if id(record) not in old)}


def _renumbered(store: Store) -> Store:
    """Tuples numbered by arrival, each part by itself, get numbers of their own; those of a key stay in their order."""
    numbered = {"left": "left_arrivals", "right": "right_arrivals", "recent": "arrivals"}
    tables, values = dict(store.tables), dict(store.values)
    for name, arrivals in numbered.items():
        if name not in tables:
            continue
        tables[name] = tuple(
            replace(record, values=(number, *record.values[1:])) for number, record in enumerate(tables[name])
        )
        values[arrivals] = max(values[arrivals], len(tables[name]))
    return replace(store, tables=tables, values=values)
