"""`x.name`, as Python looks attributes up, for every kind of thing."""

from __future__ import annotations

import ast
import dataclasses
import functools
import types

from anabranch.analysis.existing import of_const
from anabranch.analysis.genuine import is_own_class
from anabranch.analysis.lifting import is_made_by_named_tuple, is_named_tuple_class, is_user_class
from anabranch.analysis.lookup import (
    MISSING,
    NAMES,
    is_data_descriptor,
    of_builtin,
    of_class_member,
    static,
)
from anabranch.analysis.protocols import refuse_unknown_methods
from anabranch.analysis.run import Frame, Run
from anabranch.analysis.special_methods import is_definitely_generated, user_method
from anabranch.analysis.state import shown
from anabranch.analysis.values import (
    NOTHING,
    STR,
    UNKNOWN,
    Atom,
    Bound,
    Const,
    Fun,
    Method,
    Obj,
    Partial,
    Super,
    Thing,
    Tup,
    Unknown,
    Value,
    one,
)


def load(run: Run, frame: Frame, value: Value, name: str, node: ast.AST) -> Value:
    if name == "__hash__":
        run.share(frame, node, f"uses {shown(node)}, which differs from process to process")
    result: Value = NOTHING
    for thing in value:
        result |= _load_one(run, frame, thing, name, node)
    return result


def _load_one(run: Run, frame: Frame, thing: Thing, name: str, node: ast.AST) -> Value:
    match thing:
        case Atom(type=kind):
            return of_builtin(run, frame, thing, kind, name, node)
        case Tup(type=kind):
            return _of_tuple(run, frame, thing, kind, name, node)
        case Obj(type=kind):
            if is_user_class(kind):
                return _of_instance(run, frame, thing, kind, name, node)
            return of_builtin(run, frame, thing, kind, name, node)
        case Const(object=held):
            return of_const(run, frame, thing, held, name, node)
        case Super(type=after, receiver=receiver):
            return _of_super(run, frame, after, receiver, name, node)
        case Unknown():
            return UNKNOWN
        case Bound(function=function, receiver=receiver) if name in ("__func__", "__self__"):
            return one(function if name == "__func__" else receiver)
        case Fun() | Bound() | Method() | Partial():
            if name in NAMES:
                return STR
            return run.unknown(frame, node, f"uses `{name}` of a function, which cannot be followed")


def _of_tuple(run: Run, frame: Frame, thing: Tup, kind: type, name: str, node: ast.AST) -> Value:
    if not is_named_tuple_class(kind):
        return of_builtin(run, frame, thing, kind, name, node)
    refuse_unknown_methods(run, frame, kind, node)
    if user_method(kind, "__getattribute__") or user_method(kind, "__getattr__"):
        return run.unknown(frame, node, f"reads an attribute of `{kind.__name__}`, which defines how that is done")
    fields: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]  # a NamedTuple
    _, found = static(kind, name)
    if name in fields and type(found).__name__ == "_tuplegetter":
        position = fields.index(name)
        return thing.items[position] if position < len(thing.items) else NOTHING
    if name in ("_fields", "__match_args__"):
        return one(Tup(tuple, tuple(STR for _ in fields)))
    if name in ("_field_defaults", "__class__"):
        return of_builtin(run, frame, thing, kind, name, node)
    if name in ("_replace", "_asdict", "_make", "count", "index") and is_made_by_named_tuple(kind, name):
        return of_builtin(run, frame, thing, kind, name, node)
    return of_class_member(run, frame, thing, kind, name, node)


def _of_instance(run: Run, frame: Frame, thing: Obj, cls: type, name: str, node: ast.AST) -> Value:
    refuse_unknown_methods(run, frame, cls, node)
    if user_method(cls, "__getattribute__") or user_method(cls, "__getattr__"):
        return run.unknown(frame, node, f"reads an attribute of `{cls.__name__}`, which defines how that is done")
    if name == "__class__":
        return one(Const(cls))
    if name == "__dict__":
        return run.unknown(frame, node, "uses `__dict__`, through which anything can be changed", "name the attribute")
    _, found = static(cls, name)
    if is_data_descriptor(found):
        return of_class_member(run, frame, thing, cls, name, node)
    own = run.heap.attribute(thing.site, name)
    if found is MISSING:
        if not own and name not in run.heap.attributes(thing.site):
            return run.unknown(frame, node, f"reads `{name}`, which `{cls.__name__}` is not known to have")
        return own
    is_own_for_certain = name in run.definite and thing.site.label == "self"
    if own and (is_own_for_certain or name in _assigned_by_construction(cls)):
        return own
    return own | of_class_member(run, frame, thing, cls, name, node)


@functools.cache
def _assigned_by_construction(cls: type) -> frozenset[str]:
    """The fields that a generated __init__ assigns on every path."""
    if not dataclasses.is_dataclass(cls):
        return frozenset()
    base, found = static(cls, "__init__")
    if base is not None and isinstance(found, types.FunctionType) and is_definitely_generated(base, "__init__", found):
        return frozenset(f.name for f in dataclasses.fields(cls))
    return frozenset()


def _of_super(run: Run, frame: Frame, after: type, receiver: Thing, name: str, node: ast.AST) -> Value:
    match receiver:
        case Obj(type=cls):
            order = cls.__mro__
        case Const(object=held):
            order = held.__mro__ if isinstance(held, type) else type(held).__mro__
        case _:
            return run.unknown(frame, node, "uses super(), which cannot be followed here")
    rest = order[order.index(after) + 1 :] if after in order else ()
    for base in rest:
        if name in vars(base):
            found = vars(base)[name]
            if isinstance(found, types.FunctionType):
                return one(Bound(Const(found), receiver))
            if isinstance(found, classmethod):
                cls_ = receiver if isinstance(receiver, Const) else Const(order[0])
                return one(Bound(Const(found.__func__), cls_))
            if isinstance(found, staticmethod):
                return one(Const(found.__func__))
            if is_own_class(base):
                return one(Method(receiver, name, base))
            return run.unknown(frame, node, f"reads `super().{name}`, which cannot be followed")
    return NOTHING
