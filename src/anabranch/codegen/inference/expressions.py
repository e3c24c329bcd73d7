"""Types of expressions."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING

from anabranch.analysis.scopes import COMPREHENSIONS
from anabranch.codegen.inference import calls, operators
from anabranch.codegen.inference.constants import collection_type, is_field, resolve
from anabranch.codegen.inference.joins import EMISSIONS, INSTANCE, NOTHING, described, join
from anabranch.codegen.inference.model import Builtin
from anabranch.codegen.types import BOOL, INT, NONE, STR, UNKNOWN, Type, type_of_value

if TYPE_CHECKING:
    from anabranch.codegen.inference.body import Body


def expression(body: Body, node: ast.expr) -> Type:
    kind = _expression(body, node)
    body.types[node] = kind
    return kind


def _expression(body: Body, node: ast.expr) -> Type:
    match node:
        case ast.Constant(value=value):
            kind = type_of_value(value)
            return kind if kind.is_known else body.problem(f"uses `{ast.unparse(node)}`", node)
        case ast.Name():
            return _name(body, node)
        case ast.Attribute():
            return attribute(body, node)
        case ast.BinOp(left=left, op=op, right=right):
            return binary(body, op, expression(body, left), expression(body, right), node)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            condition(body, operand)
            return BOOL
        case ast.UnaryOp(op=op, operand=operand):
            return _judged(body, operators.unary(op, expression(body, operand)), node)
        case ast.BoolOp():
            return _bool_op(body, node)
        case ast.Compare():
            return _compare(body, node)
        case ast.IfExp(test=test, body=then, orelse=otherwise):
            condition(body, test)
            one, other = _choices(body, test, then, otherwise)
            return _joined(body, one, other, node)
        case ast.Call():
            return calls.call(body, node)
        case ast.NamedExpr(target=target, value=value):
            kind = expression(body, value)
            body.assign(target, kind)
            return kind
        case ast.Tuple(elts=elements):
            return _tuple(body, elements, node)
        case ast.Subscript(value=value, slice=index):
            return _subscript(body, value, index, node)
        case _:
            return _other(body, node)


def _judged(body: Body, judged: operators.Judged, node: ast.AST) -> Type:
    kind, problem = judged
    if problem is not None:
        body.problem(problem, node)
    return kind


def binary(body: Body, op: ast.operator, left: Type, right: Type, node: ast.AST) -> Type:
    return _judged(body, operators.binary(op, left, right), node)


def condition(body: Body, node: ast.expr) -> None:
    problem = operators.truth(expression(body, node))
    if problem is not None:
        body.problem(problem, node)


def _joined(body: Body, one: Type, other: Type, node: ast.expr) -> Type:
    kind = join(one, other)
    if not kind.is_known and one.is_known and other.is_known:
        body.problem(f"has {described(one)} or {described(other)} in `{ast.unparse(node)}`", node)
    return kind


# Names and attributes -------------------------------------------------------------------------------------------


def _name(body: Body, node: ast.Name) -> Type:
    if node.id == body.self_name:
        return body.problem(f"hands on `{node.id}`", node)
    found = resolve(body, node)
    if found is None:
        return body.read_name(node)
    kind = body.types[node]
    if kind.kind == "object":
        return body.problem(f"uses `{node.id}`, {_article(type(found.value).__name__)}, as a value", node)
    return kind


def _article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def attribute(body: Body, node: ast.Attribute) -> Type:
    if isinstance(node.value, ast.Name) and node.value.id == body.self_name:
        assert body.fields is not None
        body.types[node.value] = INSTANCE
        kept = body.fields.types.get(body.function.mangled(node.attr))
        if kept is not None:
            if kept == UNKNOWN:
                body.why_unknown(node.attr)
            return kept
    found = resolve(body, node)
    if found is not None:
        if found.problem is not None:
            return body.problem(found.problem, node)
        kind = body.types[node]
        if kind.kind == "object":
            return body.problem(f"uses `{ast.unparse(node)}`, {_article(type(found.value).__name__)}, as a value", node)
        return kind
    owner = expression(body, node.value)
    if owner.kind in ("nothing", "unknown"):
        return owner
    if owner.kind == "tuple" and owner.named is not None:
        member = owner.member(node.attr)
        if member is not None and is_field(owner.named, node.attr):
            return member
        return body.problem(f"reads `.{node.attr}` of a `{owner.named.__name__}`, which is not one of its values", node)
    if owner.kind == "str":
        return body.problem(f"handles strings (`.{node.attr}`)", node)
    return body.problem(f"reads `.{node.attr}` of {described(owner)}", node)


# Operators ------------------------------------------------------------------------------------------------------


def _bool_op(body: Body, node: ast.BoolOp) -> Type:
    """`a and b`, `a or b`: later parts may not be evaluated, so what they assign may be missing."""
    kinds = []
    assigned = None
    for position, value in enumerate(node.values):
        kind = expression(body, value)
        is_last = position == len(node.values) - 1
        if not is_last:
            problem = operators.truth(kind)
            if problem is not None:
                body.problem(problem, value)
        if position == 0:
            assigned = body.assigned
        # What `or` gives is true, unless it is the last: never None.
        if isinstance(node.op, ast.Or) and not is_last:
            kind = NOTHING if kind.kind == "none" else kind.present()
        kinds.append(kind)
    body.assigned = assigned
    result = kinds[0]
    for kind in kinds[1:]:
        result = _joined(body, result, kind, node)
    return result


def _choices(body: Body, test: ast.expr, then: ast.expr, otherwise: ast.expr) -> tuple[Type, Type]:
    """The types of both sides of a choice; `x if x is not None else y` is never None on x's side."""
    before = body.assigned
    one = expression(body, then)
    body.assigned = before
    other = expression(body, otherwise)
    body.assigned = before
    match test:
        case ast.Compare(left=checked, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]):
            is_then = isinstance(op, ast.IsNot)
            side = then if is_then else otherwise
            if isinstance(checked, ast.Name | ast.Attribute) and ast.dump(checked) == ast.dump(side):
                return (one.present(), other) if is_then else (one, other.present())
        case _:
            pass
    return one, other


