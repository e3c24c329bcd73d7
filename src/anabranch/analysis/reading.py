"""Whether one use of an object, as it stands in the text, only reads it, changes it, or lets it out of sight."""

from __future__ import annotations

import ast
import builtins
import copy
import sys
from dataclasses import dataclass, replace
from enum import Enum
from types import BuiltinFunctionType, FunctionType, MappingProxyType, ModuleType
from typing import Any

from anabranch.analysis import purity
from anabranch.analysis.methods import ANY_CHANGING
from anabranch.analysis.modules import is_library_module, namespace_of, neighbours
from anabranch.analysis.scopes import FUNCTIONS, scope_of
from anabranch.analysis.source import SourceText, locate
from anabranch.analysis.uses import uses_of
from anabranch.analysis.values import FunctionNode
from anabranch.analysis.words import words

_READING_METHODS = words(
    """get items keys values index count copy union intersection difference symmetric_difference issubset
    issuperset isdisjoint most_common elements total tolist mean sum min max std"""
)
_SCALAR_METHODS = frozenset({"index", "count", "issubset", "issuperset", "isdisjoint", "total"})
_FRESH_METHODS = words(
    """split rsplit splitlines copy read readlines tolist groupdict findall fromkeys union intersection difference
    symmetric_difference most_common read_text loads load"""
)
_TEXT_METHODS = words("translate startswith endswith format_map")
_HARMLESS_ATTRIBUTES = frozenset({"shape", "size", "dtype", "ndim", "maxlen"})
_READING_BUILTINS: tuple[Any, ...] = (
    len, sorted, min, max, sum, any, all, list, tuple, set, frozenset, dict, enumerate, zip, range, str, repr, print,
    isinstance, reversed, bool, map, filter, type, round, abs, format, int, float,
)  # fmt: skip
_NOT_FRESH: tuple[Any, ...] = (vars, globals, locals, getattr, next, iter, max, min, __import__)


class Kind(Enum):
    READS = "reads"
    CHANGES = "changes"
    ESCAPES = "lets others hold"


@dataclass(frozen=True)
class Reader:
    """Classifies uses in one text; `are_parts_immutable` says whether what the object holds can itself be changed."""

    text: SourceText
    names: dict[str, Any]
    are_parts_immutable: bool
    followed: frozenset[tuple[FunctionNode, str]] = frozenset()  # variables that stand for the object

    def kind(self, node: ast.AST) -> Kind:
        """How the object that `node` evaluates to is used."""
        parent = self.text.parents.get(node)
        match parent:
            case ast.Subscript(value=value, ctx=ctx) if value is node:
                return self._part(parent) if isinstance(ctx, ast.Load) else Kind.CHANGES
            case ast.Attribute(attr=name, ctx=ctx):
                return self._attribute(parent, name) if isinstance(ctx, ast.Load) else Kind.CHANGES
            case ast.Call(args=arguments) if node in arguments:
                return self._argument(parent)
            case ast.keyword(arg=str()):
                call = self.text.parents.get(parent)
                return self._argument(call) if isinstance(call, ast.Call) else Kind.ESCAPES
            case ast.For(iter=iterable) | ast.comprehension(iter=iterable) if iterable is node:
                return self._if_parts_immutable()
            case ast.Starred() | ast.keyword() | ast.BinOp() | ast.Match():
                return self._if_parts_immutable()
            case ast.AugAssign(value=value) if value is node:
                return self._if_parts_immutable()
            case ast.Compare() | ast.UnaryOp() | ast.FormattedValue() | ast.Expr() | ast.Assert() | ast.Slice():
                return Kind.READS
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if test is node:
                return Kind.READS
            case ast.Subscript():
                return Kind.READS
            case ast.BoolOp() | ast.IfExp():
                return self.kind(parent)
            case ast.Assign(targets=[ast.Name() as target]) | ast.NamedExpr(target=ast.Name() as target):
                inner = self._variable(target)
                return self._worst(inner, self.kind(parent)) if isinstance(parent, ast.NamedExpr) else inner
            case ast.Delete():
                return Kind.CHANGES
            case _:
                return Kind.ESCAPES

    def _variable(self, target: ast.Name) -> Kind:
        """How a function uses a variable that it gave the object to."""
        owner = next((n for n in self.text.enclosing(target) if isinstance(n, FUNCTIONS)), None)
        if owner is None or target.id not in scope_of(owner).own or (owner, target.id) in self.followed:
            return Kind.ESCAPES
        inner = replace(self, followed=self.followed | {(owner, target.id)})
        result = Kind.READS
        for use in uses_of(self.text).variables[owner, target.id]:
            if isinstance(use.node, ast.Name) and isinstance(use.node.ctx, ast.Load):
                result = self._worst(result, inner.kind(use.node))
        return result

    def _worst(self, one: Kind, other: Kind) -> Kind:
        order = list(Kind)
        return order[max(order.index(one), order.index(other))]

    def _if_parts_immutable(self) -> Kind:
        return Kind.READS if self.are_parts_immutable else Kind.ESCAPES

    def _part(self, node: ast.AST) -> Kind:
        return Kind.READS if self.are_parts_immutable else self.kind(node)

    def _attribute(self, node: ast.Attribute, name: str) -> Kind:
        call = self.text.parents.get(node)
        if not (isinstance(call, ast.Call) and call.func is node):
            return Kind.READS if name in _HARMLESS_ATTRIBUTES else Kind.ESCAPES
        if name in ANY_CHANGING:
            return Kind.CHANGES
        if name in _SCALAR_METHODS:
            return Kind.READS
        return self._part(call) if name in _READING_METHODS else Kind.ESCAPES

    def _argument(self, call: ast.Call) -> Kind:
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Constant):
            return self._if_parts_immutable()  # ", ".join(names)
        if isinstance(call.func, ast.Attribute) and self._is_definitely_a_text_method(call.func.attr):
            return self._if_parts_immutable()
        if self._is_shadowed(call.func):
            return Kind.ESCAPES
        callee = resolve(call.func, self.names)
        if callee is copy.deepcopy:
            return Kind.READS
        if any(callee is reading for reading in _READING_BUILTINS):
            if callee in (min, max) and len(call.args) > 1:
                return Kind.ESCAPES
            return self._if_parts_immutable() if callee not in (len, bool, isinstance) else Kind.READS
        if str(getattr(callee, "__module__", "")).split(".")[0] == "anabranch":
            return Kind.READS  # the program's own building calls copy what they are given
        spec = purity.spec_of(callee)
        if spec is None or spec.changes is not None or any(k.arg == "out" for k in call.keywords):
            return Kind.ESCAPES
        return self.kind(call) if spec.may_return else self._if_parts_immutable()

    def _is_definitely_a_text_method(self, name: str) -> bool:
        """Whether only strings have a method of this name, no class of the user's."""
        return name in _TEXT_METHODS and not any(
            f"def {name}" in text.text or f".{name} =" in text.text
            for namespace in neighbours(namespace_of(self.names))
            for text in namespace.texts
        )

    def _is_shadowed(self, function: ast.expr) -> bool:
        """Whether the called name is a variable of a function, so that the global says nothing of it."""
        base = function
        while isinstance(base, ast.Attribute):
            base = base.value
        around = [scope_of(n) for n in self.text.enclosing(function) if isinstance(n, FUNCTIONS)]
        return not isinstance(base, ast.Name) or any(base.id in scope.own for scope in around)


