"""Whether an operator without a key only looks out for tuples that are larger, or smaller, than all before.

Such an operator keeps the largest value of one attribute, gives one tuple where a larger one comes, and does nothing at
all where none does:

    def process(self, bid):
        if bid.price > self.highest:
            self.highest = bid.price
            yield bid

Of some of the tuples in their order, say those of a stretch, only those that are the largest so far there can be
that in the whole stream. So an instance of its own can leave out the others before. It is asked of operators that are
known to share nothing. What is not plain to see is not so.
"""

from __future__ import annotations

import ast
from collections import namedtuple
from collections.abc import Sequence
from types import FunctionType
from typing import Any

from anabranch.analysis.lifting import is_made_by_named_tuple
from anabranch.analysis.resolving import resolve
from anabranch.analysis.source import locate
from anabranch.graph.schema import Schema

# What a class statement with nothing but two methods leaves in a class.
_MADE = frozenset({"__module__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__qualname__"})
_MADE_LATER = frozenset({"__firstlineno__", "__static_attributes__", "__annotate__", "__annotate_func__"})
_METHODS = frozenset({"__init__", "process"})
_SHOWING = frozenset({"super", "__class__", "locals", "vars", "eval", "exec"})  # words that have `self` unseen
_FIELD = type(vars(namedtuple("_Plain", "it"))["it"])  # only its class is of interest
_LARGER, _SMALLER = (ast.Gt, ast.GtE), (ast.Lt, ast.LtE)
_NOT_PLAIN = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr, ast.Lambda, ast.comprehension)


def is_running_extreme(factory: Any, taken: Schema, given: Schema) -> bool:
    """Of a class that takes tuples of one schema and gives those of another."""
    if type(factory) is not type or factory.__mro__ != (factory, object):
        return False
    if not _METHODS <= vars(factory).keys() <= _METHODS | _MADE | _MADE_LATER:
        return False
    begin, process = _tree(vars(factory)["__init__"]), _tree(vars(factory)["process"])
    if begin is None or process is None or taken.has_lists:
        return False
    names = vars(factory)["process"].__globals__
    kept = _kept_by(process, taken, given, names)
    return kept is not None and _begins_with(begin, *kept, vars(factory)["__init__"].__globals__)


def keeps_an_extreme(factory: Any) -> str | None:
    """The attribute in which a class seems to keep the largest or smallest so far, whatever else it does: to speak of.

    It is given the value of `max` or `min` of itself and others, or is compared and then set.
    """
    process = vars(factory).get("process") if isinstance(factory, type) else None
    located = locate(process.__code__, process.__globals__) if type(process) is FunctionType else None
    node = located.node if located is not None else None
    if not isinstance(node, ast.FunctionDef) or not node.args.args:
        return None
    own = node.args.args[0].arg
    for each in ast.walk(node):
        match each:
            case ast.Assign(targets=[target], value=ast.Call(func=ast.Name(id="max" | "min"), args=compared)):
                if (kept := _attribute(target, own)) and any(_attribute(one, own) == kept for one in compared):
                    return kept
            case ast.If(test=test, body=inside):
                kept = next(filter(None, (_compared_with(one, own) for one in ast.walk(test))), None)
                if kept is not None and any(_sets(one, own, kept) for one in inside):
                    return kept
    return None


def _compared_with(test: ast.AST, own: str) -> str | None:
    match test:
        case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE() | ast.Lt() | ast.LtE()], comparators=[right]):
            return _attribute(left, own) or _attribute(right, own)
    return None


def _sets(statement: ast.stmt, own: str, kept: str) -> bool:
    match statement:
        case ast.Assign(targets=[target]):
            return _attribute(target, own) == kept
    return False


def _tree(method: Any) -> ast.FunctionDef | None:
    """The text of a method that gives its own object to nobody."""
    if type(method) is not FunctionType:
        return None
    located = locate(method.__code__, method.__globals__)
    node = located.node if located is not None else None
    if not isinstance(node, ast.FunctionDef) or node.decorator_list or not node.args.args:
        return None
    own = node.args.args[0].arg
    uses = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == own]
    attributes = [each for each in ast.walk(node) if isinstance(each, ast.Attribute) and each.value in uses]
    is_shown = any(isinstance(each, ast.Name) and each.id in _SHOWING for each in ast.walk(node))
    return node if len(uses) == len(attributes) and not is_shown else None


