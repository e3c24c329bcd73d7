"""What one operator keeps, apart from the element that runs it: frozen, documented, and the same for every form.

A store has tables of records and values that it has once; its schema says which. Numbers, text, tuples and what is made
of them are kept as they are. What only Python can keep (`any object`) is the object itself, which moves with its key.

| operator | tables, and a record of them | values |
|---|---|---|
| `process`, `connect` | `instances`: what an instance keeps by attribute, or the instance where that is not known | |
| window by time | `windows`: the number of its end, the group, what was aggregated | |
| | `clocks`: of a key or of all, the last boundary, and whether times have a zone | |
| tumbling by count | `windows`: how many tuples, the group, what was aggregated | |
| punctuated | `windows`: the group, what was aggregated | |
| sliding by count | `recent`: the number of its arrival, a tuple; `counts`: tuples since the last output | arrivals |
| `distinct` | `seen`: how often a key is in the window; `held`: the times of a sliding window | the clock |
| `join` | `left`, `right`: the number of its arrival, a tuple | arrivals, the clock |
| `sort`, `merge_by`, `barrier` | `buffer`, `waiting`: tuples, in order | inputs that are open |

The order of records is that of the meaning: keys by first arrival, windows by their first tuple. `first` of a record,
where it is known, is its place among the records of all channels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from anabranch.codegen.stores.schema import StoredField, StoreSchema, TableSchema

_ZEROS: Mapping[str, Any] = {"int": 0, "float": 0.0, "bool": False, "str": ""}


@dataclass(frozen=True)
class NotKept:
    """In place of a value that native code did not keep, since nothing in the operator reads it."""

    type: str

    def __repr__(self) -> str:
        return "<not kept>"

    @property
    def stand_in(self) -> Any:
        """What the same code, which does not read it, may be given."""
        return _ZEROS.get(self.type.removesuffix(" | None"))


@dataclass(frozen=True)
class Record:
    """`values` are by the columns of the table's schema; without a key, `key` is what the meaning has in its place."""

    key: Any
    values: tuple[Any, ...] = ()
    first: Any = None


Tables = Mapping[str, tuple[Record, ...]]


@dataclass(frozen=True)
class Store:
    """What an operator keeps; `ended_inputs` is how many of its inputs have ended."""

    operator: str
    schema: StoreSchema | None = None  # None where the operator keeps nothing
    tables: Tables = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    ended_inputs: int = 0

    def table(self, name: str) -> tuple[Record, ...]:
        return self.tables.get(name, ())

    def changed(self, change: Callable[[str, Record], Record]) -> Store:
        """The same with other records; `change` is told the table."""
        return replace(
            self, tables={name: tuple(change(name, each) for each in records) for name, records in self.tables.items()}
        )


def not_kept_in(store: Store) -> tuple[tuple[str, ...], ...]:
    """The paths of what nobody kept."""
    return tuple(each.path for each in store.schema.not_kept) if store.schema is not None else ()


class WrongStore(ValueError):
    """A store that is not of this operator, or not of this version of it: the fields and types differ."""


# What is not kept ---------------------------------------------------------------------------------------------------


def with_marks(store: Store) -> Store:
    """A store that was made of zeros for what is not kept, as its schema says, with marks in their place."""
    return _replaced(store, lambda field, value: value if value is None else NotKept(field.type))


def without_marks(store: Store) -> Store:
    """The same for the code that made it, which does not read what is not kept, but may count it up."""
    return _replaced(store, lambda _, value: value.stand_in if isinstance(value, NotKept) else value)


def _replaced(store: Store, put: Callable[[StoredField, Any], Any]) -> Store:
    if store.schema is None or not store.schema.not_kept:
        return store
    tables = {table.name: _without(table, store.table(table.name), put) for table in store.schema.tables}
    return replace(store, tables=tables)


def _without(
    table: TableSchema, records: tuple[Record, ...], put: Callable[[StoredField, Any], Any]
) -> tuple[Record, ...]:
    missing = [each for each in table.fields if not each.is_kept and not each.is_flag]
    columns = list(table.columns)
    found = []
    for record in records:
        values = list(record.values)
        for each in missing:
            at = columns.index(each.path[0])
            values[at] = _at(values[at], each.path[1:], lambda value, each=each: put(each, value))  # type: ignore[misc]
        found.append(replace(record, values=tuple(values)))
    return tuple(found)


def _at(value: Any, path: tuple[str, ...], change: Callable[[Any], Any]) -> Any:
    if not path:
        return change(value)
    if value is None:
        return None
    names = getattr(type(value), "_fields", None) or tuple(map(str, range(len(value))))
    members = [
        _at(each, path[1:], change) if name == path[0] else each for name, each in zip(names, value, strict=True)
    ]
    return value._make(members) if hasattr(value, "_make") else tuple(members)