def resolve(node: ast.AST, names: dict[str, Any]) -> Any:
    """The object a dotted name stands for now, as a global or builtin; None where that is not known."""
    match node:
        case ast.Name(id=name):
            return names.get(name, getattr(builtins, name, None))
        case ast.Attribute(value=value, attr=name):
            owner = resolve(value, names)
            return vars(owner).get(name) if isinstance(owner, ModuleType | type) else None
        case _:
            return None


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
        case ast.Call(func=ast.Attribute(attr=name) as function) if name in _FRESH_METHODS:
            owner = resolve(function.value, names)
            return are_parts_immutable or name in ("loads", "load") or (owner is None and name == "splitlines")
        case ast.Call(func=function):
            return _makes_something_fresh(resolve(function, names), are_parts_immutable)
        case _:
            return False


def _is_fresh_part(node: ast.AST | None, names: dict[str, Any]) -> bool:
    return is_definitely_fresh(node, names, are_parts_immutable=False)


def _makes_something_fresh(callee: Any, are_parts_immutable: bool) -> bool:
    if callee is None or any(callee is one for one in _NOT_FRESH):
        return False
    if isinstance(callee, type) and callee.__module__ in ("builtins", "collections", "array"):
        return are_parts_immutable
    spec = purity.spec_of(callee)
    if spec is not None:
        return not spec.may_return and (are_parts_immutable or not spec.holds)
    if not are_parts_immutable or not isinstance(callee, FunctionType | BuiltinFunctionType):
        return False
    module = sys.modules.get(callee.__module__ or "")
    if module is not None and is_library_module(module):
        return True  # a library function gives its caller a container of its own; the user's functions may not
    return isinstance(callee, FunctionType) and _returns_something_fresh(callee)


def _returns_something_fresh(function: FunctionType) -> bool:
    """Whether each `return` gives a new container, or a variable that held one and went nowhere else."""
    located = locate(function.__code__, function.__globals__)
    if located is None or isinstance(located.node, ast.Lambda) or scope_of(located.node).is_generator:
        return False
    names, node = function.__globals__, located.node
    reader = Reader(located.text, names, are_parts_immutable=True)
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
