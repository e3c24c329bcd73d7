"""Typing an operator class: what its instances keep, and its methods."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from anabranch.analysis import shared_effects
from anabranch.analysis.entry import location_of
from anabranch.analysis.home import home_of
from anabranch.analysis.lookup import static
from anabranch.analysis.modules import moment
from anabranch.analysis.program import look_at_code
from anabranch.analysis.special_methods import user_method
from anabranch.codegen.functions import Refusal, UserFunction, method_of
from anabranch.codegen.inference.body import Body
from anabranch.codegen.inference.fields import Fields
from anabranch.codegen.inference.joins import constant_type, published
from anabranch.codegen.inference.model import Typed, TypedClass
from anabranch.codegen.types import Type
from anabranch.errors import BuildError, Location
from anabranch.graph.schema import Schema, schema_of

_MOST_ROUNDS = 20
_AT_ENDS = ("punctuation", "finish")  # which the analysis follows by itself
_OF_ATTRIBUTES = ("__getattr__", "__getattribute__", "__setattr__", "__delattr__")

Methods = tuple[tuple[str, tuple[Type, ...]], ...]
_known: WeakKeyDictionary[Any, dict[Methods, tuple[tuple[int, int], TypedClass | Refusal]]] = WeakKeyDictionary()


def type_class(factory: Callable[[], Any], methods: Mapping[str, Sequence[Type]]) -> TypedClass | Refusal:
    """The types in an operator class whose methods get arguments of these types."""
    key = tuple((name, tuple(kinds)) for name, kinds in methods.items())
    known = _known.setdefault(factory, {})
    with look_at_code(factory):
        if key not in known or known[key][0] != moment():
            known[key] = moment(), _type_class(factory, dict(key))
    return known[key][1]


def _type_class(factory: Callable[[], Any], methods: Mapping[str, tuple[Type, ...]]) -> TypedClass | Refusal:
    cls: Any = factory
    while isinstance(cls, functools.partial):
        cls = cls.func
    if not isinstance(cls, type):
        return Refusal("is not a class", location_of(factory))
    for name in _OF_ATTRIBUTES:
        if user_method(cls, name) is not None:
            return Refusal(f"defines `{name}`", location_of(cls))
    found: dict[str, UserFunction] = {}
    for name in methods:
        base, member = static(cls, name)
        if base is None and name in _AT_ENDS:
            continue
        if not isinstance(member, FunctionType):
            return Refusal(f"has a `{name}` that is not a plain method", location_of(cls))
        method = method_of(member)
        if isinstance(method, Refusal):
            return Refusal(f"has a method `{name}` that {method.reason}", method.location)
        found[name] = method
    fields = _fields(factory, cls, methods)
    if isinstance(fields, Refusal):
        return fields
    typed = _rounds(fields, {name: (method, methods[name]) for name, method in found.items()})
    problems = dict.fromkeys((*fields.problems.values(), *(each for one in typed.values() for each in one.problems)))
    kinds = {name: published(kind) for name, kind in fields.types.items()}
    return TypedClass(factory, kinds, fields.initial or {}, typed, tuple(problems), fields.constants)


def _rounds(fields: Fields, methods: Mapping[str, tuple[UserFunction, tuple[Type, ...]]]) -> dict[str, Typed]:
    """All methods, until none of them finds that a field may be of more types than it seemed."""
    typed: dict[str, Typed] = {}
    for _ in range(_MOST_ROUNDS):
        version = fields.version
        for name, (method, kinds) in methods.items():
            called = method.called_with(len(kinds))
            free = called.free_parameters
            if len(free) != len(kinds):
                reason = f"has a `{name}` that takes {len(free)} arguments, not {len(kinds)}"
                fields.problems[f"{name}()"] = Refusal(reason, called.location(called.node))
                continue
            typed[name] = Body(called, dict(zip(free, kinds, strict=True)), fields).solve()
        if fields.version == version:
            return typed
    fields.problems["()"] = Refusal("is too large to be followed", location_of(fields.cls))
    return typed


# What a new instance keeps --------------------------------------------------------------------------------------


def _fields(factory: Callable[[], Any], cls: type, methods: Mapping[str, tuple[Type, ...]]) -> Fields | Refusal:
    """What an instance keeps at first. One is made to look at, if that has no effect on anything else."""
    reason = _why_not_made(factory, methods)
    if reason is not None:
        fields = Fields(cls, None)
        fields.problems["()"] = reason
        return fields
    try:
        instance = factory()
    except Exception as problem:
        return Refusal(f"raises {type(problem).__name__} when an instance is made", location_of(cls))
    fields = Fields(cls, _state_of(instance))
    assert fields.initial is not None
    for name, value in fields.initial.items():
        kind = constant_type(value)
        fields.types[name] = kind
        if not kind.is_known:
            reason_text = f"keeps a {type(value).__name__} in `self.{name}`"
            fields.problems[name] = Refusal(reason_text, _assignment(cls, name) or location_of(cls))
    return fields


def _why_not_made(factory: Callable[[], Any], methods: Mapping[str, tuple[Type, ...]]) -> Refusal | None:
    inputs: dict[str, Schema | None] = {}
    for name, kinds in methods.items():
        if name in _AT_ENDS:
            continue
        named = kinds[0].named if kinds else None
        try:
            inputs[name] = schema_of(named) if named is not None else None
        except BuildError as problem:
            return Refusal(f"takes tuples that are not understood: {problem}", location_of(factory))
    findings = shared_effects(factory, inputs)
    if findings.declared is not None and findings.declared.state is not None:
        return Refusal("is declared to keep to itself, which is not known", location_of(factory))
    if findings.shared:
        return Refusal(f"does not keep to itself: {findings.shared[0].text}", findings.shared[0].location)
    return None


def _state_of(instance: Any) -> dict[str, Any]:
    state = dict(getattr(instance, "__dict__", {}))
    for base in reversed(type(instance).__mro__):
        names = vars(base).get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if name not in ("__dict__", "__weakref__") and hasattr(instance, name):
                state[name] = getattr(instance, name)
    return state


def _assignment(cls: type, name: str) -> Location | None:
    """Where `__init__` assigns an attribute of the instance."""
    for base in cls.__mro__:
        member = vars(base).get("__init__")
        home = home_of(member) if isinstance(member, FunctionType) else None
        if home is None or home.text is None:
            continue
        for node in ast.walk(home.node):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and home.mangled(node.attr) == name:
                return Location(home.file, node.lineno)
    return None
