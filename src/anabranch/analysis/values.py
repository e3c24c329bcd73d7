"""What an expression may be, as far as that is known without running it.

A `Value` is the set of things an expression may evaluate to. Things differ in what can be done to them:
an `Atom` cannot change, an `Obj` lives on the abstract heap, a `Const` exists already while the program is analysed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from anabranch.analysis.home import Home
    from anabranch.analysis.origins import Origin
    from anabranch.errors import Location

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class GaveUp(Exception):
    """The code is too large to be followed; what it does is then unknown. Where it is known, what led too far."""

    def __init__(self, cause: str | None = None, where: Location | None = None) -> None:
        super().__init__(cause, where)
        self.cause = cause
        self.where = where


class Plain:
    """Stands for the type of a builtin or library value that is data, but not known exactly; never an iterator."""


class Stream:
    """Stands for the type of some iterator: looking at it changes it."""


class AwareDatetime(datetime):
    """Stands for a datetime that certainly has a time zone."""


class Sent:
    """Stands for the type of `ab.to(name, t)`."""


@dataclass(frozen=True, slots=True)
class Source:
    """The value is an unchanged attribute of an input tuple.

    `stored` says that it may be the attribute of an earlier tuple of the same instance, so that it equals the
    current one only where the attribute belongs to the key.
    """

    attribute: str
    stored: bool = False


# A value that __init__ gave to an attribute which each tuple replaces at once: with a key, nobody ever sees it.
REPLACED_AT_ONCE = Source("", stored=True)


class Place(Enum):
    FRESH = "made during this call"
    OWN = "kept in the operator's own instance"
    INPUT = "part of the input tuple"

    __hash__ = object.__hash__  # places are hashed all the time


@dataclass(frozen=True, slots=True)
class Site:
    """An abstract object: all those made at one place of the program."""

    place: Place
    label: object


# What was raised anywhere in the code that is followed.
RAISED = Site(Place.FRESH, "raised")
SAID_BY_ERRORS = Site(Place.FRESH, "said by errors")  # what the library has been given that its errors may show


@dataclass(frozen=True, slots=True)
class Atom:
    """An immutable value without user code in it, known by its type."""

    type: type
    source: Source | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Const:
    """An object that exists already: a function, a class, a module, a container found in a global."""

    object: Any
    origin: Origin | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and self.object is other.object and self.origin == other.origin

    def __hash__(self) -> int:
        return id(self.object)


@dataclass(frozen=True, slots=True)
class Tup:
    """A tuple or NamedTuple whose positions are known."""

    type: type
    items: tuple[Value, ...]
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Obj:
    """An object with an identity; what it holds is on the heap."""

    site: Site
    type: type
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Fun:
    """A function or lambda made by analysed code; `chain` are the functions around it, outermost first."""

    node: FunctionNode
    home: Home
    chain: tuple[FunctionNode, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """A user's function with its first argument."""

    function: Thing
    receiver: Thing


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a builtin or library type with its receiver; `owner` is the type that defines it."""

    receiver: Thing
    name: str
    owner: type


@dataclass(frozen=True, slots=True)
class Super:
    """What `super()` gives: attributes are looked up after `type` in the receiver's method resolution order."""

    type: type
    receiver: Thing


@dataclass(frozen=True, slots=True)
class Partial:
    """A function with some of its arguments, from `functools.partial`."""

    function: Value
    positional: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """Anything at all. Whoever makes one has already reported why, so nothing done to it needs a report."""


Thing: TypeAlias = Atom | Const | Tup | Obj | Fun | Bound | Method | Super | Partial | Unknown
Value: TypeAlias = frozenset[Thing]

NOTHING: Value = frozenset()
UNKNOWN: Value = frozenset({Unknown()})
NONE: Value = frozenset({Atom(type(None))})
BOOL: Value = frozenset({Atom(bool)})
INT: Value = frozenset({Atom(int)})
FLOAT: Value = frozenset({Atom(float)})
STR: Value = frozenset({Atom(str)})
BYTES: Value = frozenset({Atom(bytes)})
PLAIN_ATOM: Value = frozenset({Atom(Plain)})

_MOST_THINGS = 24
_DEEPEST = 4


def atom(kind: type) -> Value:
    return frozenset({Atom(kind)})


def one(thing: Thing) -> Value:
    return frozenset({thing})


def join(values: Iterable[Value]) -> Value:
    return frozenset().union(*values)


def without_sources(value: Value) -> Value:
    """The same things, no longer known to be the input's attributes."""
    return frozenset(_without_source(thing) for thing in value)


def _without_source(thing: Thing) -> Thing:
    match thing:
        case Atom(type=kind, source=Source()):
            return Atom(kind)
        case Obj(site=site, type=kind, source=Source()):
            return Obj(site, kind)
        case Tup(type=kind, items=items):
            return Tup(kind, tuple(without_sources(item) for item in items))
        case _:
            return thing


def replaced_at_once(value: Value) -> Value:
    return frozenset(Atom(t.type, REPLACED_AT_ONCE) if isinstance(t, Atom) else t for t in value)


def demoted(value: Value) -> Value:
    """The same things as seen by a later call: what was the current tuple's is now an earlier tuple's."""
    return frozenset(_demoted(thing) for thing in value)


def _demoted(thing: Thing) -> Thing:
    match thing:
        case Atom(type=kind, source=Source(stored=False) as source):
            return Atom(kind, Source(source.attribute, stored=True))
        case Obj(site=site, type=kind, source=Source(stored=False) as source):
            return Obj(site, kind, Source(source.attribute, stored=True))
        case Tup(type=kind, items=items, source=source):
            later = Source(source.attribute, stored=True) if source else None
            return Tup(kind, tuple(demoted(item) for item in items), later)
        case Bound(function=function, receiver=receiver):
            return Bound(_demoted(function), _demoted(receiver))
        case Method(receiver=receiver, name=name, owner=owner):
            return Method(_demoted(receiver), name, owner)
        case Partial(function=function_value, positional=positional, keywords=keywords):
            return Partial(
                demoted(function_value),
                tuple(demoted(value) for value in positional),
                tuple((name, demoted(value)) for name, value in keywords),
            )
        case _:
            return thing


def parts(thing: Thing) -> tuple[Value, ...]:
    """The values a thing carries in itself, without the heap."""
    match thing:
        case Tup(items=items):
            return items
        case Bound(function=function, receiver=receiver):
            return (one(function), one(receiver))
        case Method(receiver=receiver) | Super(receiver=receiver):
            return (one(receiver),)
        case Partial(function=function_value, positional=positional, keywords=keywords):
            return (function_value, *positional, *(value for _, value in keywords))
        case _:
            return ()


def depth(value: Value) -> int:
    return max((1 + depth(part) for thing in value for part in parts(thing)), default=0)


def is_too_wide(value: Value) -> bool:
    """Whether a value must be made coarser so that repeated joins come to an end."""
    return len(value) > _MOST_THINGS or depth(value) > _DEEPEST
