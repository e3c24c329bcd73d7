"""Whether an expression makes an object that nobody else holds, nor, where that matters, any part of it."""

from __future__ import annotations

import ast
import collections
import copy
import sys
from types import BuiltinFunctionType, FunctionType, MappingProxyType, ModuleType
from typing import Any

from anabranch.analysis import purity
from anabranch.analysis.methods import ATOM_TYPES
from anabranch.analysis.modules import is_library_module
from anabranch.analysis.reading import Kind, Reader, is_definitely_no_method_of_the_user
from anabranch.analysis.resolving import resolve, stands_for_now
from anabranch.analysis.scopes import scope_of
from anabranch.analysis.shapes import Shape
from anabranch.analysis.source import SourceText, locate
from anabranch.analysis.special_methods import user_method
from anabranch.analysis.uses import uses_of
from anabranch.analysis.words import words

_FRESH_METHODS = words(
    """split rsplit splitlines copy read readlines tolist groupdict findall fromkeys union intersection difference
    symmetric_difference  most_common read_text"""
)
_MAKING_NEW = ("builtins", "collections", "array", "string")
_NOT_FRESH: tuple[Any, ...] = (vars, globals, locals, getattr, next, iter, max, min, sum, __import__)


def is_definitely_fresh(node: ast.AST | None, names: dict[str, Any], are_parts_immutable: bool) -> bool:
    """Whether an expression makes an object nobody else holds, nor, where that matters, any part of it."""
    match node:
        case ast.Constant() | ast.JoinedStr():
            return True
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return are_parts_immutable or all(_is_fresh_part(part, names) for part in parts)
        case ast.Dict(values=values):
            return are_parts_immutable or all(_is_fresh_part(part, names) for part in values)
        case ast.ListComp(elt=part) | ast.SetComp(elt=part) | ast.DictComp(value=part):
            return are_parts_immutable or _is_fresh_part(part, names)
        case ast.BinOp():
            return are_parts_immutable
        case ast.IfExp(body=body, orelse=orelse):
            return all(is_definitely_fresh(part, names, are_parts_immutable) for part in (body, orelse))
        case ast.Call(func=ast.Attribute(value=ast.Name(id="str"), attr="maketrans")):
            return True
        case ast.Call(func=function, args=[inner]) if resolve(function, names) is MappingProxyType:
            return is_definitely_fresh(inner, names, are_parts_immutable)
        case ast.Call(func=ast.Attribute(attr=name)) if name in _FRESH_METHODS and not _is_of_module(node.func, names):
            return are_parts_immutable and is_definitely_no_method_of_the_user(name, names)
        case ast.Call(func=function):
            return _makes_something_fresh(resolve(function, names), node, names, are_parts_immutable)
        case _:
            return False


def _is_of_module(function: ast.expr, names: dict[str, Any]) -> bool:
    return isinstance(function, ast.Attribute) and isinstance(stands_for_now(function.value, names), ModuleType)


def _is_fresh_part(node: ast.AST | None, names: dict[str, Any]) -> bool:
    return is_definitely_fresh(node, names, are_parts_immutable=False)


def _makes_something_fresh(callee: Any, call: ast.Call, names: dict[str, Any], are_parts_immutable: bool) -> bool:
    if callee is None or any(callee is one for one in _NOT_FRESH):
        return False
    if callee is sorted or (isinstance(callee, type) and _is_plain_container(callee)):
        return are_parts_immutable or not (call.args or call.keywords)
    spec = purity.spec_of(callee)
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if spec is not None and not spec.may_return:
        return are_parts_immutable or not spec.holds
    if spec is not None:
        return all(_holds_nothing_of_others(argument, names) for argument in given)
    if callee is copy.deepcopy or (callee is copy.copy and are_parts_immutable):
        return True
    if not isinstance(callee, FunctionType | BuiltinFunctionType):
        return False
    module = sys.modules.get(callee.__module__ or "")
    if module is not None and is_library_module(module):
        # What a library function makes is its caller's, unless it is what it was given.
        return all(_holds_nothing_of_others(argument, names) for argument in given)
    return are_parts_immutable and isinstance(callee, FunctionType) and _returns_something_fresh(callee)


def _is_plain_container(cls: type) -> bool:
    """Whether calling it makes a container as the library does: it is one of its classes, or made no different."""
    if cls.__module__ in _MAKING_NEW:
        return True
    is_container = issubclass(cls, list | dict | set | collections.deque)
    return is_container and type(cls) is type and not user_method(cls, "__new__") and not user_method(cls, "__init__")


def _holds_nothing_of_others(node: ast.expr, names: dict[str, Any]) -> bool:
    match node:
        case ast.Constant() | ast.JoinedStr():
            return True
        case ast.Name() | ast.Attribute():
            found = resolve(node, names)
            return type(found) in ATOM_TYPES - {type(None)} or isinstance(found, type | ModuleType | FunctionType)
        case ast.Call(func=function, args=arguments):
            callee = resolve(function, names)
            module = sys.modules.get(getattr(callee, "__module__", None) or "")
            is_library = module is not None and is_library_module(module)
            return is_library and all(_holds_nothing_of_others(argument, names) for argument in arguments)
        case ast.BinOp(left=left, right=right):
            return _holds_nothing_of_others(left, names) and _holds_nothing_of_others(right, names)
        case _:
            return False


def _returns_something_fresh(function: FunctionType) -> bool:
    """Whether each `return` gives a new container, or a variable that held one and went nowhere else."""
    located = locate(function.__code__, function.__globals__)
    if located is None or isinstance(located.node, ast.Lambda) or scope_of(located.node).is_generator:
        return False
    names, node = function.__globals__, located.node
    reader = Reader(located.text, names, Shape(1))
    returns = [n for n in ast.walk(node) if isinstance(n, ast.Return) and located.text.enclosing(n)[0] is node]
    for statement in returns:
        if isinstance(statement.value, ast.Name) and statement.value.id in scope_of(node).own:
            if statement.value.id in scope_of(node).parameters:
                return False
            for use in uses_of(located.text).variables[node, statement.value.id]:
                if use.function is not node or not _keeps_fresh(use.node, located.text, reader):
                    return False
        elif _calls(statement.value, function, names) or not is_definitely_fresh(statement.value, names, True):
            return False
    return bool(returns)


def _calls(node: ast.AST | None, function: FunctionType, names: dict[str, Any]) -> bool:
    return isinstance(node, ast.Call) and resolve(node.func, names) is function


def _keeps_fresh(node: ast.AST, text: SourceText, reader: Reader) -> bool:
    parent = text.parents.get(node)
    match node, parent:
        case ast.Name(ctx=ast.Store()), ast.Assign(value=value) | ast.AnnAssign(value=value):
            return is_definitely_fresh(value, reader.names, True)
        case ast.Name(ctx=ast.Store()), ast.AugAssign():
            return True
        case ast.Name(ctx=ast.Load()), ast.Return():
            return True
        case ast.Name(ctx=ast.Load()), _:
            return reader.kind(node) is not Kind.ESCAPES
        case _:
            return False
