"""Expressions of user code as native code.

Whatever could give another value than Python's, or raise, is computed by a function of `runtime` that says so, and the
sticky flag `bad` remembers it: a tuple for which it is set has no effect here and is processed in the Python form.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from anabranch.analysis.syntax import walk
from anabranch.codegen.inference import Builtin, Construct, Inlined, Member, To
from anabranch.codegen.native import calls, comparisons, operators_on_numbers
from anabranch.codegen.native.values import ALWAYS, NEVER, NotNative, Value, none
from anabranch.codegen.types import BOOL, Type, join, type_of_value

if TYPE_CHECKING:
    from anabranch.codegen.native.bodies import Body


def lower(body: Body, node: ast.expr) -> Value:
    """The value of an expression; lines that it needs are written before."""
    match node:
        case ast.Constant(value=value):
            return constant(body, value, node)
        case ast.Name(id=name):
            return body.name(name, node)
        case ast.Attribute():
            return attribute(body, node)
        case ast.BinOp(left=left, op=op, right=right):
            one, other = in_order(body, [left, right])
            return operators_on_numbers.binary(body, op, one, other, node)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return Value(BOOL, negated(truth(body, lower(body, operand), node)))
        case ast.UnaryOp(op=op, operand=operand):
            return operators_on_numbers.unary(body, op, lower(body, operand), node)
        case ast.BoolOp(op=op, values=values):
            return bool_op(body, isinstance(op, ast.And), values, node)
        case ast.Compare():
            return comparisons.compare(body, node)
        case ast.IfExp(test=test, body=then, orelse=otherwise):
            condition = truth(body, lower(body, test), node)
            return choice(body, condition, lambda: lower(body, then), lambda: lower(body, otherwise), node)
        case ast.Call():
            return call(body, node)
        case ast.NamedExpr(target=target, value=value):
            found = lower(body, value)
            body.assign(target, found)
            return body.name(target.id, target)
        case ast.Tuple(elts=elements):
            members = {str(at): value for at, value in enumerate(in_order(body, elements))}
            return Value(Type("tuple", members=tuple((n, v.type) for n, v in members.items())), members=members)
        case ast.Subscript(value=value, slice=ast.Constant(value=int(at))):
            return body.member_at(lower(body, value), at, node)
        case _:
            raise NotNative(f"uses `{ast.unparse(node)}`", body.location(node))


def in_order(body: Body, nodes: Sequence[ast.expr | Member]) -> list[Value]:
    """Several expressions, evaluated from left to right: what later ones change does not change earlier ones."""
    values: list[Value] = []
    for node in nodes:
        position = body.writer.position
        if isinstance(node, Member):
            value = body.member(lower(body, node.value), node.name, node.value)
        else:
            value = lower(body, node)
        if body.writer.position > position:
            kept = [body.kept(each, position) for each in values]
            values = kept
        values.append(value)
    return values


def constant(body: Body, value: Any, node: ast.AST) -> Value:
    kind = type_of_value(value)
    match value:
        case None:
            return none()
        case bool():
            return Value(kind, str(value), is_stable=True)
        case int():
            if not -(2**63) <= value < 2**63:
                raise NotNative(f"uses the int {value}, which needs more than 64 bits", body.location(node))
            return Value(kind, str(value) if value >= 0 else f"({value})", is_stable=True)
        case float():
            return Value(kind, float_code(value), is_stable=True)
        case str():
            if not _is_unicode(value):
                raise NotNative(f"uses {value!r}, which is not valid Unicode", body.location(node))
            return Value(kind, constant=value, is_stable=True)
        case tuple():
            fields = getattr(value, "_fields", None) or [str(at) for at in range(len(value))]
            members = {n: constant(body, each, node) for n, each in zip(fields, value, strict=True)}
            return Value(kind, members=members, is_stable=True)
        case _:
            raise NotNative(f"uses {type(value).__name__} {value!r}", body.location(node))


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def float_code(value: float) -> str:
    if math.isnan(value):
        return "math.nan"
    if math.isinf(value):
        return "math.inf" if value > 0 else "(-math.inf)"
    return repr(value) if math.copysign(1.0, value) > 0 else f"({value!r})"


def attribute(body: Body, node: ast.Attribute) -> Value:
    if body.is_instance(node.value):
        return body.field(node.attr, node)
    outer = outer_constant(body, node)
    if outer is not _MISSING:
        return constant(body, outer, node)
    return body.member(lower(body, node.value), node.attr, node)


_MISSING: Any = object()


def outer_constant(body: Body, node: ast.expr) -> Any:
    """The object that a dotted name such as `math.pi` stands for."""
    match node:
        case ast.Name(id=name) if not body.is_local(name) and name in body.typed.function.constants:
            return body.typed.function.constants[name]
        case ast.Attribute(value=value, attr=attr):
            owner = outer_constant(body, value)
            return _MISSING if owner is _MISSING else getattr(owner, attr, _MISSING)
    return _MISSING


# Truth ----------------------------------------------------------------------------------------------------------


def truth(body: Body, value: Value, node: ast.AST) -> str:
    """A condition: whether a value counts as true."""
    match value.type.kind:
        case "none":
            return NEVER
        case "tuple":
            text = ALWAYS if value.type.members else NEVER
        case "bool":
            text = value.code
        case "int":
            text = f"({value.code} != 0)"
        case "float":
            text = f"({value.code} != 0.0)"
        case _:
            raise NotNative(f"asks whether a {value.type.kind} is empty", body.location(node))
    return both(value.has, text)


def both(one: str, other: str) -> str:
    if NEVER in (one, other):
        return NEVER
    if one == ALWAYS:
        return other
    return one if other == ALWAYS else f"({one} and {other})"


def negated(condition: str) -> str:
    if condition in (ALWAYS, NEVER):
        return NEVER if condition == ALWAYS else ALWAYS
    return f"(not ({condition}))" if " " in condition else f"(not {condition})"


# Choices --------------------------------------------------------------------------------------------------------


def bool_op(body: Body, is_and: bool, values: list[ast.expr], node: ast.expr) -> Value:
    """`a and b`, `a or b`: b is only evaluated where it matters."""
    value = lower(body, values[0])
    for each in values[1:]:
        condition = truth(body, value, node)
        with body.assuming(condition if is_and else negated(condition)):
            lines, following = body.captured(partial(lower, body, each))
        are_bools = value.type.kind == following.type.kind == "bool" and value.has == following.has == ALWAYS
        if not lines and are_bools:
            word = "and" if is_and else "or"
            value = Value(BOOL, f"({condition} {word} {truth(body, following, node)})")
        elif is_and:
            value = one_of(body, condition, (lines, following), ([], value), node)
        else:
            value = one_of(body, condition, ([], value), (lines, following), node)
    return value


def choice(
    body: Body, condition: str, then: Callable[[], Value], otherwise: Callable[[], Value], node: ast.expr
) -> Value:
    """One of two values, of which only that one is evaluated."""
    with body.assuming(condition):
        one = body.captured(then)
    with body.assuming(negated(condition)):
        other = body.captured(otherwise)
    return one_of(body, condition, one, other, node)


def one_of(
    body: Body, condition: str, one: tuple[list[str], Value], other: tuple[list[str], Value], node: ast.expr
) -> Value:
    """The same, for values and the lines that compute them."""
    if condition in (ALWAYS, NEVER):
        lines, value = one if condition == ALWAYS else other
        body.writer.lines += [line.removeprefix("    ") for line in lines]
        return value
    kind = join(one[1].type, other[1].type)
    if not kind.is_known:
        raise NotNative(f"has {one[1].type} or {other[1].type} in `{ast.unparse(node)}`", body.location(node))
    are_numbers = one[1].type.kind == other[1].type.kind in ("int", "float", "bool")
    if not one[0] and not other[0] and are_numbers and one[1].has == other[1].has == ALWAYS:
        return Value(kind.varying(), f"({one[1].code} if {condition} else {other[1].code})")
    result = body.variable(kind.varying(), "choice", node)
    for header, (lines, value) in ((f"if {condition}:", one), ("else:", other)):
        with body.branch(header, condition if value is one[1] else negated(condition)):
            body.writer.lines += lines
            body.store(result, value, node)
    return result


# Calls ----------------------------------------------------------------------------------------------------------


def call(body: Body, node: ast.Call) -> Value:
    called = body.typed.calls.get(node)
    if node.keywords and any(_has_effect(body, each) for each in walk(node)):
        # Arguments are evaluated here in the order of the parameters, in Python in the order of the text.
        raise NotNative("assigns something among keyword arguments", body.location(node))
    match called:
        case Builtin(name=name):
            return calls.builtin(body, name, in_order(body, node.args), node)
        case Construct(cls=cls, arguments=arguments):
            values = in_order(body, arguments)
            members = dict(zip(cls._fields, values, strict=True))  # type: ignore[attr-defined]  # a NamedTuple
            kind = Type("tuple", members=tuple((n, v.type) for n, v in members.items()), named=cls)
            return Value(kind, members=members, is_stable=all(v.is_stable for v in values))
        case Inlined(typed=typed, arguments=arguments):
            return body.inline(typed, in_order(body, arguments), node)
        case To():
            raise NotNative("uses ab.to other than in a yield or return", body.location(node))
        case _:
            raise NotNative(f"calls {ast.unparse(node.func)}", body.location(node))


def _has_effect(body: Body, node: ast.AST) -> bool:
    """Whether evaluating it may change a variable or the instance."""
    called = body.typed.calls.get(node) if isinstance(node, ast.Call) else None
    return isinstance(node, ast.NamedExpr) or (isinstance(called, Inlined) and called.typed.function.is_method)


def as_type(body: Body, value: Value, kind: Type, node: ast.AST) -> Value:
    """A value as one of another type that can hold it: an int literal as a float, one that is there as an optional."""
    if kind.kind == "float" and value.type.kind in ("int", "bool"):
        literal = value.type.constant
        code = float_code(float(literal)) if literal is not None else f"np.float64({value.code})"
        return replace(value, type=Type("float", kind.optional), code=code)
    if kind.kind == "int" and value.type.kind == "bool":
        return replace(value, type=Type("int", kind.optional), code=f"np.int64({value.code})")
    if value.type.kind != kind.kind and value.type.kind != "none":
        raise NotNative(f"has {value.type} where {kind} is expected", body.location(node))
    return value
