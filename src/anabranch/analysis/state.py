"""What outlives the call: changes of objects that others can see, and dependence on objects that others change."""

from __future__ import annotations

import ast
import enum
import re
import types
from functools import cache
from typing import Any

from anabranch.analysis import constancy
from anabranch.analysis.copies import mind_copies
from anabranch.analysis.counts import ANY
from anabranch.analysis.lifting import CONTAINERS, READABLE, is_array, is_user_class, members
from anabranch.analysis.methods import STEADY_HASHES, DictItems, DictKeys, DictValues
from anabranch.analysis.origins import (
    ClassAttribute,
    Default,
    Given,
    GlobalName,
    Inside,
    InstanceAttribute,
    Origin,
    Variable,
)
from anabranch.analysis.patching import changed_library
from anabranch.analysis.run import Args, Frame, Run
from anabranch.analysis.shapes import is_judged_by_attributes
from anabranch.analysis.special_methods import user_method
from anabranch.analysis.values import (
    INT,
    NOTHING,
    PLAIN_ATOM,
    SAID_BY_ERRORS,
    STR,
    UNKNOWN,
    Atom,
    Bound,
    Const,
    Obj,
    Place,
    Plain,
    Site,
    Stream,
    Thing,
    Tup,
    Unknown,
    Value,
    join,
    one,
)

ITERATORS: tuple[type, ...] = (Stream, types.GeneratorType)
_NOT_HELD = ("default_factory", "<returned>", "<sent>")  # kept with the object, but not among its elements
_DECLARE = '@ab.declare(state="stateless", because="…") says that it is safe'


@cache
def shown(node: ast.AST) -> str:
    """Code as it may stand in a message."""
    try:
        text = ast.unparse(node)
    except (AttributeError, ValueError, RecursionError):
        return "an object"
    return f"`{text}`" if len(text) <= 48 else f"`{text[:45]}…`"


# Changes --------------------------------------------------------------------------------------------------------


def change(run: Run, frame: Frame, value: Value, node: ast.AST, what: str | None) -> None:
    for thing in value:
        match thing:
            case Obj(site=Site(place=Place.FRESH) as site):
                run.heap.note_write(site)
                run.heap.set_count(site, ANY)
            case Obj(site=Site(place=Place.OWN) as site):
                run.heap.note_write(site)
                run.heap.set_count(site, ANY)
                run.keep(frame, node, f"changes {what or shown(node)}, which its instance keeps")
            case Obj(site=Site(place=Place.INPUT, label=label)):
                name = what or shown(node)
                run.changed_inputs.add(re.split(r"[.\[]", str(label))[0])
                run.share(
                    frame,
                    node,
                    f"changes {name}, which belongs to its input",
                    f"copy it first: list({name.strip('`')})",
                )
            case Const(origin=origin):
                run.share(frame, node, f"changes {_described(thing, what, node)}", _hint_for_change(origin))
            case _:
                pass  # immutable, so the attempt is an error; or made of what is reported elsewhere


def _described(const: Const, what: str | None, node: ast.AST) -> str:
    if const.origin is not None:
        return str(const.origin)
    kind = type(const.object)
    name = getattr(const.object, "__name__", None)
    return f"`{name}`" if name else what or f"an object of type `{kind.__name__}` ({shown(node)})"


def _hint_for_change(origin: Origin | None) -> str | None:
    match origin.origin if isinstance(origin, Inside) else origin:
        case ClassAttribute(name=name):
            return f"assign it in __init__ (self.{name} = …), so that each instance has its own, and use key="
        case Default(name=name):
            return f"use {name}=None and make it inside, or keep it in `self` of an operator class with key="
        case GlobalName(name=name) | Variable(name=name):
            return f"move `{name}` into __init__ of an operator class (self.{name} = …) and use key="
        case InstanceAttribute() | Given():
            return "make it an operator class and use key=, so that each key has an instance of its own"
        case _:
            return None


# Reads ----------------------------------------------------------------------------------------------------------


_FILL_ONCE = "fill it once where it is made and only read it afterwards, or pass what is needed as attributes"
_UNCHANGING_BASES = (str, bytes, int, float, complex)


def read(run: Run, frame: Frame, value: Value, node: ast.AST) -> None:
    """What the things themselves hold is looked at."""
    for thing in value:
        if isinstance(thing, Const):
            _read_const(run, frame, thing, node)


