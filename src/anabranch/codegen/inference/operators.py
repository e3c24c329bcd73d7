"""Types of what operators give, as Python computes it: of arithmetic, comparisons and truth."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from anabranch.analysis.lookup import static
from anabranch.codegen.inference.joins import (
    MAY_BE_COMPLEX,
    MAY_BE_INT,
    NOTHING,
    described,
    is_maybe_int,
    marked,
    marks_of,
)
from anabranch.codegen.types import BOOL, EXACT_IN_FLOAT, FLOAT, INT, STR, UNKNOWN, Type

Judged = tuple[Type, str | None]  # and what is wrong with it

_FOLDED: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|", ast.BitXor: "^", ast.BitAnd: "&", ast.MatMult: "@",
}  # fmt: skip
_LARGEST = 2**63 - 1


def binary(op: ast.operator, left: Type, right: Type) -> Judged:
    """None-ness does not count: generated code finds a None when it meets one, and Python then raises."""
    left, right = left.present(), right.present()
    unclear = _unclear(left, right)
    if unclear is not None:
        return unclear, None
    symbol = _SYMBOLS[type(op)]
    if "str" in (left.kind, right.kind):
        is_text = left.kind == "str" and isinstance(op, ast.Mod | ast.Add | ast.Mult)
        return (STR if is_text else UNKNOWN), f"handles strings (`{symbol}`)"
    if not (left.is_number and right.is_number):
        return UNKNOWN, f"computes with {described(left if right.is_number else right)} (`{symbol}`)"
    match op:
        case ast.BitOr() | ast.BitXor() | ast.BitAnd() | ast.LShift() | ast.RShift() | ast.MatMult():
            return _bits(op, left, right, symbol)
        case ast.Pow():
            return _power(left, right)
    is_float = "float" in (left.kind, right.kind)
    if isinstance(op, ast.Div):
        return _division(left, right)
    if is_float:
        return _float(op, left, right, symbol)
    return _folded(op, left, right), None


def _unclear(*kinds: Type) -> Type | None:
    if any(kind.kind == "nothing" for kind in kinds):
        return NOTHING
    return UNKNOWN if any(not kind.is_known for kind in kinds) else None


def _folded(op: ast.operator, left: Type, right: Type) -> Type:
    compute = _FOLDED.get(type(op))
    if compute is None or left.constant is None or right.constant is None:
        return INT
    value = compute(left.constant, right.constant)
    return Type("int", constant=value) if abs(value) <= _LARGEST else INT


def _float(op: ast.operator, left: Type, right: Type, symbol: str) -> Judged:
    """A float with anything is a float; but what may be an int of known value is one only next to a certain float."""
    complexity = (marks_of(left) | marks_of(right)) & MAY_BE_COMPLEX
    for one, other in ((left, right), (right, left)):
        if is_maybe_int(one) and (other.kind != "float" or is_maybe_int(other)):
            return UNKNOWN, f"computes with an int that later is a float (`{symbol}`): begin with a float, 0.0 for 0"
    return marked(complexity), None


def _division(left: Type, right: Type) -> Judged:
    complexity = (marks_of(left) | marks_of(right)) & MAY_BE_COMPLEX
    for one, other in ((left, right), (right, left)):
        # Ints are divided exactly, floats are rounded first: the same only where the int is exact as a float.
        is_exact = other.kind != "int" or (other.constant is not None and abs(other.constant) <= EXACT_IN_FLOAT)
        if marks_of(one) & MAY_BE_INT and not is_exact:
            return UNKNOWN, "divides with an int that later is a float: begin with a float"
    return marked(complexity), None


def _power(left: Type, right: Type) -> Judged:
    if "float" not in (left.kind, right.kind):
        if right.kind == "bool" or (right.constant is not None and right.constant >= 0):
            return INT, None
        return UNKNOWN, "raises an int to a power that may be negative (`**`)"
    if is_maybe_int(left) or is_maybe_int(right):
        if is_maybe_int(left) and right == FLOAT:
            return marked(MAY_BE_COMPLEX), None
        return UNKNOWN, "computes with an int that later is a float (`**`): begin with a float"
    # Only a negative number to a power that is not whole is complex.
    is_positive = left.kind == "bool" or (left.kind == "int" and left.constant is not None and left.constant >= 0)
    is_real = is_positive or right.kind in ("int", "bool")
    return marked((marks_of(left) & MAY_BE_COMPLEX) if is_real else MAY_BE_COMPLEX), None


def _bits(op: ast.operator, left: Type, right: Type, symbol: str) -> Judged:
    if "float" in (left.kind, right.kind) or isinstance(op, ast.MatMult):
        return UNKNOWN, f"computes `{symbol}` with a float" if not isinstance(op, ast.MatMult) else "computes `@`"
    is_logical = left.kind == right.kind == "bool" and not isinstance(op, ast.LShift | ast.RShift)
    return (BOOL if is_logical else INT), None


def unary(op: ast.unaryop, operand: Type) -> Judged:
    operand = operand.present()
    unclear = _unclear(operand)
    if unclear is not None:
        return unclear, None
    if not operand.is_number:
        what = "handles strings" if operand.kind == "str" else f"computes with {described(operand)}"
        return UNKNOWN, f"{what} (unary operator)"
    if operand.kind == "float":
        if isinstance(op, ast.Invert):
            return UNKNOWN, "computes `~` with a float"
        if isinstance(op, ast.USub) and is_maybe_int(operand):
            return UNKNOWN, "negates an int that later is a float: begin with a float, 0.0 for 0"
        return operand, None
    if isinstance(op, ast.USub) and operand.constant is not None:
        return Type("int", constant=-operand.constant), None
    return INT, None


def comparison(op: ast.cmpop, left: Type, right: Type) -> Judged:
    """Of `==`, `<` and the like, and `is`; membership is for constants."""
    if isinstance(op, ast.Is | ast.IsNot):
        with_none = "none" in (left.kind, right.kind)
        return BOOL, None if with_none else "compares with `is`"
    unclear = _unclear(left, right)
    if unclear is not None:
        return unclear, None
    is_equality = isinstance(op, ast.Eq | ast.NotEq)
    if is_equality and "none" in (left.kind, right.kind):
        return BOOL, None
    if left.is_number and right.is_number:
        return BOOL, None
    if left.kind == right.kind == "str":
        return BOOL, None if is_equality else "handles strings (compares their order)"
    if is_equality and _are_comparable(left, right):
        return BOOL, None
    if left.kind == right.kind:
        return BOOL, f"compares {left.kind} values"
    return UNKNOWN, f"compares {described(left)} with {described(right)}"


def _are_comparable(left: Type, right: Type) -> bool:
    """Whether two tuples are equal where all their values are; a NaN also equals itself if it is the same object."""
    if not left.kind == right.kind == "tuple" or len(left.members) != len(right.members):
        return False
    if any(kind.named is not None and static(kind.named, "__eq__")[0] is not tuple for kind in (left, right)):
        return False
    return all(
        (one.kind in ("int", "bool") and other.kind in ("int", "bool"))
        or one.kind == other.kind == "str"
        or _are_comparable(one, other)
        for (_, one), (_, other) in zip(left.members, right.members, strict=True)
    )


def truth(kind: Type) -> str | None:
    """What is wrong with taking a value for a condition."""
    match kind.kind:
        case "int" | "float" | "bool" | "none" | "nothing" | "unknown":
            return None
        case "tuple":
            own = [name for name in ("__bool__", "__len__") if static(kind.named or tuple, name)[0] not in _PLAIN]
            return f"asks a `{kind}` whether it is true" if own else None
        case "str":
            return "handles strings (asks whether one is empty)"
        case other:
            return f"asks whether a {other} is empty"


_PLAIN = (tuple, None)


def is_member(kind: Type, collection: Type) -> str | None:
    """What is wrong with `x in (…)` for a collection of constants: each is compared with `==`."""
    for _, each in collection.members:
        if kind.kind in ("nothing", "unknown", "none") or each.kind == "none":
            continue
        if not (kind.is_number and each.is_number) and not kind.kind == each.kind == "str":
            return f"looks for {described(kind)} among values of other types"
    return None
