"""`x[i]`, read and written."""

from __future__ import annotations

import ast
import collections
import enum
import types

from anabranch.analysis.lifting import CONTAINERS, is_array, members
from anabranch.analysis.protocols import class_of, element_of_class, special, touch, touch_keys
from anabranch.analysis.run import Args, Frame, Run
from anabranch.analysis.special_methods import user_method
from anabranch.analysis.state import held_by, shown
from anabranch.analysis.values import (
    INT,
    NOTHING,
    PLAIN_ATOM,
    UNKNOWN,
    Atom,
    Bound,
    Const,
    Obj,
    Plain,
    Thing,
    Tup,
    Unknown,
    Value,
    atom,
    one,
)


def load(run: Run, frame: Frame, value: Value, node: ast.Subscript) -> Value:
    index = run.evaluate(frame, node.slice)
    touch_keys(run, frame, value, index, node)
    result: Value = NOTHING
    for thing in value:
        result |= _load_one(run, frame, thing, index, node)
    return result


def _load_one(run: Run, frame: Frame, thing: Thing, index: Value, node: ast.Subscript) -> Value:
    made = special(run, frame, thing, "Subscript:load", Args((index,)), node)
    cls = class_of(thing)
    if made is not None and cls is not None and user_method(cls, "__getitem__") is not None:
        return made
    return (made or NOTHING) | _load_builtin(run, frame, thing, index, node)


def _load_builtin(run: Run, frame: Frame, thing: Thing, index: Value, node: ast.Subscript) -> Value:
    match thing:
        case Atom(type=kind):
            if kind is str:
                return atom(str)
            if kind is bytes:
                return atom(bytes) if isinstance(node.slice, ast.Slice) else INT
            return NOTHING if kind in (int, float, bool, type(None)) else PLAIN_ATOM
        case Tup(items=items):
            return _from_tuple(run, items, node)
        case Obj(type=kind):
            return _from_object(run, frame, thing, kind, index, node)
        case Const(object=held):
            return _from_const(run, frame, thing, held, index, node)
        case Unknown():
            return UNKNOWN
        case _:
            return NOTHING


def _from_tuple(run: Run, items: tuple[Value, ...], node: ast.Subscript) -> Value:
    match node.slice:
        case ast.Constant(value=int(position)):
            return items[position] if -len(items) <= position < len(items) else NOTHING
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(position))):
            return items[-position] if 0 < position <= len(items) else NOTHING
        case ast.Slice(lower=lower, upper=upper, step=step):
            bounds = [_constant(part) for part in (lower, upper, step)]
            if all(known for known, _ in bounds):
                return one(Tup(tuple, items[slice(*(number for _, number in bounds))]))
            return run.make(tuple, node, frozenset().union(*items))
        case _:
            # Which position it is remains open, so it is no longer the unchanged attribute of one.
            return frozenset().union(*items)


def _constant(node: ast.expr | None) -> tuple[bool, int | None]:
    match node:
        case None:
            return True, None
        case ast.Constant(value=int(number)):
            return True, number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
            return True, -number
        case _:
            return False, None


def _from_object(run: Run, frame: Frame, thing: Obj, kind: type, index: Value, node: ast.Subscript) -> Value:
    held = run.heap.held(thing.site)
    if issubclass(kind, collections.defaultdict):
        # Reading a missing key makes it.
        run.change(frame, one(thing), node, shown(node.value))
        made = run.call(frame, run.heap.attribute(thing.site, "default_factory"), Args(), node)
        run.heap.put(thing.site, made | index)
        return held | made
    if isinstance(node.slice, ast.Slice) and kind is not Plain:
        return run.make(kind, node, held)
    if kind is Plain:
        return held | one(thing) | PLAIN_ATOM  # a part of an array may be a view on it
    return held


def _from_const(run: Run, frame: Frame, const: Const, held: object, index: Value, node: ast.Subscript) -> Value:
    if isinstance(held, type):
        if isinstance(held, enum.EnumType):
            return members(const)
        meta = type(held)
        if user_method(meta, "__getattr__") is not None or user_method(meta, "__getattribute__") is not None:
            return run.unknown(frame, node, f"takes {shown(node)}, whose metaclass defines how that is done")
        method = element_of_class(held)
        if method is not None:
            return run.call(frame, one(Bound(Const(method), const)), Args((index,)), node)
        return one(const)  # list[int]: still the class, as far as calls go
    if isinstance(held, types.GenericAlias) or getattr(held, "__module__", "") == "typing":
        return PLAIN_ATOM
    if isinstance(held, collections.defaultdict):
        run.change(frame, one(const), node, shown(node.value))
    run.read(frame, one(const), node)
    if type(held) not in CONTAINERS and not is_array(held) and not isinstance(held, tuple):
        return run.unknown(frame, node, f"takes an element of {shown(node.value)}, which cannot be followed")
    inside = members(const, keys=False)
    if isinstance(node.slice, ast.Slice) and not is_array(held):
        return run.make(type(held), node, inside)
    return inside


def store(run: Run, frame: Frame, value: Value, index: Value, stored: Value, node: ast.Subscript) -> None:
    what = shown(node.value)
    for thing in value:
        if special(run, frame, thing, "Subscript:store", Args((index, stored)), node) is not None:
            continue
        touch_keys(run, frame, one(thing), index, node)
        if _is_array_like(thing):
            touch(run, frame, frozenset(t for t in stored if class_of(t) is not None), node)  # it converts what it gets
        run.change(frame, one(thing), node, what)
        if isinstance(thing, Obj):
            run.heap.put(thing.site, stored | index)
            if isinstance(node.slice, ast.Slice):
                run.heap.put(thing.site, run.iterate(frame, stored, node))
                for part in stored:
                    run.heap.put(thing.site, held_by(run, part))


def _is_array_like(thing: Thing) -> bool:
    return (isinstance(thing, Obj) and thing.type not in CONTAINERS) or (
        isinstance(thing, Const) and type(thing.object) not in CONTAINERS
    )


def delete(run: Run, frame: Frame, value: Value, index: Value, node: ast.Subscript) -> None:
    for thing in value:
        if special(run, frame, thing, "Subscript:delete", Args((index,)), node) is None:
            touch_keys(run, frame, one(thing), index, node)
            run.change(frame, one(thing), node, shown(node.value))
