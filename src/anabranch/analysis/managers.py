"""`with`: what entering and leaving a context manager does."""

from __future__ import annotations

import ast
import contextlib
import io

from anabranch.analysis import arithmetic
from anabranch.analysis.calls import GeneratorManager
from anabranch.analysis.protocols import class_of
from anabranch.analysis.run import Args, Frame, Run
from anabranch.analysis.special_methods import user_method
from anabranch.analysis.state import shown
from anabranch.analysis.values import (
    NONE,
    NOTHING,
    PLAIN_ATOM,
    UNKNOWN,
    Bound,
    Const,
    Obj,
    Thing,
    Unknown,
    Value,
    join,
    one,
)


def enter(run: Run, frame: Frame, value: Value, node: ast.AST) -> Value:
    return join(_enter_one(run, frame, thing, node) for thing in value)


def _enter_one(run: Run, frame: Frame, thing: Thing, node: ast.AST) -> Value:
    match thing:
        case Unknown():
            return UNKNOWN
        case Obj(site=site, type=kind) if kind in (GeneratorManager, contextlib.nullcontext):
            return run.heap.held(site) or NONE
        case Obj(site=site, type=contextlib.closing):
            held = run.heap.held(site)
            run.call(frame, run.load(frame, held, "close", node), Args(), node)
            return held
        case Obj(type=contextlib.suppress):
            return NONE
        case Obj(type=kind) if kind in (io.StringIO, io.BytesIO):
            return one(thing)
    cls = class_of(thing)
    if cls is None:
        return run.unknown(frame, node, f"enters {shown(node)}, which is not known to be free of effects")
    entered: Value = NOTHING
    start, end = user_method(cls, "__enter__"), user_method(cls, "__exit__")
    if start is None or end is None:
        return run.unknown(frame, node, f"enters {shown(node)}, which cannot be followed")
    entered |= run.call(frame, one(Bound(Const(start), thing)), Args(), node)
    given = NONE | PLAIN_ATOM
    left = run.call(frame, one(Bound(Const(end), thing)), Args((given, given, given)), node)
    arithmetic.truth(run, frame, left, node)
    return entered
