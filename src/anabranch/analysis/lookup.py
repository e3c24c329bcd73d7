"""Attributes that types have: of builtin values, and of classes read through an instance."""

from __future__ import annotations

import ast
import functools
import types
from typing import Any

from anabranch.analysis import constancy
from anabranch.analysis.genuine import is_own_class
from anabranch.analysis.lifting import CONTAINERS
from anabranch.analysis.methods import ATOM_TYPES, is_known_method_of, is_known_method_of_plain, result_of
from anabranch.analysis.origins import ClassAttribute
from anabranch.analysis.run import Args, Frame, Run
from anabranch.analysis.special_methods import user_method
from anabranch.analysis.state import held_by
from anabranch.analysis.values import (
    NOTHING,
    PLAIN_ATOM,
    Atom,
    Bound,
    Const,
    Method,
    Obj,
    Plain,
    Thing,
    Tup,
    Value,
    atom,
    one,
)
from anabranch.analysis.words import words

MISSING = object()
# Attributes of arrays that are addresses or lead to others, the mapping behind its keys, what an error is about.
_LEADING_OUT = words(
    """ctypes data base __array_interface__ __array_struct__ __cuda_array_interface__ mapping obj object args
    __traceback__ __context__ __cause__ tb_frame f_locals f_globals"""
)
NAMES = frozenset({"__name__", "__qualname__", "__doc__", "__module__"})
_FUNCTION_KINDS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
)


def static(cls: type, name: str) -> tuple[type | None, Any]:
    """The class in the resolution order that has the attribute, and the attribute as it stands there."""
    for base in cls.__mro__:
        if name in vars(base):
            return base, vars(base)[name]
    return None, MISSING


# Builtin and library types --------------------------------------------------------------------------------------


def of_builtin(run: Run, frame: Frame, thing: Atom | Obj | Const | Tup, kind: type, name: str, node: ast.AST) -> Value:
    if kind is type(None):
        return NOTHING  # an error
    if name == "__class__":
        return one(Const(kind)) if kind is not Plain else PLAIN_ATOM
    if name == "__dict__":
        return run.unknown(frame, node, "uses `__dict__`, through which anything can be changed")
    if name in _LEADING_OUT:
        return run.unknown(frame, node, f"uses `{name}`, which leads to memory or to another object")
    if kind is Plain:
        if is_known_method_of_plain(name):
            return one(Method(thing, name, Plain))
        return part_of(run, thing)
    if is_known_method_of(kind, name):
        return one(Method(thing, name, kind))
    owner, found = static(kind, name)
    if owner is None:
        held = run.heap.attribute(thing.site, name) if isinstance(thing, Obj) else NOTHING
        return held if held or kind in ATOM_TYPES or kind in CONTAINERS else part_of(run, thing)
    if isinstance(found, (*_FUNCTION_KINDS, staticmethod, classmethod, types.ClassMethodDescriptorType)):
        return one(Method(thing, name, kind))
    spec = result_of(kind, name)
    if spec is not None and spec.makes is not Plain and isinstance(thing, Atom):
        return atom(spec.makes)
    return PLAIN_ATOM if isinstance(thing, Atom) else part_of(run, thing)


def part_of(run: Run, thing: Thing) -> Value:
    """Some attribute: a part of the object, or a view on it."""
    return PLAIN_ATOM if isinstance(thing, Atom) else held_by(run, thing) | one(thing) | PLAIN_ATOM


def is_data_descriptor(found: Any) -> bool:
    if isinstance(found, types.MemberDescriptorType):
        return False  # a slot: the value is on the instance
    return found is not MISSING and (hasattr(type(found), "__set__") or hasattr(type(found), "__delete__"))


def of_class_member(run: Run, frame: Frame, thing: Thing, cls: type, name: str, node: ast.AST) -> Value:
    """An attribute that the class has, read through an instance."""
    base, found = static(cls, name)
    if base is None:
        return NOTHING
    if is_own_class(base) and isinstance(found, (*_FUNCTION_KINDS, types.ClassMethodDescriptorType)):
        return one(Method(thing, name, base))
    if not is_own_class(base) and isinstance(found, types.FunctionType | staticmethod | classmethod | property):
        problem = constancy.why_rebound(ClassAttribute(base, name))
        if problem is not None:
            run.share(frame, node, f"uses `{base.__name__}.{name}`, which {problem}")
    match found:
        case types.FunctionType():
            return one(Bound(Const(found), thing))
        case staticmethod():
            return one(run.lift(found.__func__, ClassAttribute(cls, name)))
        case classmethod():
            return one(Bound(run.lift(found.__func__, None), Const(cls)))
        case property():
            if found.fget is None:
                return NOTHING
            return run.call(frame, one(run.lift(found.fget, None)), Args((one(thing),)), node)
        case functools.cached_property():
            run.change(frame, one(thing), node, f"`{name}`, which is computed once and kept")
            made = run.call(frame, one(run.lift(found.func, None)), Args((one(thing),)), node)
            if isinstance(thing, Obj):
                run.heap.put_attribute(thing.site, name, made)
            return made
        case types.MemberDescriptorType():
            return run.heap.attribute(thing.site, name) if isinstance(thing, Obj) else NOTHING
    getter = user_method(type(found), "__get__")
    if getter is not None:
        descriptor = Const(found, ClassAttribute(cls, name))
        return run.call(frame, one(Bound(Const(getter), descriptor)), Args((one(thing), one(Const(cls)))), node)
    if hasattr(type(found), "__get__"):
        if is_own_class(base):
            if isinstance(thing, Atom | Obj | Const | Tup):
                return of_builtin(run, frame, thing, base, name, node)
            return NOTHING
        return run.unknown(frame, node, f"reads `{name}`, whose `{type(found).__name__}` cannot be followed")
    return constant_of_class(run, frame, base, name, found, node)


def constant_of_class(run: Run, frame: Frame, cls: type, name: str, found: Any, node: ast.AST) -> Value:
    if is_own_class(cls):
        return one(run.lift(found, None))
    origin = ClassAttribute(cls, name)
    problem = constancy.why_rebound(origin)
    if problem is not None:
        run.share(
            frame, node, f"reads {origin}, which {problem}", f"assign it in __init__ (self.{name} = …) and use key="
        )
    return one(run.lift(found, origin))