def _read_const(run: Run, frame: Frame, const: Const, node: ast.AST) -> None:
    held = const.object
    if not isinstance(held, type | enum.Enum | types.ModuleType) and is_user_class(type(held)):
        mind_copies(run, frame, type(held), node)
    if isinstance(held, enum.Enum) and not isinstance(held.value, _UNCHANGING_BASES) and _is_container(held):
        run.share(frame, node, f"reads `{type(held).__name__}.{held.name}`, a member that can be changed")
    if _is_definitely_unchanging(held):
        return
    if hasattr(type(held), "__next__"):
        change(run, frame, one(const), node, None)
    elif type(held) in READABLE or is_array(held):
        problem = constancy.why_changing(const.origin, held)
        if problem is None and is_array(held):
            problem = changed_library(type(held), frame.home.namespace)
        if problem is not None:
            run.share(
                frame, node, f"reads {const.origin or 'an object of unknown origin'}, which {problem}", _FILL_ONCE
            )
    elif not is_user_class(type(held)):
        run.share(
            frame, node, f"uses {_described(const, None, node)}, whose type is not known to be immutable", _DECLARE
        )
    elif not is_judged_by_attributes(type(held)) and not isinstance(held, _UNCHANGING_BASES):
        # A class derived from a list, say: besides its attributes it has what the list holds.
        problem = constancy.why_changing(const.origin, held)
        if problem is not None:
            run.share(
                frame, node, f"reads {const.origin or 'an object of unknown origin'}, which {problem}", _FILL_ONCE
            )
    # The attributes of a user's instance are judged one by one, when they are loaded.


def _is_container(held: Any) -> bool:
    return hasattr(type(held), "__setitem__") or hasattr(type(held), "add") or hasattr(type(held), "append")


def _is_definitely_unchanging(held: Any) -> bool:
    if isinstance(held, type | enum.Enum | frozenset | tuple | types.ModuleType):
        return True
    if type(held) is object:
        return True  # a sentinel
    return isinstance(
        held,
        types.FunctionType
        | types.BuiltinFunctionType
        | types.MethodDescriptorType
        | types.WrapperDescriptorType
        | types.ClassMethodDescriptorType
        | types.GenericAlias
        | types.MethodType,
    )


def may_be_said(run: Run, value: Value) -> None:
    """The library gets these values, and its errors may show them: a key that is missing, say."""
    run.heap.bind(SAID_BY_ERRORS, frozenset(thing for thing in value if not isinstance(thing, Atom)))


# Iteration ------------------------------------------------------------------------------------------------------


def iterate(run: Run, frame: Frame, value: Value, node: ast.AST) -> Value:
    return join(_elements(run, frame, thing, node) for thing in value)


def drain(run: Run, frame: Frame, value: Value, node: ast.AST) -> Value:
    """All elements are passed on: as iterating, but what is made for this alone keeps its known number of elements."""
    made = frozenset(t for t in value if isinstance(t, Obj) and t.type in ITERATORS and t.site.place is Place.FRESH)
    return join(run.heap.held(t.site) for t in made if isinstance(t, Obj)) | iterate(run, frame, value - made, node)


def iterate_if_possible(run: Run, frame: Frame, value: Value, node: ast.AST) -> Value:
    """The elements of those things that are containers or iterators; the others are left alone."""
    result: Value = NOTHING
    for thing in value:
        match thing:
            case Obj(type=kind) if not is_user_class(kind) or _special_method(kind, "__iter__"):
                result |= _elements(run, frame, thing, node)
            case Const(object=held) if type(held) in CONTAINERS or hasattr(type(held), "__next__"):
                result |= _elements(run, frame, thing, node)
            case Tup():
                result |= _elements(run, frame, thing, node)
            case _:
                pass
    return result


def _elements(run: Run, frame: Frame, thing: Thing, node: ast.AST) -> Value:
    match thing:
        case Atom(type=kind):
            return _elements_of_atom(kind)
        case Tup(items=items):
            return join(items)
        case Obj(site=site, type=kind):
            if is_user_class(kind) and not isinstance(kind, enum.EnumType) and kind not in (Plain, Stream):
                return _elements_of_instance(run, frame, thing, node)
            if kind in ITERATORS or hasattr(kind, "__next__"):
                change(run, frame, one(thing), node, None)
            if issubclass(kind, set | frozenset):
                mind_the_order(run, frame, thing, node)
            return run.heap.held(site)
        case Const(object=held):
            read(run, frame, one(thing), node)
            if isinstance(held, set | frozenset):
                mind_the_order(run, frame, thing, node)
            if is_user_class(type(held)):
                return _elements_of_instance(run, frame, thing, node)
            if isinstance(held, dict):
                return members(thing, values=False)
            if type(held) in CONTAINERS or is_array(held) or isinstance(held, enum.EnumType | tuple):
                return members(thing)
            return UNKNOWN
        case Unknown():
            return UNKNOWN
        case _:
            return NOTHING  # functions cannot be iterated


