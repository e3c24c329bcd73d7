"""What there is in an operator's store, found from the operator's own code: never from what is before or behind it."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass

from anabranch.codegen.functions import Refusal
from anabranch.codegen.inference import type_class
from anabranch.codegen.types import UNKNOWN, Type, type_of_attribute, type_of_schema
from anabranch.graph.model import Operator
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.aggregates import UserAggregate, WindowEdge
from anabranch.operators.base import OperatorDefinition
from anabranch.operators.distinct import Distinct
from anabranch.operators.process import Process

Path = tuple[str, ...]
_ANY = "any object"  # only Python can keep it


@dataclass(frozen=True)
class StoredField:
    """A value that the operator keeps for each key; `is_kept` is False where native code has no word for it.

    Nothing in the operator reads such a value, so native code can do without; whoever reads it later must not find a
    zero in its place.
    """

    path: Path
    type: str
    is_kept: bool = True

    def __str__(self) -> str:
        return ".".join(self.path)


@dataclass(frozen=True)
class StoreSchema:
    """The key of a store's entries, and what each of these has."""

    operator: str
    entry: str
    key: tuple[StoredField, ...]
    fields: tuple[StoredField, ...]

    @property
    def not_kept(self) -> tuple[StoredField, ...]:
        return tuple(each for each in self.fields if not each.is_kept)

    def __str__(self) -> str:
        by = f" by {', '.join(map(str, self.key))}" if self.key else ""
        kept = ", ".join(f"{each}: {each.type}" for each in self.fields if each.is_kept)
        text = f"{self.operator} keeps {self.entry}{by}{f': {kept}' if kept else ''}"
        missing = ", ".join(map(str, self.not_kept))
        return f"{text}; nothing in it reads {missing}" if missing else text


def schema_of(operator: Operator, words: Container[Path] | None = None) -> StoreSchema | None:
    """The schema of an operator's store, or None where it has none; `words` are the paths that native code keeps."""
    definition = operator.definition
    key = tuple(_key(operator, definition))
    names: tuple[str, ...] = ()
    match definition:
        case Process():
            fields = list(_of_instances(operator, definition))
            kept = [StoredField(path, str(kind), words is None or path in words) for path, kind in fields]
            return StoreSchema(operator.id, f"a {definition.label}", key, tuple(kept))
        case WindowAggregate():
            columns = [(name, each) for name, each in definition.columns if not isinstance(each, WindowEdge)]
            kept = [
                StoredField((name,), _ANY if isinstance(each, UserAggregate) else str(each)) for name, each in columns
            ]
            return StoreSchema(operator.id, f"{definition.window.shape} windows", key, tuple(kept))
        case Distinct():
            return StoreSchema(operator.id, "what was seen", key, ())
        case OperatorDefinition():
            names = definition.meaning(operator).state
    if not names:
        return None
    return StoreSchema(operator.id, "its state", key, tuple(StoredField((name,), _ANY) for name in names))


def _key(operator: Operator, definition: object) -> Iterator[StoredField]:
    names: tuple[str, ...] = getattr(definition, "key", ()) or ()
    if isinstance(definition, Distinct):
        names = definition.key_names
    if isinstance(definition, WindowAggregate):
        names = (*definition.key_names, *definition.group_by)
    for name in names:
        yield StoredField((name,), str(type_of_attribute(operator.inputs[0].schema[name])))


def _of_instances(operator: Operator, definition: Process) -> Iterator[tuple[Path, str]]:
    """The attributes of an instance, those of nested tuples one by one."""
    methods = {
        name: (type_of_schema(port.schema),) for name, port in zip(definition.methods, operator.inputs, strict=True)
    }
    typed = type_class(definition.factory, methods)
    if isinstance(typed, Refusal):
        return
    for name, kind in typed.fields.items():
        yield from _leaves((name,), kind)


def _leaves(path: Path, kind: Type) -> Iterator[tuple[Path, str]]:
    if kind.kind == "tuple":
        for name, each in kind.members:
            yield from _leaves((*path, name), each.or_none() if kind.optional else each)
    elif kind.kind != "none":
        yield path, _ANY if kind == UNKNOWN else str(kind)
