"""Instances of a user's class that exist only as the values of their attributes.

One attribute is kept as it is, in a dictionary by key; several are a list. Nothing can tell the difference where the
class is completely understood and its instances are only asked for attributes, and it is much faster.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from anabranch.codegen.functions import Refusal
from anabranch.codegen.inference import type_class
from anabranch.codegen.types import type_of_schema
from anabranch.graph.model import Operator
from anabranch.graph.schema import Schema
from anabranch.operators.base import Emissions, Meaning
from anabranch.operators.process import Process

_IMMUTABLE = (int, float, str, bool, bytes, type(None))


@dataclass(frozen=True)
class Fields:
    """The attributes of a class's instances, with their first values."""

    initial: Mapping[str, Any]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.initial)

    @property
    def is_single(self) -> bool:
        return len(self.initial) == 1

    def of(self, instance: Any) -> Any:
        """What is kept of an instance."""
        values = [getattr(instance, name) for name in self.names]
        return values[0] if self.is_single else values

    def instance(self, factory: Callable[[], Any], held: Any) -> Any:
        """The instance of which this is kept."""
        made = factory()
        for name, value in zip(self.names, (held,) if self.is_single else held, strict=True):
            setattr(made, name, value)
        return made


class UnboxedInstances(Meaning):
    """In place of the meaning of `process`: tuples are processed by generated code, and nothing else happens."""

    state = ("fields", "instances")

    def __init__(self, operator: Operator, fields: Fields) -> None:
        super().__init__(operator)
        self.fields = fields.names
        self.instances: dict[Any, Any] = {}

    def punctuation(self, port: int) -> Emissions:
        return self.forward_punctuation()


def fields_of(definition: Process, schemas: Mapping[str, Schema]) -> Fields | None:
    """The attributes of the instances of an operator, if these can do without objects."""
    cls: Any = definition.factory
    while isinstance(cls, functools.partial):
        cls = cls.func
    if not isinstance(cls, type) or any(hasattr(cls, name) for name in ("punctuation", "finish")):
        return None
    typed = type_class(definition.factory, {name: (type_of_schema(schema),) for name, schema in schemas.items()})
    if isinstance(typed, Refusal) or typed.problems or not typed.initial or set(typed.initial) != set(typed.fields):
        return None
    if any(name in vars(base) for base in cls.__mro__ for name in typed.initial):
        return None  # an attribute of the class stands behind that of the instance
    return Fields(dict(typed.initial)) if all(map(_is_immutable, typed.initial.values())) else None


def _is_immutable(value: Any) -> bool:
    return type(value) in _IMMUTABLE or (isinstance(value, tuple) and all(map(_is_immutable, value)))
