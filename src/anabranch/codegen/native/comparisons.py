"""Comparisons: of numbers of different types, of strings, and with None."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING, Any

from anabranch.codegen.native import expressions
from anabranch.codegen.native.operators_on_numbers import as_float, as_int
from anabranch.codegen.native.values import ALWAYS, NEVER, NotNative, Value
from anabranch.codegen.types import BOOL, EXACT_IN_FLOAT

if TYPE_CHECKING:
    from anabranch.codegen.native.bodies import Body

_SYMBOLS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_NAMES = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def compare(body: Body, node: ast.Compare) -> Value:
    """`a < b < c` is `a < b and b < c` with b evaluated once."""
    if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
        found = _is_in(body, expressions.lower(body, node.left), node.comparators[0], node)
        return Value(BOOL, expressions.negated(found) if isinstance(node.ops[0], ast.NotIn) else found)
    one, other = expressions.in_order(body, [node.left, node.comparators[0]])
    links = list(zip(node.ops[1:], node.comparators[1:], strict=True))
    if links:
        other = body.kept(other)
    result = _pair(body, node.ops[0], one, other, node)
    for number, (op, following) in enumerate(links):
        is_last = number == len(links) - 1
        with body.assuming(result):
            lines, (other, compared) = body.captured(partial(_link, body, op, other, following, node, is_last))
        if lines:
            never: tuple[list[str], Value] = [], Value(BOOL, NEVER)
            result = expressions.one_of(body, result, (lines, Value(BOOL, compared)), never, node).code
        else:
            result = expressions.both(result, compared)
    return Value(BOOL, result)


def _link(
    body: Body, op: ast.cmpop, one: Value, following: ast.expr, node: ast.AST, is_last: bool
) -> tuple[Value, str]:
    """A further operand of a chain, and how it compares with the one before."""
    other = expressions.lower(body, following)
    if not is_last:
        other = body.kept(other)
    return other, _pair(body, op, one, other, node)


def _pair(body: Body, op: ast.cmpop, one: Value, other: Value, node: ast.AST) -> str:
    match op:
        case ast.Is() | ast.IsNot() if "none" in (one.type.kind, other.type.kind):
            present = other.has if one.type.kind == "none" else one.has
            return present if isinstance(op, ast.IsNot) else expressions.negated(present)
        case ast.Eq() | ast.NotEq():
            equal = equals(body, one, other, node)
            return equal if isinstance(op, ast.Eq) else expressions.negated(equal)
        case ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE():
            symbol = _SYMBOLS[type(op)]
            return _numbers(body, symbol, body.there(one, node), body.there(other, node), node)
        case _:
            raise NotNative(f"compares by `{ast.unparse(node)}`", body.location(node))


def equals(body: Body, one: Value, other: Value, node: ast.AST) -> str:
    """Whether two values are equal; None equals only itself."""
    if "none" in (one.type.kind, other.type.kind):
        absent = expressions.negated(one.has), expressions.negated(other.has)
        return expressions.both(*absent)
    if one.type.is_number and other.type.is_number:
        inner = _numbers(body, "==", one, other, node)
    elif one.type.kind == other.type.kind == "str":
        inner = body.kernel.strings_equal(one, other)
    else:
        raise NotNative(f"compares {one.type} with {other.type}", body.location(node))
    if one.has == other.has == ALWAYS:
        return inner
    present = expressions.both(expressions.both(one.has, other.has), inner)
    if ALWAYS in (one.has, other.has):
        return present
    neither = expressions.both(expressions.negated(one.has), expressions.negated(other.has))
    return f"({present} or {neither})"


def _numbers(body: Body, symbol: str, one: Value, other: Value, node: ast.AST) -> str:
    kinds = one.type.kind, other.type.kind
    if not (one.type.is_number and other.type.is_number):
        raise NotNative(f"compares {one.type} with {other.type}", body.location(node))
    if kinds == ("float", "float"):
        return f"({one.code} {symbol} {other.code})"
    if "float" not in kinds:
        return f"({as_int(one)} {symbol} {as_int(other)})"
    number, whole = (one, other) if kinds[0] == "float" else (other, one)
    is_exact = whole.type.kind == "bool" or (
        whole.type.constant is not None and abs(whole.type.constant) <= EXACT_IN_FLOAT
    )
    if is_exact:
        return f"({as_float(one)} {symbol} {as_float(other)})"
    wanted = symbol if whole is one else _MIRRORED[symbol]
    function = f"{_NAMES[wanted]}_int_float"
    body.kernel.uses(function)
    return f"{function}({as_int(whole)}, {number.code})"


def _is_in(body: Body, value: Value, collection: ast.expr, node: ast.AST) -> str:
    """`x in ("a", "b")`, for a display or a constant."""
    if isinstance(collection, ast.Tuple | ast.List | ast.Set):
        choices = [expressions.lower(body, each) for each in collection.elts]
    else:
        held: Any = expressions.outer_constant(body, collection)
        if not isinstance(held, tuple | frozenset | list | set):
            raise NotNative(f"looks into `{ast.unparse(collection)}`", body.location(node))
        ordered = held if isinstance(held, tuple | list) else sorted(held, key=repr)
        choices = [body.constant(each, node) for each in ordered]
    if any(each.type.kind == "float" and each.code == "math.nan" for each in choices):
        raise NotNative("looks for NaN, which is found by identity", body.location(node))
    parts = [equals(body, value, each, node) for each in choices]
    kept = [part for part in parts if part != NEVER]
    return f"({' or '.join(kept)})" if kept else NEVER
