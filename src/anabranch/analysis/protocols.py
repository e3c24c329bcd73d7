"""Special methods: what builtin code calls on objects of the user's classes without being told to."""

from __future__ import annotations

import ast
import collections
import types
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Generic, Protocol

from anabranch.analysis.copies import mind_copies
from anabranch.analysis.genuine import is_own_class
from anabranch.analysis.instances import written_special_method
from anabranch.analysis.lifting import is_user_class
from anabranch.analysis.looking_inside import with_parts
from anabranch.analysis.methods import ATOM_TYPES
from anabranch.analysis.modules import is_library_function
from anabranch.analysis.origins import Origin, inside
from anabranch.analysis.per_class import PerClass
from anabranch.analysis.run import Args, Frame, Run
from anabranch.analysis.shapes import is_judged_by_attributes
from anabranch.analysis.special_methods import (
    BY_NAME,
    is_of_a_library,
    is_special,
    methods_called_by,
    unknown_special_method,
    user_method,
    user_methods,
)
from anabranch.analysis.state import ITERATORS, may_be_said, mind_the_order, shown
from anabranch.analysis.values import (
    NOTHING,
    PLAIN_ATOM,
    Atom,
    Bound,
    Const,
    Fun,
    Method,
    Obj,
    Partial,
    Place,
    Plain,
    Site,
    Super,
    Thing,
    Tup,
    Unknown,
    Value,
    atom,
    join,
    one,
    without_sources,
)
from anabranch.errors import Location

_MOST_TOUCHES = 12
_DEEPEST = 4
_COLLECTIONS = (list, dict, set, frozenset, tuple, deque)


def class_of(thing: Thing) -> type | None:
    """The class of an instance, where it is the user's."""
    match thing:
        case Obj(type=kind) | Tup(type=kind):
            return kind if is_user_class(kind) else None
        case Const(object=held) if not isinstance(held, types.FunctionType | types.ModuleType):
            # Of a class, this is its metaclass.
            return type(held) if is_user_class(type(held)) else None
        case _:
            return None


def touch(run: Run, frame: Frame, value: Value, node: ast.AST, beside: Value = NOTHING) -> Value:
    """Code of the library gets these values: it may look at all they hold, and use all their special methods.

    It may hand them what stands beside them, and do with what they give what it did with them. Given back is what
    such methods give.
    """
    others = run.heap.reachable(beside) | PLAIN_ATOM if beside else NOTHING
    given: Value = NOTHING
    seen: set[Thing] = set()
    waiting = value
    for _ in range(_MOST_TOUCHES):
        everything = with_parts(run, frame, with_members(run.heap.reachable(waiting)), node)
        classes = [thing.type for thing in seen if isinstance(thing, Obj)]
        new = frozenset(t for t in everything if t not in seen and not _is_another_of(run, t, classes))
        if not new:
            return given
        seen |= new
        waiting = join(_touch_one(run, frame, thing, frozenset(seen) | others, node) for thing in new)
        given |= waiting
    return run.unknown(frame, node, f"uses {shown(node)}, whose special methods are too involved to be followed")


def _is_another_of(run: Run, thing: Thing, classes: list[type]) -> bool:
    """Whether an object does what one of its class did already: it is new, and so is all that it holds."""
    if not isinstance(thing, Obj) or not any(thing.type is cls for cls in classes):
        return False
    inside = run.heap.reachable(one(thing))
    return all(isinstance(t, Atom) or (isinstance(t, Obj) and t.site.place is Place.FRESH) for t in inside)


def _touch_one(run: Run, frame: Frame, thing: Thing, others: Value, node: ast.AST) -> Value:
    match thing:
        case Const():
            run.read(frame, one(thing), node)
        case Obj(site=Site(place=place), type=kind) if place is not Place.FRESH and (
            kind in ITERATORS or (kind is not Plain and hasattr(kind, "__next__"))
        ):
            run.change(frame, one(thing), node)
        case _:
            pass
    cls = class_of(thing)
    functions: list[types.FunctionType] = []
    if isinstance(thing, Const) and isinstance(thing.object, type):
        getter = element_of_class(thing.object)
        functions += [getter] if getter is not None else []
    if cls is not None:
        refuse_unknown_methods(run, frame, cls, node)
        functions += [*user_methods(cls).values(), *_called_by_the_library(cls)]
    is_made_again = cls is not None and _is_made_again(cls)
    if not functions and not is_made_again:
        return NOTHING
    related = frozenset(t for t in others if not isinstance(t, Const | Fun) or class_of(t) is not None)
    results = join(run.call(frame, one(Bound(Const(f), thing)), Args(more=related), node) for f in functions)
    if cls is not None and is_made_again:
        results |= run.construct(frame, cls, Args(more=related), node)
    return frozenset(t for t in results if not isinstance(t, Atom | Unknown))


