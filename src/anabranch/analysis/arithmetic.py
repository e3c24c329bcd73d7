"""Operators: which types they give, and which special methods of the user's classes they call."""

from __future__ import annotations

import ast
import collections
import enum
from datetime import date, datetime, timedelta
from decimal import Decimal
from types import ModuleType

from anabranch.analysis.decimals import mind_the_context
from anabranch.analysis.lifting import CONTAINERS, is_array
from anabranch.analysis.protocols import class_of, special, touch, touch_keys, turn_into_text
from anabranch.analysis.run import Args, Frame, Run
from anabranch.analysis.shapes import is_judged_by_attributes
from anabranch.analysis.special_methods import methods_called_by, user_method
from anabranch.analysis.state import VIEWS, held_by, shown
from anabranch.analysis.values import (
    BOOL,
    NOTHING,
    PLAIN_ATOM,
    UNKNOWN,
    Atom,
    AwareDatetime,
    Bound,
    Const,
    Fun,
    Obj,
    Partial,
    Place,
    Plain,
    Thing,
    Tup,
    Unknown,
    Value,
    atom,
    join,
    one,
)

_NUMBERS: tuple[type, ...] = (bool, int, float, complex)
_BITS = (ast.BitAnd, ast.BitOr, ast.BitXor)
_SET_OPERATORS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub)