def _elements_of_atom(kind: type) -> Value:
    if kind is str:
        return STR
    if kind in (bytes, range):
        return INT
    if kind in (int, float, bool, type(None), complex):
        return NOTHING
    return PLAIN_ATOM


def _elements_of_instance(run: Run, frame: Frame, thing: Obj | Const, node: ast.AST) -> Value:
    kind = thing.type if isinstance(thing, Obj) else type(thing.object)
    for hint in ("__len__", "__length_hint__"):
        sized = user_method(kind, hint)
        if sized is not None:
            run.call(frame, one(Bound(Const(sized), thing)), Args(), node)
    method = _special_method(kind, "__iter__")
    if method is None:
        if issubclass(kind, CONTAINERS):
            if issubclass(kind, set | frozenset):
                mind_the_order(run, frame, thing, node)
            return run.heap.held(thing.site) if isinstance(thing, Obj) else members(thing, values=False)
        getter = _special_method(kind, "__getitem__")
        if getter is None:
            return run.unknown(frame, node, f"iterates over a `{kind.__name__}`, which cannot be followed")
        return run.call(frame, one(Bound(Const(getter), thing)), Args((INT,)), node)
    found = run.call(frame, one(Bound(Const(method), thing)), Args(), node)
    result: Value = NOTHING
    for iterator in found:
        inner = iterator.type if isinstance(iterator, Obj) else type(getattr(iterator, "object", None))
        step = _special_method(inner, "__next__")
        hint_method = user_method(inner, "__length_hint__")
        if hint_method is not None:
            run.call(frame, one(Bound(Const(hint_method), iterator)), Args(), node)
        if step is not None:
            result |= run.call(frame, one(Bound(Const(step), iterator)), Args(), node)
        elif iterator != thing:
            result |= _elements(run, frame, iterator, node)
    return result


def _special_method(cls: type, name: str) -> types.FunctionType | None:
    """A special method that is written in Python, as the interpreter would look it up."""
    for base in cls.__mro__:
        if name in vars(base):
            found = vars(base)[name]
            return found if isinstance(found, types.FunctionType) else None
    return None


def mind_the_order(run: Run, frame: Frame, thing: Obj | Const, node: ast.AST) -> None:
    """Strings hash differently in every process, so a set of them has no order to rely on."""
    if isinstance(thing, Obj):
        is_own = thing.site.place is Place.OWN
        elements = run.heap.held(thing.site)
    else:
        is_own, elements = False, members(thing)
    # A set that is saved and restored may come back in another order even if its elements hash the same.
    is_steady = not is_own and all(has_definitely_a_steady_hash(element) for element in elements)
    if frame.in_any_order:
        frame.orders_lost += not is_steady
    elif not is_steady:
        run.share(
            frame,
            node,
            f"depends on the order of a set ({shown(node)}), which differs from process to process",
            "sort it first: sorted(…)",
        )


def has_definitely_a_steady_hash(thing: Thing) -> bool:
    match thing:
        case Atom(type=kind):
            return kind in STEADY_HASHES
        case Tup(type=kind, items=items):
            return not is_user_class(kind) and all(has_definitely_a_steady_hash(part) for i in items for part in i)
        case _:
            return False


def spread(run: Run, frame: Frame, value: Value, node: ast.AST) -> Value:
    """What `**value` gives: keys and values together."""
    read(run, frame, value, node)
    run.load(frame, frozenset(t for t in value if _is_of_user_class(t)), "keys", node)
    for thing in value:
        kind = thing.type if isinstance(thing, Obj) else type(getattr(thing, "object", {}))
        if (
            is_user_class(kind)
            and issubclass(kind, dict)
            and not any(_special_method(kind, name) for name in ("__getitem__", "__iter__", "keys"))
        ):
            continue
        if is_user_class(kind):
            run.share(frame, node, f"spreads a `{kind.__name__}`, whose methods say what it holds")
    return join(held_by(run, thing) for thing in value)


def _is_of_user_class(thing: Thing) -> bool:
    kind = thing.type if isinstance(thing, Obj) else type(thing.object) if isinstance(thing, Const) else None
    return kind is not None and is_user_class(kind)


def held_by(run: Run, thing: Thing) -> Value:
    """What a container holds, without looking at order or constancy."""
    match thing:
        case Tup(items=items):
            return join(items)
        case Obj(site=site):
            named = [v for name, v in run.heap.attributes(site).items() if name not in _NOT_HELD]
            return run.heap.held(site) | join(named)
        case Const():
            return members(thing) if type(thing.object) in CONTAINERS else NOTHING
        case Atom(type=kind):
            return _elements_of_atom(kind)
        case Unknown():
            return UNKNOWN
        case _:
            return NOTHING


VIEWS = (DictKeys, DictValues, DictItems)
