"""Whether an expression makes an array of numpy whose memory nobody else has."""

from __future__ import annotations

import ast
from numbers import Number
from typing import Any

from anabranch.analysis.array_arguments import ALWAYS_NEW
from anabranch.analysis.lifting import is_array, is_array_scalar
from anabranch.analysis.purity import is_numpy_ufunc, spec_of
from anabranch.analysis.reading import Kind, Reader
from anabranch.analysis.resolving import resolve
from anabranch.analysis.scopes import owner_of, scope_of
from anabranch.analysis.shapes import DEEPEST
from anabranch.analysis.uses import uses_of
from anabranch.analysis.words import words

_NEW_BY_METHOD = words("astype copy cumsum dot max mean min prod round std sum var")
_VIEWS = words("ravel reshape squeeze swapaxes transpose view")
_ALIASING = ("out", "copy", "like", "subok")  # with these, it may be something else


def is_definitely_a_new_array(node: ast.AST | None, reader: Reader) -> bool:
    """For an array of plain numbers or texts: one of objects holds what others may hold, too."""
    if not reader.shape.is_array or reader.shape.depth >= DEEPEST or node is None:
        return False
    if _is_new(node, reader.names):
        return True
    base = node.value if isinstance(node, ast.Subscript) else node
    return isinstance(base, ast.Name) and _is_new_variable(base, reader)


def _is_new_variable(node: ast.Name, reader: Reader) -> bool:
    """Whether a variable of a function gets nothing but new arrays, and the function gives them to nobody else."""
    text = reader.text
    owner = owner_of(node.id, node, text)
    if owner is None or node.id in scope_of(owner).parameters:
        return False
    for use in uses_of(text).variables[owner, node.id]:
        parent = text.parents.get(use.node)
        if use.node is node:
            continue
        if not isinstance(use.node, ast.Name) or use.function is not owner:
            return False
        if isinstance(use.node.ctx, ast.Load):
            if reader.kind(use.node) is not Kind.READS:
                return False
        elif not (isinstance(parent, ast.Assign) and len(parent.targets) == 1 and _is_new(parent.value, reader.names)):
            return False
    return True


def _is_new(node: ast.AST | None, names: dict[str, Any]) -> bool:
    match node:
        case ast.Call(keywords=keywords) if any(keyword.arg in (None, *_ALIASING) for keyword in keywords):
            return False
        case ast.Call(func=function) if (callee := _of_numpy(function, names)) is not None:
            if is_numpy_ufunc(callee):
                return len(node.args) <= int(callee.nin)
            if callee.__name__ in ALWAYS_NEW:
                return True
            return all(_is_apart(argument, names) for argument in node.args)
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in _NEW_BY_METHOD:
            return len(node.args) <= 1 and _is_computed(value, names)
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in _VIEWS:
            return _is_new(value, names)
        case ast.Attribute(value=value, attr="T"):
            return _is_new(value, names)
        case ast.Subscript(value=value):
            return _is_new(value, names)
        case ast.BinOp(left=left, right=right):
            return _is_computed(left, names) and _is_computed(right, names)
        case ast.UnaryOp(operand=operand):
            return _is_computed(operand, names)
        case _:
            return False


def _is_apart(node: ast.expr, names: dict[str, Any]) -> bool:
    """Whether no array can be a view on it that others see: a number, a list, or an array that is new."""
    match node:
        case ast.Constant() | ast.List() | ast.ListComp():
            return True
        case ast.UnaryOp(operand=ast.Constant()):
            return True
        case _:
            return _is_new(node, names)


def _is_computed(node: ast.expr, names: dict[str, Any]) -> bool:
    """Whether it is an array or a number of numpy's and Python's own, so that computing with it makes a new one."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, Number)
        case ast.Name():
            found = resolve(node, names)
            return is_array(found) or is_array_scalar(found) or type(found) in (int, float, bool)
        case _:
            return _is_new(node, names)


def _of_numpy(function: ast.expr, names: dict[str, Any]) -> Any:
    callee = resolve(function, names)
    is_known = callee is not None and (is_numpy_ufunc(callee) or spec_of(callee) is not None)
    is_numpy = is_numpy_ufunc(callee) or str(getattr(callee, "__module__", "")).partition(".")[0] == "numpy"
    return callee if is_known and is_numpy and not isinstance(callee, type) else None