def touch_keys(run: Run, frame: Frame, containers: Value, searched: Value, node: ast.AST) -> None:
    """Something is looked up in containers: it is hashed, and compared with what stands there."""
    held = frozenset(
        part
        for thing in containers
        if isinstance(thing, Const) and isinstance(thing.object, dict | set | frozenset)
        for part in _user_objects(list(thing.object), thing.origin, _DEEPEST)
    )
    looked_up = frozenset(thing for thing in searched if not isinstance(thing, Atom))
    may_be_said(run, looked_up)
    touch(run, frame, looked_up | held, node, containers | searched)


@PerClass
def _is_made_again(cls: type) -> bool:
    """Operators, copies and sums of what is derived from a builtin type may make another object of the same class."""
    is_own = user_method(cls, "__init__") is not None or user_method(cls, "__new__") is not None
    return is_own and issubclass(cls, _PLAIN_BASES) and not issubclass(cls, BaseException)


def element_of_class(cls: type) -> types.FunctionType | None:
    """What a class says its elements are, if it or its metaclass does."""
    return user_method(cls, "__class_getitem__") or user_method(type(cls), "__class_getitem__")


@PerClass
def _called_by_the_library(cls: type) -> list[types.FunctionType]:
    """Methods under a name that the library looks for, or in place of one that a class of the library has."""
    names = list(BY_NAME)
    for base in cls.__mro__:
        if is_own_class(base) and not issubclass(base, _PLAIN_BASES) and base not in (object, Generic, Protocol):
            names += [name for name in vars(base) if not is_special(name)]
    return [
        found
        for name in dict.fromkeys(names)
        if isinstance(found := next((vars(b)[name] for b in cls.__mro__ if name in vars(b)), None), types.FunctionType)
        and not is_library_function(found)
    ]


# What these do does not go through methods that a class derived from them may have in their place.
_PLAIN_BASES = (list, dict, set, frozenset, tuple, str, bytes, int, float, complex, bytearray, deque, BaseException)


def with_members(value: Value) -> Value:
    """The things, and the user's objects in containers and instances that exist already."""
    found = set(value)
    for thing in value:
        if isinstance(thing, Const):
            found.update(_user_objects(_parts(thing.object), thing.origin, _DEEPEST))
    return frozenset(found)


def _parts(held: Any) -> Iterable[Any]:
    if isinstance(held, dict):
        return chain(dict.keys(held), dict.values(held))
    if isinstance(held, _COLLECTIONS):
        return list(held) if not is_user_class(type(held)) else ()
    if isinstance(held, type) or not is_user_class(type(held)):
        return ()
    return list(getattr(held, "__dict__", {}).values())


def _user_objects(parts: Iterable[Any], origin: Origin | None, depth: int) -> Iterator[Thing]:
    for part in parts:
        kind = type(part)
        if kind in ATOM_TYPES:
            continue
        if is_user_class(kind) and (user_methods(kind) or unknown_special_method(kind)):
            yield Const(part, inside(origin))
        if depth:
            yield from _user_objects(_parts(part), inside(origin), depth - 1)


def holds_objects(held: Any, depth: int = _DEEPEST) -> bool:
    """Whether there are instances or classes of the user's in a container that exists already."""
    return any(
        isinstance(part, type) or is_user_class(type(part)) or (depth > 0 and holds_objects(part, depth - 1))
        for part in _parts(held)
    )


def refuse_unknown_methods(run: Run, frame: Frame, cls: type, node: ast.AST) -> None:
    """An object of a class with special methods that cannot be followed may do anything."""
    unknown = unknown_special_method(cls)
    if unknown is not None:
        run.share(frame, node, f"uses a `{cls.__name__}`, whose {unknown} cannot be followed", "do without that method")
    written = _written(cls)
    if written is not None:
        name, where = written
        run.share(frame, node, f"uses a `{cls.__name__}`, whose `{name}` is assigned by a function ({where})")