def _kept_by(
    process: ast.FunctionDef, taken: Schema, given: Schema, names: dict[str, Any]
) -> tuple[str, str, bool] | None:
    """The attribute of `self` that is kept, of what kind it is, and whether nothing is kept at first."""
    arguments = process.args
    if len(arguments.args) != 2 or arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg or arguments.kwarg:
        return None
    own, item = (each.arg for each in arguments.args)
    body = process.body[1:] if ast.get_docstring(process, clean=False) is not None else process.body
    match body:
        case [ast.If(test=test, body=inside, orelse=[])]:
            pass
        case _:
            return None
    match test:
        case ast.BoolOp(op=ast.Or(), values=[unset, comparison]):
            found, is_none_at_first = _compared(comparison, own, item), True
        case _:
            found, unset, is_none_at_first = _compared(test, own, item), test, False
    if found is None or (is_none_at_first and not _is_unset(unset, own, found[0])):
        return None
    kept, attribute = found
    if attribute not in taken.names or not _is_field(taken.type, attribute):
        return None
    kind = taken[attribute]
    # A NaN that is kept at first would let nothing pass any more, and elsewhere something else was kept.
    if not kind.is_orderable or kind.kind == "datetime" or (is_none_at_first and kind.kind == "float"):
        return None
    is_so = _keeps_and_gives(inside, own, item, kept, attribute) and _gives_a_tuple(inside[-1], item, given, names)
    return (kept, kind.kind, is_none_at_first) if is_so else None


def _compared(test: ast.expr, own: str, item: str) -> tuple[str, str] | None:
    """What is compared: an attribute of `self`, and of the tuple."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    if not isinstance(test.ops[0], (*_LARGER, *_SMALLER)):
        return None
    for one, other in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
        kept, attribute = _attribute(one, own), _attribute(other, item)
        if kept is not None and attribute is not None:
            return kept, attribute
    return None


def _attribute(node: ast.AST, of: str) -> str | None:
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == of:
            return attribute
    return None


def _is_unset(test: ast.expr, own: str, kept: str) -> bool:
    match test:
        case ast.Compare(left=left, ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            return _attribute(left, own) == kept
    return False


def _keeps_and_gives(inside: Sequence[ast.stmt], own: str, item: str, kept: str, attribute: str) -> bool:
    """Whether one after the other plain values are assigned, once to what is kept, and then one tuple is given."""
    *assigning, giving = inside
    yielding = giving.value if isinstance(giving, ast.Expr) else None
    if not isinstance(giving, ast.Return) and not isinstance(yielding, ast.Yield):
        return False
    times = 0
    for statement in assigning:
        match statement:
            case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
                pass
            case _:
                return False
        if _attribute(target, own) == kept:
            value = statement.value if isinstance(statement, ast.Assign) else None
            if value is None or _attribute(value, item) != attribute:
                return False
            times += 1
        elif _attribute(target, own) is None and not (isinstance(target, ast.Name) and target.id not in (own, item)):
            return False
    others = [each for each in ast.walk(ast.Module([*inside], [])) if isinstance(each, _NOT_PLAIN)]
    return times == 1 and all(each is yielding for each in others)


def _gives_a_tuple(giving: ast.stmt, item: str, given: Schema, names: dict[str, Any]) -> bool:
    """Whether it is one tuple, whatever it is made of: what came, or one that is made of the class of the stream."""
    value = giving.value if isinstance(giving, ast.Return) else None
    if isinstance(giving, ast.Expr) and isinstance(giving.value, ast.Yield):
        value = giving.value.value
    match value:
        case ast.Name(id=name):
            return name == item
        case ast.Call(func=ast.Name() as made):
            return resolve(made, names) is given.type and is_made_by_named_tuple(given.type, "__new__")
    return False


def _is_field(cls: type, name: str) -> bool:
    """Whether a NamedTuple gives its attribute as it is, and not by code of the user's."""
    found = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
    has_code = any("__getattribute__" in vars(base) for base in cls.__mro__ if base not in (tuple, object))
    return type(found) is _FIELD and not has_code


def _begins_with(begin: ast.FunctionDef, kept: str, kind: str, is_none: bool, names: dict[str, Any]) -> bool:
    """Whether every instance begins with the same plain value, or with nothing."""
    own = begin.args.args[0].arg
    stores = [
        each
        for each in ast.walk(begin)
        if isinstance(each, ast.Attribute) and _attribute(each, own) == kept and not isinstance(each.ctx, ast.Load)
    ]
    for statement in begin.body:
        match statement:
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                if stores == [target]:
                    return _is_first(value, kind, is_none, names)
    return False


def _is_first(value: ast.expr, kind: str, is_none: bool, names: dict[str, Any]) -> bool:
    match value:
        case ast.Constant(value=held):
            pass
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_first(operand, kind, is_none=False, names=names) and kind in ("int", "float", "bool")
        case ast.Name() | ast.Attribute():
            held = resolve(value, names)
        case ast.Call(func=func, args=[ast.Constant(value=str() as text)], keywords=[]):
            return resolve(func, names) is float and kind in ("int", "float") and "nan" not in text.lower()
        case _:
            return False
    if is_none:
        return held is None
    return type(held) in ((int, float, bool) if kind in ("int", "float", "bool") else (_TYPES.get(kind),))


_TYPES: dict[str, type] = {"str": str, "bytes": bytes}