def _compare(body: Body, node: ast.Compare) -> Type:
    left = expression(body, node.left)
    result = BOOL
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        if isinstance(op, ast.In | ast.NotIn):
            _membership(body, left, right_node)
            left = UNKNOWN
            if len(node.ops) > 1:
                body.problem("uses `in` in a chain of comparisons", node)
            continue
        right = expression(body, right_node)
        kind = _judged(body, operators.comparison(op, left, right), node)
        result = kind if kind != BOOL else result
        left = right
    return result


def _membership(body: Body, kind: Type, node: ast.expr) -> None:
    """`x in (…)`: a display of constants, or a constant container."""
    collection: Type | None = None
    problem: str | None = f"looks into `{ast.unparse(node)}`"
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        members = tuple((str(at), expression(body, each)) for at, each in enumerate(node.elts))
        if all(_is_literal(each) for each in node.elts):
            collection = Type("tuple", members=members)
    else:
        found = resolve(body, node)
        if found is None:
            expression(body, node)
        elif found.problem is not None:
            problem = found.problem
        else:
            collection, changing = collection_type(body, found)
            problem = changing or problem
            if collection is not None and any(isinstance(each, float) and math.isnan(each) for each in found.value):
                collection, problem = None, "looks for NaN, which is found by identity"
    body.types[node] = collection or UNKNOWN
    if collection is not None:
        problem = operators.is_member(kind.present(), collection)
    if problem is not None:
        body.problem(problem, node)