def binary(run: Run, frame: Frame, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value:
    construct = type(op).__name__
    is_text = isinstance(op, ast.Mod) and any(isinstance(t, Atom) and t.type in (str, bytes, Plain) for t in left)
    if is_text:
        turn_into_text(run, frame, right, node)
    result: Value = NOTHING
    said: set[Thing] = set()
    for thing in left:
        made = special(run, frame, thing, construct, Args((right,)), node)
        result |= made or NOTHING
        if says_alone(thing, construct):
            said.add(thing)
    said_by_right: set[Thing] = set()
    for thing in right:
        made = special(run, frame, thing, f"{construct}:right", Args((left,)), node)
        result |= made or NOTHING
        if says_alone(thing, f"{construct}:right"):
            said_by_right.add(thing)
    if Unknown() in left or Unknown() in right:
        result |= UNKNOWN
    ones, others = _atom_types(left), _atom_types(right)
    if Decimal in ones | others:
        mind_the_context(run, frame, node)
    for kind in ones:
        for other in others:
            result |= _atoms(op, kind, other)
    left_rest, right_rest = _not_atoms(left) - said, _not_atoms(right)
    if all(isinstance(t, Atom) and t.type in _NUMBERS for t in left - said):
        right_rest -= said_by_right  # a number on the left leaves it to them, and looks at nothing
    if left_rest or (right_rest and said != left):
        if is_text:
            result |= frozenset(Atom(kind) for kind in ones & {str, bytes})
        result |= _containers(run, frame, op, left_rest, right_rest, bool(ones), bool(others), node)
    return result


def is_plain(thing: Thing) -> bool:
    """Whether its class alone says what operators do, so that none of the library's applies."""
    cls = class_of(thing)
    return cls is not None and is_judged_by_attributes(cls)


def says_alone(thing: Thing, construct: str) -> bool:
    """Whether a construct runs the class's own method for it, or none: object's compares identities."""
    cls = class_of(thing)
    if cls is None or not is_judged_by_attributes(cls):
        return False
    return all(
        user_method(cls, name) is not None or all(base is object or name not in vars(base) for base in cls.__mro__)
        for name in methods_called_by(construct)
    )


def _atom_types(value: Value) -> set[type]:
    return {thing.type for thing in value if isinstance(thing, Atom)}


def _not_atoms(value: Value) -> Value:
    return frozenset(t for t in value if not isinstance(t, Atom | Unknown | Fun | Bound | Partial))


def _atoms(op: ast.operator, left: type, right: type) -> Value:
    if left in _NUMBERS and right in _NUMBERS:
        wider = _NUMBERS[max(_NUMBERS.index(left), _NUMBERS.index(right))]
        if isinstance(op, ast.Div):
            return atom(float if wider in (bool, int) else wider)
        if isinstance(op, ast.Pow):
            return PLAIN_ATOM
        if wider is bool:
            return atom(bool if isinstance(op, _BITS) else int)
        return atom(wider)
    if left in (str, bytes) and isinstance(op, ast.Add | ast.Mod | ast.Mult):
        return atom(left)
    if right in (str, bytes) and isinstance(op, ast.Mult):
        return atom(right)
    if issubclass(left, date):
        if issubclass(right, timedelta):
            return atom(left)
        if issubclass(right, date) and isinstance(op, ast.Sub):
            return atom(timedelta)
    if left is timedelta:
        if right is timedelta:
            return atom(float if isinstance(op, ast.Div) else int if isinstance(op, ast.FloorDiv) else timedelta)
        if right in (datetime, date, AwareDatetime):
            return atom(right)
        if right in _NUMBERS:
            return atom(timedelta)
    if right is timedelta and left in _NUMBERS:
        return atom(timedelta)
    if Decimal in (left, right) and {left, right} <= {Decimal, int, bool}:
        return atom(Decimal)
    return PLAIN_ATOM


def _containers(
    run: Run,
    frame: Frame,
    op: ast.operator,
    left: Value,
    right: Value,
    left_has_atoms: bool,
    right_has_atoms: bool,
    node: ast.AST,
) -> Value:
    """At least one side is a container, an array or an instance without such an operator."""
    touched = touch(run, frame, left | right, node)
    if isinstance(op, ast.Add) and not left_has_atoms and not right_has_atoms and len(left) * len(right) <= 9:
        ones, others = ([t for t in side if isinstance(t, Tup)] for side in (left, right))
        if len(ones) == len(left) and len(others) == len(right):
            return frozenset(Tup(tuple, (*a.items, *b.items)) for a in ones for b in others)
    kinds = {_kind(thing) for thing in left | right} - {None}
    held = join(held_by(run, thing) for thing in left | right)
    made = _made_kinds(op, {kind for kind in kinds if kind is not None})
    if not made:
        return touched | run.make(Plain, (node, "operator"), held | PLAIN_ATOM)
    return touched | join(
        run.make(kind, (node, kind), held | (PLAIN_ATOM if kind is Plain else NOTHING))
        for kind in sorted(made, key=lambda kind: kind.__name__)
    )


def _made_kinds(op: ast.operator, kinds: set[type]) -> set[type]:
    made: set[type] = set()
    for kind in kinds:
        if issubclass(kind, VIEWS) or (isinstance(op, _SET_OPERATORS) and issubclass(kind, set | frozenset)):
            made.add(set)
        elif issubclass(kind, (collections.Counter, collections.deque, list, dict, bytearray, tuple)):
            made.add(kind if not hasattr(kind, "_fields") else tuple)
        else:
            made.add(Plain)
    return made


def _kind(thing: Thing) -> type | None:
    match thing:
        case Obj(type=kind):
            return kind
        case Const(object=held) if type(held) in CONTAINERS:
            return type(held)
        case Const(object=held) if is_array(held):
            return Plain
        case Tup():
            return tuple
        case _:
            return None


def in_place(run: Run, frame: Frame, op: ast.operator, target: Value, value: Value, node: ast.AST, what: str) -> Value:
    """`target op= value`: what can be changed is, the rest is computed anew."""
    result: Value = NOTHING
    for thing in target:
        made = special(run, frame, thing, f"{type(op).__name__}:in_place", Args((value,)), node)
        if made is not None:
            result |= made
        elif isinstance(thing, Obj | Const) and _is_changed_in_place(thing) and class_of(thing) is None:
            run.change(frame, one(thing), node, what)
            if isinstance(thing, Obj):
                for inner in value:
                    run.heap.put(thing.site, held_by(run, inner))
            if isinstance(op, ast.Add) and not isinstance(thing, Const):
                run.iterate(frame, value, node)  # `+=` of a list takes any iterable
            result |= one(thing)
            if isinstance(thing, Const) or thing.type is Plain or any(class_of(t) for t in value):
                result |= binary(run, frame, op, one(thing), value, node)
        else:
            result |= binary(run, frame, op, one(thing), value, node)
    return result


def _is_changed_in_place(thing: Obj | Const) -> bool:
    kind = _kind(thing)
    if kind is None:
        return isinstance(thing, Const) and not callable(thing.object) and not isinstance(thing.object, enum.Enum)
    return not issubclass(kind, tuple | frozenset)


def unary(run: Run, frame: Frame, op: ast.unaryop, operand: Value, node: ast.AST) -> Value:
    if isinstance(op, ast.Not):
        truth(run, frame, operand, node)
        return BOOL
    result: Value = NOTHING
    for thing in operand:
        made = special(run, frame, thing, type(op).__name__, Args(), node)
        if isinstance(thing, Atom) and thing.type is Decimal:
            mind_the_context(run, frame, node)  # +x rounds
        match thing:
            case _ if made is not None:
                result |= made
            case Atom(type=kind) if kind in _NUMBERS:
                result |= atom(int if kind is bool else kind)
            case Atom(type=kind):
                result |= atom(kind)
            case Unknown():
                result |= UNKNOWN
            case _:
                run.read(frame, one(thing), node)
                kind_ = _kind(thing)
                result |= run.make(kind_ if kind_ is not None else Plain, (node, "operator"), held_by(run, thing))
    return result


def truth(run: Run, frame: Frame, value: Value, node: ast.AST) -> None:
    """A condition looks at whether an object is empty."""
    run.read(frame, frozenset(t for t in value if isinstance(t, Const) and _has_length(t)), node)
    for thing in value:
        special(run, frame, thing, "truth", Args(), node)


def _has_length(const: Const) -> bool:
    return hasattr(type(const.object), "__len__") or hasattr(type(const.object), "__bool__")


def compare(run: Run, frame: Frame, left: Value, op: ast.cmpop, right: Value, node: ast.AST) -> Value:
    if isinstance(op, ast.Is | ast.IsNot):
        _identity(run, frame, left, right, node)
        return BOOL
    if isinstance(op, ast.In | ast.NotIn):
        for thing in right:
            found = special(run, frame, thing, "In", Args((left,)), node)
            is_flag = isinstance(thing, Const) and isinstance(thing.object, enum.Flag)
            if found is not None:
                truth(run, frame, found, node)
            elif not is_flag:
                _look_inside(run, frame, thing, node)
        touch_keys(run, frame, right, left, node)
        return BOOL
    construct = type(op).__name__
    result: Value = BOOL
    said: set[Thing] = set()
    for thing in left:
        made = special(run, frame, thing, construct, Args((right,)), node)
        result |= made or NOTHING
        if says_alone(thing, construct):
            said.add(thing)
    for thing in right:
        result |= special(run, frame, thing, f"{construct}:right", Args((left,)), node) or NOTHING
    if said != left:
        touch(run, frame, frozenset(t for t in left | right if not isinstance(t, Atom | Fun)) - said, node)
    if any(isinstance(t, Obj) and t.type is Plain for t in left | right) or any(
        isinstance(t, Const) and is_array(t.object) for t in left | right
    ):
        result |= run.make(Plain, (node, "comparison"), PLAIN_ATOM)
    return result


def _look_inside(run: Run, frame: Frame, thing: Thing, node: ast.AST) -> None:
    before, frame.in_any_order = frame.in_any_order, True
    if isinstance(thing, Const) and isinstance(thing.object, type) and not isinstance(thing.object, enum.EnumType):
        run.share(frame, node, f"looks into {shown(node)}, which cannot be followed")
    else:
        elements = run.iterate(frame, one(thing), node)
        is_searched_by_key = isinstance(thing, Const) and isinstance(thing.object, dict | set | frozenset)
        touch(run, frame, elements if is_searched_by_key else one(thing), node)
    frame.in_any_order = before


def _identity(run: Run, frame: Frame, left: Value, right: Value, node: ast.AST) -> None:
    """`is` on plain values depends on how they were copied; it is steady for None, booleans, classes and the like."""
    if _has_definitely_an_identity(run, left) or _has_definitely_an_identity(run, right):
        return
    if any(isinstance(thing, Atom | Tup | Unknown) or not _is_fresh(thing) for thing in left | right):
        run.share(frame, node, f"compares identities ({shown(node)}), which copies do not keep", "compare with ==")


def _has_definitely_an_identity(run: Run, value: Value) -> bool:
    """All of it is None, a boolean, a class, a member of an enumeration, or a sentinel."""
    return bool(value) and all(_is_definitely_unique(run, thing) for thing in value)


def _is_definitely_unique(run: Run, thing: Thing) -> bool:
    match thing:
        case Atom(type=kind):
            return kind in (type(None), bool, type(Ellipsis), type(NotImplemented))
        case Const(object=held):
            if type(held) is object:
                return not run.heap.keeps(thing)  # state that is saved and restored holds a copy
            return isinstance(held, type | enum.Enum | ModuleType)
        case _:
            return False


def _is_fresh(thing: Thing) -> bool:
    return isinstance(thing, Obj) and thing.site.place is Place.FRESH
