"""`isinstance`, `issubclass` and class patterns: whom they ask whether an object counts as one of a class."""

from __future__ import annotations

import abc
import ast
import types
from typing import Any

from anabranch.analysis.modules import namespace_of
from anabranch.analysis.protocols import class_of, touch
from anabranch.analysis.reflection import may_use_later
from anabranch.analysis.run import Args, Frame, Run
from anabranch.analysis.special_methods import user_method
from anabranch.analysis.values import BOOL, NOTHING, Atom, Const, Obj, Tup, Value, join


def call_instance_check(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    """isinstance, issubclass."""
    subject = args.positional[0] if args.positional else (args.more or NOTHING)
    ask_for_instances(run, frame, subject, join(args.positional[1:]) | (args.more or NOTHING), node)
    return BOOL


def ask_for_instances(run: Run, frame: Frame, subject: Value, classes: Value, node: ast.AST) -> None:
    asked = run.heap.reachable(classes)
    mind_the_room(run, frame, classes, node)
    touch(run, frame, frozenset(t for t in asked if not isinstance(t, Atom)), node, asked | subject)
    run.load(frame, frozenset(t for t in subject if class_of(t) is not None), "__class__", node)
    for thing in asked:
        if not isinstance(thing, Const):
            continue
        for cls in _classes_in(thing.object):
            if isinstance(cls, abc.ABCMeta) and may_use_later(namespace_of(frame.home.namespace), "register"):
                run.share(frame, node, f"asks `{cls.__name__}`, with which a function may register more classes")
            hook = _user_hook(cls)
            if hook is not None:
                run.share(frame, node, f"asks `{hook.__name__}.__subclasshook__`, which cannot be followed")
            for name in getattr(cls, "__protocol_attrs__", ()) or _attributes_of_protocol(cls):
                # A protocol that can be checked looks whether the object has them, which may run a property.
                for each in subject:
                    if isinstance(each, Obj | Tup | Const) and class_of(each) is not None and _has(each, name):
                        run.load(frame, frozenset({each}), name, node)


def mind_the_room(run: Run, frame: Frame, classes: Value, node: ast.AST) -> None:
    """Who waits for these errors goes as deep, or takes as much memory, as this very process has room for."""
    for thing in run.heap.reachable(classes):
        for cls in _classes_in(thing.object) if isinstance(thing, Const) else ():
            if cls in (RecursionError, MemoryError):
                run.share(frame, node, f"waits for a {cls.__name__}, which comes sooner or later in another process")


def _has(thing: Obj | Tup | Const, name: str) -> bool:
    cls = class_of(thing)
    return cls is not None and any(name in vars(base) for base in cls.__mro__)


def _classes_in(held: Any) -> list[type]:
    if isinstance(held, type):
        return [held]
    if isinstance(held, types.UnionType | tuple):
        parts = held.__args__ if isinstance(held, types.UnionType) else held
        return [cls for part in parts for cls in _classes_in(part)]
    return []


def _user_hook(cls: type) -> type | None:
    """The class, or one derived from it, that says itself what counts as derived: abstract ones ask all of those."""
    waiting = [cls]
    seen: list[type] = []
    while waiting:
        each = waiting.pop()
        if any(each is other for other in seen):
            continue
        seen.append(each)
        if user_method(each, "__subclasshook__") is not None:
            return each
        if type(each) is not type:
            waiting += type.__subclasses__(each)
    return None


def _attributes_of_protocol(cls: type) -> list[str]:
    if not vars(cls).get("_is_protocol", False):
        return []
    return sorted({name for base in cls.__mro__ for name in vars(base) if not name.startswith("_")})