def _is_literal(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return not (isinstance(value, float) and math.isnan(value))
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return True
        case _:
            return False


# Tuples ---------------------------------------------------------------------------------------------------------


def _tuple(body: Body, elements: list[ast.expr], node: ast.expr) -> Type:
    if any(isinstance(each, ast.Starred) for each in elements):
        return body.problem("makes a tuple with `*`", node)
    return Type("tuple", members=tuple((str(at), expression(body, each)) for at, each in enumerate(elements)))


def _subscript(body: Body, value: ast.expr, index: ast.expr, node: ast.expr) -> Type:
    owner = expression(body, value) if resolve(body, value) is None else body.types.get(value, UNKNOWN)
    at = expression(body, index).constant if not isinstance(index, ast.Slice) else None
    if owner.kind == "nothing":
        return NOTHING
    if owner.kind == "tuple" and type(at) is int and -len(owner.members) <= at < len(owner.members):
        return owner.members[at][1]
    if owner.kind == "str":
        body.problem("handles strings (`[…]`)", node)
        return STR
    return body.problem(f"looks into `{ast.unparse(node)}`", node)


def _other(body: Body, node: ast.expr) -> Type:
    for child in ast.walk(node):
        if isinstance(child, ast.NamedExpr):
            body.assign(child.target, UNKNOWN)
    match node:
        case ast.JoinedStr():
            for part in node.values:
                if isinstance(part, ast.FormattedValue):
                    expression(body, part.value)
            body.problem("handles strings (an f-string)", node)
            return STR
        case ast.Yield(value=value):
            emitted(body, value, node)
            body.problem("uses what `yield` gives", node)
            return NONE
        case ast.List() | ast.Set() | ast.Dict():
            return body.problem(f"makes a {type(node).__name__.lower()}", node)
        case ast.Lambda():
            return body.problem("makes a function", node)
    if isinstance(node, COMPREHENSIONS):
        return body.problem("uses a comprehension", node)
    return body.problem(f"uses `{ast.unparse(node)}`", node)


# What is emitted, returned and gone through ---------------------------------------------------------------------


def emitted(body: Body, node: ast.expr | None, at: ast.expr) -> None:
    """A tuple that is yielded, or `ab.to(…)`."""
    kind = expression(body, node) if node is not None else NONE
    if kind.kind in ("unknown", "nothing"):
        return
    if kind.kind != "tuple" or kind.named is None:
        body.problem(f"emits {described(kind)}", at)


def several(body: Body, node: ast.expr) -> None:
    """What `yield from` takes its tuples from, other than a display."""
    expression(body, node)
    body.problem(f"yields from `{ast.unparse(node)}`", node)


def returned(body: Body, node: ast.expr) -> Type:
    """What a function returns: a value, or a display of tuples to be emitted."""
    match node:
        case ast.List(elts=parts):
            for part in parts:
                emitted(body, part, part)
            kind = EMISSIONS
        case ast.IfExp(test=test, body=then, orelse=otherwise) if _has_display(node):
            condition(body, test)
            kind = _joined(body, returned(body, then), returned(body, otherwise), node)
        case _:
            return expression(body, node)
    body.types[node] = kind
    return kind


def _has_display(node: ast.expr) -> bool:
    match node:
        case ast.IfExp(body=then, orelse=otherwise):
            return _has_display(then) or _has_display(otherwise)
        case ast.List():
            return True
        case _:
            return False


def iterated(body: Body, node: ast.expr) -> Type:
    """The type of the elements that `for` goes through."""
    found = resolve(body, node.func) if isinstance(node, ast.Call) else None
    if isinstance(node, ast.Call) and found is not None and found.value is range:
        kinds = [expression(body, each) for each in node.args]
        body.calls[node] = Builtin("range")
        body.types[node] = INT
        if node.keywords or not 1 <= len(kinds) <= 3 or any(k.kind not in ("int", "bool", "nothing") for k in kinds):
            body.problem("calls range on something other than ints", node)
        return INT
    kind = expression(body, node)
    body.problem(f"goes through `{ast.unparse(node)}`", node)
    if kind.kind != "tuple":
        return UNKNOWN
    element = NOTHING
    for _, each in kind.members:
        element = join(element, each)
    return element
