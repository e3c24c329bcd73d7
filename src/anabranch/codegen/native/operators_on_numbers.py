"""Arithmetic of Python's numbers: which function computes each operator exactly."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from anabranch.codegen.native.values import NotNative, Value
from anabranch.codegen.types import BOOL, EXACT_IN_FLOAT, FLOAT, INT, Type

if TYPE_CHECKING:
    from anabranch.codegen.native.bodies import Body

_SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
_INT = {
    ast.Add: "add_int",
    ast.Sub: "sub_int",
    ast.Mult: "mul_int",
    ast.FloorDiv: "floordiv_int",
    ast.Mod: "mod_int",
    ast.Pow: "pow_int",
    ast.LShift: "lshift_int",
    ast.RShift: "rshift_int",
}
_FLOAT = {ast.Div: "truediv_float", ast.FloorDiv: "floordiv_float", ast.Mod: "mod_float", ast.Pow: "pow_float"}


def binary(body: Body, op: ast.operator, one: Value, other: Value, node: ast.AST) -> Value:
    """`one op other` for numbers."""
    kind = type(op)
    one, other = body.there(one, node), body.there(other, node)
    for value in (one, other):
        if not value.type.is_number:
            raise NotNative(f"uses `{_SYMBOLS.get(kind, '@')}` on {value.type}", body.location(node))
    if one.type.kind == other.type.kind == "bool" and kind in (ast.BitAnd, ast.BitOr, ast.BitXor):
        return Value(BOOL, f"({one.code} {_SYMBOLS[kind]} {other.code})")
    if "float" in (one.type.kind, other.type.kind):
        return _on_floats(body, kind, one, other, node)
    return _on_ints(body, kind, one, other, node)


def _on_floats(body: Body, kind: type[ast.operator], one: Value, other: Value, node: ast.AST) -> Value:
    a, b = as_float(one), as_float(other)
    if kind in (ast.Add, ast.Sub, ast.Mult):
        return Value(FLOAT, f"({a} {_SYMBOLS[kind]} {b})")
    if kind not in _FLOAT:
        raise NotNative(f"uses `{_SYMBOLS.get(kind, '@')}` on floats", body.location(node))
    if kind is ast.Div and _is_nonzero_literal(other):
        return Value(FLOAT, f"({a} / {b})")
    return checked(body, FLOAT, _FLOAT[kind], a, b)


def _on_ints(body: Body, kind: type[ast.operator], one: Value, other: Value, node: ast.AST) -> Value:
    a, b = as_int(one), as_int(other)
    if kind is ast.Div:
        return checked(body, FLOAT, "truediv_int", a, b)
    if kind in (ast.BitAnd, ast.BitOr, ast.BitXor):
        return Value(INT, f"({a} {_SYMBOLS[kind]} {b})")
    if kind not in _INT:
        raise NotNative(f"uses `{_SYMBOLS.get(kind, '@')}` on ints", body.location(node))
    return checked(body, INT, _INT[kind], a, b)


def unary(body: Body, op: ast.unaryop, operand: Value, node: ast.AST) -> Value:
    value = body.there(operand, node)
    if not value.type.is_number:
        raise NotNative(f"computes with {value.type}", body.location(node))
    if value.type.kind == "float" and isinstance(op, ast.USub | ast.UAdd):
        return Value(FLOAT, f"(-{value.code})" if isinstance(op, ast.USub) else value.code)
    code = as_int(value)
    match op:
        case ast.USub():
            literal = value.type.constant
            if literal is not None:
                return body.constant(-literal, node)
            return checked(body, INT, "neg_int", code)
        case ast.UAdd():
            return Value(INT, code)
        case ast.Invert() if value.type.kind == "int":
            return Value(INT, f"(~{code})")
        case _:
            raise NotNative("inverts a float or a bool", body.location(node))


def checked(body: Body, kind: Type, function: str, *arguments: str) -> Value:
    """A call that also says whether its result is not what Python would give."""
    name, wrong = body.writer.fresh("r"), body.writer.fresh("wrong")
    body.kernel.uses(function)
    body.writer.line(f"{name}, {wrong} = {function}({', '.join(arguments)})")
    body.kernel.check(wrong)
    return Value(kind, name, is_stable=True)


def as_float(value: Value) -> str:
    if value.type.kind == "float":
        return value.code
    literal = value.type.constant
    if literal is not None and abs(literal) <= EXACT_IN_FLOAT:
        return repr(float(literal)) if literal >= 0 else f"({float(literal)!r})"
    return f"np.float64({value.code})"


def as_int(value: Value) -> str:
    return value.code if value.type.kind == "int" else f"np.int64({value.code})"


def _is_nonzero_literal(value: Value) -> bool:
    if value.type.kind == "int":
        return bool(value.type.constant) and abs(value.type.constant) <= EXACT_IN_FLOAT
    try:
        return float(value.code) != 0.0 and not value.code.isidentifier()  # `inf` and `nan` may be names of variables
    except ValueError:
        return False
