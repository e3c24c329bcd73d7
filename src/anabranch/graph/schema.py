"""The type of a stream: a NamedTuple class and what each of its attributes may hold."""

from __future__ import annotations

import re
import types
import typing
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any

from anabranch.errors import BuildError, shown

SCALARS: dict[type, str] = {
    int: "int",
    float: "float",
    bool: "bool",
    str: "str",
    bytes: "bytes",
    datetime: "datetime",
    date: "date",
}
ORDERABLE = ("int", "float", "bool", "str", "bytes", "datetime", "date")
NUMERIC = ("int", "float")

SUPPORTED = "int, float, bool, str, bytes, datetime, date, list[T] of these, nested NamedTuples, and T | None"


@dataclass(frozen=True)
class AttributeType:
    """What an attribute may hold. `kind` is a scalar's name, `list` or `tuple`."""

    kind: str
    optional: bool = False
    element: AttributeType | None = None
    nested: Schema | None = None

    def __str__(self) -> str:
        match self.kind:
            case "list":
                text = f"list[{self.element}]"
            case "tuple":
                text = self.nested.name if self.nested else "tuple"
            case _:
                text = self.kind
        return f"{text} | None" if self.optional else text

    @property
    def is_orderable(self) -> bool:
        return self.kind in ORDERABLE and not self.optional

    @property
    def is_numeric(self) -> bool:
        return self.kind in NUMERIC and not self.optional

    @property
    def has_list(self) -> bool:
        return self.kind == "list" or (self.nested is not None and self.nested.has_lists)

    def without_none(self) -> AttributeType:
        return AttributeType(self.kind, False, self.element, self.nested)

    def with_none(self) -> AttributeType:
        return AttributeType(self.kind, True, self.element, self.nested)

    def accepts(self, other: AttributeType) -> bool:
        """Whether every value of `other` may be stored here (an int may stand where a float is asked for)."""
        if other.optional and not self.optional:
            return False
        if self.kind == "list" and other.kind == "list":
            assert self.element is not None
            assert other.element is not None
            return self.element.accepts(other.element)
        if self.kind == "tuple" or other.kind == "tuple":
            return self.nested == other.nested
        return self.kind == other.kind or (self.kind, other.kind) in {("float", "int"), ("int", "bool")}


@dataclass(frozen=True)
class Attribute:
    name: str
    type: AttributeType


@dataclass(frozen=True)
class Schema:
    """The attributes of a NamedTuple class, in order."""

    type: type[tuple[Any, ...]]
    attributes: tuple[Attribute, ...]

    @property
    def name(self) -> str:
        return self.type.__name__

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def _types(self) -> dict[str, AttributeType]:
        return {attribute.name: attribute.type for attribute in self.attributes}

    @property
    def has_lists(self) -> bool:
        return any(attribute.type.has_list for attribute in self.attributes)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> AttributeType:
        return self._types[name]

    def __str__(self) -> str:
        inner = ", ".join(f"{attribute.name}: {attribute.type}" for attribute in self.attributes)
        return f"{self.name}({inner})"


def is_named_tuple(candidate: object) -> bool:
    return isinstance(candidate, type) and issubclass(candidate, tuple) and hasattr(candidate, "_fields")


def is_defined_again(one: type, other: type) -> bool:
    """Whether these are two definitions of one class, as by a cell of a notebook that was run again."""
    return one is not other and (one.__module__, one.__qualname__) == (other.__module__, other.__qualname__)


def schema_of(candidate: object, local_names: dict[str, Any] | None = None) -> Schema:
    """The schema of a NamedTuple class; a `BuildError` says which attribute is not supported and why."""
    return _schema_of(candidate, local_names or {}, enclosing=())


def _schema_of(candidate: object, local_names: dict[str, Any], enclosing: tuple[object, ...]) -> Schema:
    if not is_named_tuple(candidate):
        name = candidate.__name__ if isinstance(candidate, type) else "Call"
        raise BuildError(
            f"{shown(candidate)} is not a tuple type",
            hint=f"declare one, with a type for every attribute: class {name}(NamedTuple)",
        )
    assert isinstance(candidate, type)
    if "__len__" in vars(candidate):
        raise BuildError(
            f"{candidate.__name__} has a length of its own, so Python cannot make tuples of that type",
            hint="give the method another name than __len__",
        )
    if candidate in enclosing:
        raise BuildError(
            f"{candidate.__name__} contains itself, but the attributes of a tuple cannot be recursive",
            hint="refer to other tuples by an attribute that identifies them",
        )
    try:
        hints = typing.get_type_hints(candidate, localns=local_names)
    except NameError as problem:
        raise BuildError(
            f"an annotation of {candidate.__name__} cannot be resolved: {problem}",
            hint="define the type at module level, above the class that uses it",
        ) from None
    fields: tuple[str, ...] = candidate._fields  # type: ignore[attr-defined]  # checked by is_named_tuple
    if not fields:
        raise BuildError(f"{candidate.__name__} has no attributes; a tuple needs at least one")
    attributes = []
    for name in fields:
        if name not in hints:
            raise BuildError(
                f"attribute '{name}' of {candidate.__name__} has no type",
                hint="use typing.NamedTuple with an annotation for every attribute",
            )
        where = f"attribute '{name}' of {candidate.__name__}"
        attributes.append(Attribute(name, attribute_type(hints[name], where, local_names, (*enclosing, candidate))))
    return Schema(candidate, tuple(attributes))


def attribute_type(
    annotation: object,
    where: str = "this value",
    local_names: dict[str, Any] | None = None,
    enclosing: tuple[object, ...] = (),
) -> AttributeType:
    """The attribute type an annotation stands for; `where` names it in the error."""
    names = local_names or {}
    if isinstance(annotation, type) and annotation in SCALARS:
        return AttributeType(SCALARS[annotation])
    if is_named_tuple(annotation):
        return AttributeType("tuple", nested=_schema_of(annotation, names, enclosing))
    origin = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin is list and len(arguments) == 1:
        return AttributeType("list", element=attribute_type(arguments[0], where, names, enclosing))
    if origin in (typing.Union, types.UnionType):
        present = [argument for argument in arguments if argument is not type(None)]
        if len(present) == 1 and len(present) < len(arguments):
            return attribute_type(present[0], where, names, enclosing).with_none()
    raise BuildError(f"{where} has the unsupported type {type_name(annotation)}", hint=f"use one of {SUPPORTED}")


def type_name(annotation: object) -> str:
    """An annotation as a message shows it: without the modules of its types."""
    if isinstance(annotation, type) and typing.get_origin(annotation) is None:
        return annotation.__name__
    return re.sub(r"(?:[\w<>]+\.)+", "", str(annotation))
