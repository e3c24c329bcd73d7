"""Builtin functions on numbers, texts, attributes and classes."""

from __future__ import annotations

import ast
import types

from anabranch.analysis import arithmetic
from anabranch.analysis.builtin_containers import first
from anabranch.analysis.lifting import is_user_class
from anabranch.analysis.lookup import static
from anabranch.analysis.making import fresh_data, look_at
from anabranch.analysis.protocols import class_of, refuse_unknown_methods, special, turn_into_text
from anabranch.analysis.run import Args, Frame, Handler, Run
from anabranch.analysis.special_methods import user_method
from anabranch.analysis.state import has_definitely_a_steady_hash, held_by, shown
from anabranch.analysis.values import (
    BOOL,
    INT,
    NONE,
    NOTHING,
    PLAIN_ATOM,
    STR,
    Atom,
    Const,
    Obj,
    Plain,
    Stream,
    Super,
    Thing,
    Tup,
    Value,
    atom,
    join,
    one,
    without_sources,
)


def call_number_function(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    """abs, round, divmod, pow."""
    given = join(args.all)
    if len(args.all) == 1 and given and all(arithmetic.is_plain(thing) for thing in given):
        said = [special(run, frame, thing, "abs", Args(), node) for thing in given]
        if all(value is not None for value in said):
            return join(value for value in said if value is not None)
    touched = look_at(run, frame, given, node)
    kinds = {t.type for t in given if isinstance(t, Atom)}
    if kinds <= {int, bool} and all(isinstance(t, Atom) for t in given):
        return INT | PLAIN_ATOM
    return PLAIN_ATOM if all(isinstance(t, Atom) for t in given) else PLAIN_ATOM | fresh_data(run, node) | touched


def convert_to(kind: type) -> Handler:
    def convert(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
        given = join(args.all)
        before, frame.in_any_order = frame.in_any_order, frame.in_any_order or kind is bool
        if kind is bool:
            arithmetic.truth(run, frame, given, node)
        else:
            look_at(run, frame, given, node)
        frame.in_any_order = before
        if kind is str:
            turn_into_text(run, frame, given, node)
        return atom(kind)

    return convert


def call_text_function(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    """repr, format, ascii."""
    given = join(args.all)
    turn_into_text(run, frame, given, node)
    return STR


def call_hash(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    if getattr(frame.node, "name", None) == "__hash__":
        return INT  # only dicts and sets ask for it, and the order of sets is minded elsewhere
    if not all(has_definitely_a_steady_hash(thing) for thing in join(args.all)):
        run.share(
            frame,
            node,
            f"uses {shown(node)}, which differs from process to process",
            "use zlib.crc32 or hashlib on the encoded value",
        )
    return INT


# Attributes and classes -----------------------------------------------------------------------------------------


def _literal(node: ast.AST, position: int) -> str | None:
    match node:
        case ast.Call(args=arguments) if len(arguments) > position:
            match arguments[position]:
                case ast.Constant(value=str(text)):
                    return text
    return None


def call_getattr(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    name = _literal(node, 1)
    default = join(args.positional[2:])
    if name is not None:
        return run.load(frame, first(args), name, node) | default
    if first(args) and all(is_plain_tuple(t) for t in first(args)):
        return without_sources(join(held_by(run, t) for t in first(args))) | default
    return run.unknown(frame, node, "uses getattr with a computed name", "name the attribute")


def is_plain_tuple(thing: Thing) -> bool:
    """Every attribute of it is a field."""
    if not isinstance(thing, Tup) or not hasattr(thing.type, "_fields"):
        return False
    return not any(
        isinstance(m, types.FunctionType | property | staticmethod | classmethod)
        for n, m in vars(thing.type).items()
        if not n.startswith("_")
    )


def call_hasattr(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    name = _literal(node, 1)
    if name is None:
        run.share(frame, node, "uses hasattr with a computed name", "name the attribute")
        return BOOL
    for thing in first(args):
        match thing:
            case Obj(type=kind) if is_user_class(kind):
                is_asked = user_method(kind, "__getattr__") or user_method(kind, "__getattribute__")
                if not is_asked and static(kind, name)[0] is None and not run.heap.attribute(thing.site, name):
                    continue  # asking is no error
                run.load(frame, one(thing), name, node)
            case Const():
                run.load(frame, one(thing), name, node)
            case _:
                pass
    return BOOL


def call_setattr(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    name = _literal(node, 1)
    if name is None or len(args.positional) < 2:
        return run.unknown(frame, node, "uses setattr or delattr with a computed name", "name the attribute")
    run.store(frame, first(args), name, join(args.positional[2:]), node)
    return NONE


def call_type(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    if len(args.positional) != 1 or args.more is not None:
        return run.unknown(frame, node, "makes a class while tuples flow")
    result: Value = NOTHING
    for thing in first(args):
        match thing:
            case Obj(type=kind) | Tup(type=kind) | Atom(type=kind) if kind not in (Plain, Stream):
                result |= one(Const(kind))
            case Const(object=held):
                result |= one(Const(type(held)))
            case _:
                result |= one(Const(object))
    return result


def call_super(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    if len(args.positional) == 2:
        classes, receivers = args.positional
    else:
        cell = frame.home.cell("__class__")
        names = frame.scope.parameters
        if cell is None or not names or frame.variables is None:
            return run.unknown(frame, node, "uses super(), which cannot be followed here")
        classes = one(Const(cell.cell_contents))
        receivers = frame.variables.get(names[0], NOTHING)
    for receiver in receivers:
        own = class_of(receiver)
        if own is not None:
            refuse_unknown_methods(run, frame, own, node)
            if user_method(own, "__getattribute__") is not None:
                return run.unknown(frame, node, f"uses super() of a `{own.__name__}`, which defines how that is done")
    return frozenset(
        Super(cls.object, receiver)
        for cls in classes
        if isinstance(cls, Const) and isinstance(cls.object, type)
        for receiver in receivers
    )


def make_object(run: Run, frame: Frame, args: Args, node: ast.AST) -> Value:
    return run.make(object, node)
