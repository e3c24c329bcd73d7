"""Calls of functions under `functools.singledispatch`: any of those that are registered may answer."""

from __future__ import annotations

import ast
import functools
from types import FunctionType
from typing import Any

from anabranch.analysis.modules import namespace_of
from anabranch.analysis.reflection import may_use_later
from anabranch.analysis.run import Args, Frame, Run
from anabranch.analysis.values import Atom, Const, Obj, Plain, Stream, Thing, Tup, Value, join, one


def registered(function: FunctionType) -> dict[type, Any] | None:
    """All that a call may lead to, by the class it is registered for, if it is such a function."""
    if function.__code__.co_filename != functools.__file__ or function.__code__.co_name != "wrapper":
        return None
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    dispatch = cells["dispatch"].cell_contents if "dispatch" in cells else None
    if not isinstance(dispatch, FunctionType) or "registry" not in dispatch.__code__.co_freevars:
        return None
    inner = dict(zip(dispatch.__code__.co_freevars, dispatch.__closure__ or (), strict=True))
    return dict(inner["registry"].cell_contents)


def call_any(
    run: Run, frame: Frame, function: FunctionType, found: dict[type, Any], args: Args, node: ast.AST
) -> Value:
    if may_use_later(namespace_of(frame.home.namespace), "register"):
        name = getattr(function, "__name__", "a function")
        return run.unknown(frame, node, f"calls `{name}`, for which a function may register more")
    first, rest = join(args.positional[:1]), args.positional[1:]
    results = []
    for cls, each in found.items():
        taken = frozenset(thing for thing in first if _may_be(thing, cls))
        if taken or not args.positional:
            given = Args((taken, *rest), args.keywords, args.more, args.more_keywords) if args.positional else args
            results.append(run.call(frame, one(Const(each)), given, node))
    return join(results)


def _may_be(thing: Thing, cls: type) -> bool:
    """Whether a value may be an instance of a class; virtual subclasses are anything."""
    kind = thing.type if isinstance(thing, Atom | Tup | Obj) else None
    is_known = kind is not None and kind not in (Plain, Stream) and type(cls) is type
    return not is_known or kind is None or cls in kind.__mro__
