"""Where an object that exists already was found, by which `constancy` decides whether it may change."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TypeAlias

from anabranch.analysis.home import Home
from anabranch.analysis.modules import Namespace, namespace_of
from anabranch.analysis.values import Const


@dataclass(frozen=True, slots=True)
class GlobalName:
    namespace: Namespace
    name: str

    def __str__(self) -> str:
        return f"the global `{self.name}`"


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a function around the one that uses it."""

    home: Home
    name: str

    def __str__(self) -> str:
        return f"`{self.name}`, a variable of the enclosing function"


@dataclass(frozen=True, slots=True)
class Default:
    home: Home
    name: str

    def __str__(self) -> str:
        return f"the default value of `{self.name}`, which all calls share"


@dataclass(frozen=True, slots=True)
class ClassAttribute:
    cls: type
    name: str

    def __str__(self) -> str:
        return f"`{self.cls.__name__}.{self.name}`, a class attribute that all instances share"


@dataclass(frozen=True, slots=True)
class InstanceAttribute:
    """An attribute of an instance that exists before the program runs."""

    cls: type
    name: str
    is_frozen: bool = False  # as far as ordinary assignments go
    settled: Const | None = None  # the instance, if functions that only build the program do not write it any more

    def __str__(self) -> str:
        return f"the attribute `{self.name}` of a `{self.cls.__name__}` that all calls share"


@dataclass(frozen=True, slots=True)
class Given:
    """Handed over as a value, so that others may hold it too."""

    what: str

    def __str__(self) -> str:
        return self.what


@dataclass(frozen=True, slots=True)
class Inside:
    """Held by an object that was found there."""

    origin: GlobalName | Variable | Default | ClassAttribute | InstanceAttribute | Given

    def __str__(self) -> str:
        return f"what is held by {self.origin}"


Origin: TypeAlias = GlobalName | Variable | Default | ClassAttribute | InstanceAttribute | Given | Inside


def inside(origin: Origin | None) -> Origin | None:
    return origin if origin is None or isinstance(origin, Inside) else Inside(origin)


def namespace_around(origin: Origin) -> Namespace | None:
    """The globals of the code around it."""
    match origin:
        case Inside(origin=outer):
            return namespace_around(outer)
        case GlobalName(namespace=namespace):
            return namespace
        case Variable(home=home) | Default(home=home):
            return namespace_of(home.namespace)
        case ClassAttribute(cls=cls) | InstanceAttribute(cls=cls):
            module = sys.modules.get(cls.__module__)
            return namespace_of(vars(module)) if module is not None else None
        case Given():
            return None