@PerClass
def _written(cls: type) -> tuple[str, Location] | None:
    return written_special_method(cls)


def special(run: Run, frame: Frame, thing: Thing, construct: str, args: Args, node: ast.AST) -> Value | None:
    """What the special methods give that a construct calls, if the user wrote any; None where builtin ones apply."""
    cls = class_of(thing)
    if cls is None:
        return None
    refuse_unknown_methods(run, frame, cls, node)
    if isinstance(thing, Const):
        mind_copies(run, frame, cls, node)
    names = sorted(methods_called_by(construct))
    found = [method for name in names if (method := user_method(cls, name)) is not None]
    if any(is_of_a_library(cls, name) for name in names):
        # Such a method may in turn use whatever the user's class defines.
        given = touch(run, frame, one(thing), node, join(args.all))
        inner = run.heap.reachable(one(thing) | join(args.all))
        return given | run.make(Plain, (node, "of a library"), without_sources(inner) | PLAIN_ATOM)
    if not found:
        return None
    given = join(run.call(frame, one(Bound(Const(method), thing)), args, node) for method in found)
    return given - atom(type(NotImplemented))  # the interpreter asks the other side then, or raises


def call_back(run: Run, frame: Frame, value: Value, given: Value, node: ast.AST) -> Value:
    """Functions among the values are called, any number of times, with anything that was given."""
    functions = functions_in(value)
    return run.call(frame, functions, Args(more=given - functions), node) if functions else NOTHING


def functions_in(value: Value) -> Value:
    return frozenset(
        thing
        for thing in value
        if isinstance(thing, Fun | Bound | Method | Partial)
        or (isinstance(thing, Const) and callable(thing.object))
        or (isinstance(thing, Obj | Tup) and user_method(thing.type, "__call__") is not None)
    )


def turn_into_text(run: Run, frame: Frame, value: Value, node: ast.AST) -> None:
    """Some objects have no text of their own but their address, or an order that differs between processes."""
    said = {thing for thing in value if _says_its_text(run, frame, thing, node)}
    touch(run, frame, frozenset(t for t in value if not isinstance(t, Atom)) - said, node)
    for thing in run.heap.reachable(value):
        match thing:
            case Obj(type=kind) if issubclass(kind, set | frozenset):
                mind_the_order(run, frame, thing, node)
            case Obj(type=kind) if _has_default_text(kind):
                run.share(frame, node, f"makes a text of a `{kind.__name__}`, which contains its address")
            case Const(object=held, origin=origin):
                for part in _said_with(held):
                    if isinstance(part, set | frozenset):
                        mind_the_order(run, frame, Const(part, thing.origin if part is held else inside(origin)), node)
                    elif _has_default_text(type(part)):
                        run.share(frame, node, f"makes a text of a `{type(part).__name__}`, which contains its address")
            case Fun() | Bound() | Method() | Super() | Partial():
                run.share(frame, node, "makes a text of a function, which contains its address")
            case _:
                pass


def _said_with(held: Any) -> Iterator[Any]:
    """An object, and what stands in its text with it: what it contains, and the attributes of a data class."""
    seen: dict[int, Any] = {}
    waiting = [held]
    while waiting:
        part = waiting.pop()
        if type(part) in ATOM_TYPES or id(part) in seen:
            continue
        seen[id(part)] = part
        yield part
        inner = dict(part) if isinstance(part, types.MappingProxyType) else part
        waiting += _parts(inner)
        if isinstance(part, collections.defaultdict):
            waiting.append(part.default_factory)


def _says_its_text(run: Run, frame: Frame, thing: Thing, node: ast.AST) -> bool:
    """Whether the class alone says what its text is, so that nothing else of it is used."""
    cls = class_of(thing)
    is_plain = cls is not None and is_judged_by_attributes(cls) and user_method(cls, "__repr__") is not None
    return is_plain and special(run, frame, thing, "FormattedValue", Args(more=atom(str)), node) is not None


def _has_default_text(kind: type) -> bool:
    if kind in (Plain, type) or issubclass(kind, BaseException):
        return False
    if kind in ITERATORS or issubclass(kind, types.FunctionType | types.BuiltinFunctionType):
        return True
    return kind.__repr__ is object.__repr__ and kind.__str__ is object.__str__ and kind.__format__ is object.__format__
