"""Functions of functools, operator, copy, dataclasses and typing that need a rule of their own."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import io
import operator
import re
from collections.abc import Callable
from typing import Any

from anabranch.analysis import arithmetic
from anabranch.analysis.builtin_containers import first
from anabranch.analysis.lifting import CONTAINERS, is_user_class
from anabranch.analysis.making import call_pure, fresh_data
from anabranch.analysis.protocols import class_of, holds_objects, touch
from anabranch.analysis.purity import CsvWriter, Pure
from anabranch.analysis.run import Args, Frame, Handler, Run
from anabranch.analysis.state import held_by, shown
from anabranch.analysis.values import (
    NOTHING,
    STR,
    Atom,
    Const,
    Fun,
    Obj,
    Partial,
    Tup,
    Unknown,
    Value,
    join,
    one,
    without_sources,
)


def make_partial(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    if args.more is not None or args.more_keywords is not None or not args.positional:
        return run.unknown(frame, node, "uses functools.partial with arguments that cannot be followed")
    return one(Partial(args.positional[0], args.positional[1:], args.keywords))


def make_comparison_key(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    return one(Partial(first(args), (), ()))


def call_reduce(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    if len(args.positional) < 2:
        return run.unknown(frame, node, "uses functools.reduce with arguments that cannot be followed")
    elements = run.iterate(frame, args.positional[1], node)
    result = elements | join(args.positional[2:])
    for _ in range(8):
        after = run.narrowed(result | run.call(frame, args.positional[0], Args((result, elements)), node), node)
        if after == result:
            return result
        result = after
    return run.unknown(frame, node, "uses functools.reduce in a way that cannot be followed")


def call_cast(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    return join(args.positional[1:]) | (args.keyword("val") or NOTHING)


def call_copy(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    result: Value = NOTHING
    for thing in first(args):
        match thing:
            case Atom() | Tup() | Unknown():
                result |= one(thing)
            case Obj(type=kind) if not is_user_class(kind):
                result |= run.make(kind, node, held_by(run, thing))
            case Const(object=held) if type(held) in CONTAINERS:
                run.read(frame, one(thing), node)
                result |= run.make(type(held), node, held_by(run, thing))
            case _:
                result |= run.unknown(frame, node, f"copies {shown(node)}, whose type defines how that is done")
    return result


def call_deep_copy(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    result: Value = NOTHING
    touch(run, frame, first(args), node)
    for thing in first(args):
        inside = run.heap.reachable(one(thing))
        has_instances = any(
            (isinstance(t, Obj) and is_user_class(t.type))
            or (isinstance(t, Const) and (type(t.object) not in CONTAINERS or holds_objects(t.object)))
            or isinstance(t, Unknown)
            for t in inside
        )
        match thing:
            case Atom():
                result |= one(thing)
            case _ if has_instances:
                result |= run.unknown(frame, node, f"copies {shown(node)}, whose parts define how that is done")
            case Obj(type=kind):
                result |= fresh_data(run, node) | run.make(kind, (node, kind), fresh_data(run, node))
            case Const(object=held):
                result |= run.make(type(held), (node, "copy"), fresh_data(run, node))
            case _:
                result |= fresh_data(run, node)
    return result


def call_replace(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    """dataclasses.replace: a new instance with some fields exchanged."""
    result: Value = NOTHING
    for thing in first(args):
        cls = thing.type if isinstance(thing, Obj) else type(getattr(thing, "object", None))
        if not dataclasses.is_dataclass(cls):
            result |= run.unknown(frame, node, f"uses dataclasses.replace on {shown(node)}, which cannot be followed")
            continue
        given = dict(args.keywords)
        fields = [f.name for f in dataclasses.fields(cls) if f.init]
        filled = tuple(
            (name, given[name] if name in given else run.load(frame, one(thing), name, node)) for name in fields
        )
        result |= run.construct(frame, cls, Args((), filled), node)
    return result


def call_as_data(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    if args.keywords or len(args.positional) != 1:
        return run.unknown(frame, node, f"calls {shown(node)} with a factory, which cannot be followed")
    touch(run, frame, first(args), node)
    inside = without_sources(run.heap.reachable(first(args)))
    return fresh_data(run, node, frozenset(t for t in inside if isinstance(t, Atom)))


def call_fields(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    """`dataclasses.fields(x)`: the descriptions of the fields, which belong to the class."""
    result: Value = NOTHING
    for thing in first(args):
        cls = thing.object if isinstance(thing, Const) and isinstance(thing.object, type) else class_of(thing)
        if cls is None or not dataclasses.is_dataclass(cls):
            return run.unknown(frame, node, f"calls {shown(node)}, which cannot be followed")
        result |= one(Tup(tuple, tuple(one(Const(field)) for field in dataclasses.fields(cls))))
    return result


def call_find_all(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    """`re.findall`: texts, where the pattern is seen to have no more than one group."""
    result = call_pure(run, frame, re.findall, Pure(), args, node)
    match node:
        case ast.Call(args=[ast.Constant(value=str(pattern)), _], keywords=[]):
            with contextlib.suppress(re.error):
                if re.compile(pattern).groups <= 1:
                    return run.make(list, (node, "found"), STR)
    return result


def by_operator(op: ast.operator) -> Handler:
    def apply(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
        if len(args.positional) != 2:
            return run.unknown(frame, node, f"uses {shown(node)}, which cannot be followed")
        return arithmetic.binary(run, frame, op, args.positional[0], args.positional[1], node)

    return apply


def by_identity(op: ast.cmpop) -> Handler:
    def apply(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
        if len(args.positional) != 2:
            return run.unknown(frame, node, f"uses {shown(node)}, which cannot be followed")
        return arithmetic.compare(run, frame, args.positional[0], op, args.positional[1], node)

    return apply


_getters: dict[tuple[str, str], ast.Lambda] = {}


def getter(kind: str, arguments: list[str], frame: Frame) -> Value:
    """attrgetter, itemgetter or methodcaller as the lambda it stands for."""
    if kind == "methodcaller":
        name, *rest = arguments
        body = f"_.{ast.literal_eval(name)}({', '.join(rest)})"
    else:
        parts = [f"_.{ast.literal_eval(a)}" if kind == "attrgetter" else f"_[{a}]" for a in arguments]
        body = parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
    node = _getters.get((kind, body))
    if node is None:
        parsed = ast.parse(f"lambda _: {body}", mode="eval").body
        assert isinstance(parsed, ast.Lambda)
        node = _getters[kind, body] = parsed
    return one(Fun(node, frame.home, ()))


def make_getter(kind: str) -> Handler:
    def make(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
        given = node.args if isinstance(node, ast.Call) else []
        if not given or not all(isinstance(a, ast.Constant) for a in given) or args.keywords:
            return run.unknown(frame, node, f"makes {shown(node)} with computed arguments", "use a lambda")
        return getter(kind, [ast.unparse(a) for a in given], frame)

    return make


def make_csv_writer(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    if not all(isinstance(thing, Obj) and thing.type in (io.StringIO, io.BytesIO) for thing in first(args)):
        return run.unknown(frame, node, f"calls {shown(node)}, which writes to what cannot be followed")
    return run.make(CsvWriter, node, first(args))


OPERATORS: dict[Callable[..., Any], ast.operator] = {
    operator.add: ast.Add(),
    operator.concat: ast.Add(),
    operator.sub: ast.Sub(),
    operator.mul: ast.Mult(),
    operator.truediv: ast.Div(),
    operator.floordiv: ast.FloorDiv(),
    operator.mod: ast.Mod(),
    operator.pow: ast.Pow(),
    operator.or_: ast.BitOr(),
    operator.and_: ast.BitAnd(),
    operator.xor: ast.BitXor(),
    operator.lshift: ast.LShift(),
    operator.rshift: ast.RShift(),
    operator.matmul: ast.MatMult(),
}
