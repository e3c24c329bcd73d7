"""Whether one use of an object, as it stands in the text, only reads it, changes it, or lets it out of sight."""

from __future__ import annotations

import ast
import copy
import re
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from anabranch.analysis import purity
from anabranch.analysis.array_arguments import ALWAYS_NEW, may_write_to_arguments
from anabranch.analysis.methods import ANY_CHANGING
from anabranch.analysis.modules import namespace_of
from anabranch.analysis.program import program_around
from anabranch.analysis.resolving import resolve
from anabranch.analysis.scopes import is_local, owner_of
from anabranch.analysis.shapes import DEEPEST, Shape
from anabranch.analysis.source import SourceText
from anabranch.analysis.special_methods import methods_called_by
from anabranch.analysis.uses import uses_of
from anabranch.analysis.values import FunctionNode
from anabranch.analysis.words import words

_READING_METHODS = words(
    """get items keys values index count copy union intersection difference symmetric_difference issubset
    issuperset isdisjoint most_common elements total tolist mean sum min max std substitute safe_substitute"""
)
_SCALAR_METHODS = frozenset({"index", "count", "issubset", "issuperset", "isdisjoint", "total"})
_TEXT_METHODS = words("translate startswith endswith format_map")
_NEW_FROM_ARRAYS = words(
    "all any argmax argmin argsort astype copy cumsum dot item max mean min prod std sum tolist var"
)
_TAKING_ELEMENTS = words("accumulate chain combinations islice nlargest nsmallest pairwise permutations zip_longest")
_HARMLESS_ATTRIBUTES = frozenset({"shape", "size", "dtype", "ndim", "maxlen"})
_READING_BUILTINS: tuple[Any, ...] = (
    len, sorted, min, max, sum, any, all, list, tuple, set, frozenset, dict, enumerate, zip, range, str, repr, print,
    isinstance, reversed, bool, map, filter, type, round, abs, format, int, float,
)  # fmt: skip
_TELLING: tuple[Any, ...] = (len, bool, isinstance, int, float, str, repr, format)  # what they give holds no part
_TAKING_KEYS: tuple[Any, ...] = (sorted, list, tuple, set, frozenset, sum, any, all, min, max)


class Kind(Enum):
    READS = "reads"
    CHANGES = "changes"
    ESCAPES = "lets others hold"


@dataclass(frozen=True)
class Reader:
    """Classifies uses in one text.

    `shape` says how deep the object can be changed.
    """

    text: SourceText
    names: dict[str, Any]
    shape: Shape
    followed: frozenset[tuple[FunctionNode, str]] = frozenset()  # variables that stand for the object

    @property
    def are_parts_immutable(self) -> bool:
        return self.shape.depth <= 1

    def kind(self, node: ast.AST) -> Kind:
        """How the object that `node` evaluates to is used."""
        if self.shape.depth <= 0:
            return Kind.READS  # it cannot be changed
        parent = self.text.parents.get(node)
        if self.shape.grows and isinstance(parent, ast.BinOp):
            return Kind.CHANGES  # "%(name)s" % table asks for what is not there
        if _may_be_given_to_code_of_the_user(node, parent, self.names):
            return Kind.ESCAPES
        match parent:
            case ast.Subscript(value=value, ctx=ctx) if value is node:
                if not isinstance(ctx, ast.Load) or self.shape.grows:
                    return Kind.CHANGES
                is_view = self.shape.is_array and not _is_definitely_a_number(parent.slice)
                return self.kind(parent) if is_view else self._part(parent)
            case ast.Attribute(attr=name, ctx=ctx):
                return self._attribute(parent, name) if isinstance(ctx, ast.Load) else Kind.CHANGES
            case ast.Call(args=arguments) if node in arguments:
                return self._argument(parent)
            case ast.keyword(arg=str()):
                return Kind.ESCAPES
            case ast.For(iter=iterable) | ast.comprehension(iter=iterable) if iterable is node:
                is_plain = self.are_parts_immutable or self.shape.is_mapping
                return Kind.READS if is_plain else self._parts(parent)
            case ast.BinOp() if self.shape.is_array:
                return Kind.READS  # computing with arrays makes new ones
            case ast.Match(cases=cases):
                patterns = [node for case in cases for node in ast.walk(case.pattern)]
                names_it = any(isinstance(pattern, ast.MatchAs) and pattern.name for pattern in patterns)
                return Kind.ESCAPES if names_it else self._if_parts_immutable()
            case ast.Starred() | ast.keyword() | ast.BinOp():
                return self._if_parts_immutable()
            case ast.AugAssign(value=value) if value is node:
                return self._if_parts_immutable()
            case ast.Compare() | ast.UnaryOp() | ast.FormattedValue() | ast.Expr() | ast.Assert() | ast.Slice():
                return Kind.READS
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if test is node:
                return Kind.READS
            case ast.Subscript():
                return Kind.READS
            case ast.Dict(keys=keys, values=values):
                spread = [value for key, value in zip(keys, values, strict=True) if key is None]
                return self._if_parts_immutable() if node in spread else Kind.ESCAPES
            case ast.BoolOp() | ast.IfExp():
                return self.kind(parent)
            case ast.Assign(targets=[ast.Name() as target]) | ast.NamedExpr(target=ast.Name() as target):
                inner = self._variable(target)
                return _worst(inner, self.kind(parent)) if isinstance(parent, ast.NamedExpr) else inner
            case ast.Delete():
                return Kind.CHANGES
            case _:
                return Kind.ESCAPES

    def _variable(self, target: ast.Name) -> Kind:
        """How a function uses a variable that it gave the object to."""
        owner = owner_of(target.id, target, self.text)
        if owner is None or (owner, target.id) in self.followed:
            return Kind.ESCAPES
        inner = replace(self, followed=self.followed | {(owner, target.id)})
        result = Kind.READS
        for use in uses_of(self.text).variables[owner, target.id]:
            if not isinstance(use.node, ast.Name):
                return Kind.ESCAPES
            if isinstance(use.node.ctx, ast.Load):
                result = _worst(result, inner.kind(use.node))
            elif isinstance(self.text.parents.get(use.node), ast.AugAssign):
                result = _worst(result, Kind.CHANGES)
        return result

    def _if_parts_immutable(self) -> Kind:
        return Kind.READS if self.are_parts_immutable else Kind.ESCAPES

    def _if_numbers(self) -> Kind:
        """An array of objects gives what it holds to a new one."""
        return Kind.READS if self.shape.depth < DEEPEST else Kind.ESCAPES

    def _parts(self, loop: ast.For | ast.comprehension) -> Kind:
        """How the elements are used, one after the other."""
        if not isinstance(loop.target, ast.Name):
            return Kind.ESCAPES
        inner = replace(self, shape=self.shape.of_part)
        if isinstance(loop, ast.For):
            return inner._variable(loop.target)
        around = self.text.parents.get(loop)
        named = [n for n in ast.walk(around) if isinstance(n, ast.Name) and n.id == loop.target.id] if around else []
        result = Kind.READS if around else Kind.ESCAPES
        for name in named:
            result = _worst(result, inner.kind(name) if isinstance(name.ctx, ast.Load) else Kind.READS)
        return result

    def _part(self, node: ast.AST) -> Kind:
        return replace(self, shape=self.shape.of_part).kind(node)

    def _attribute(self, node: ast.Attribute, name: str) -> Kind:
        call = self.text.parents.get(node)
        if not (isinstance(call, ast.Call) and call.func is node):
            is_asked = name in ("get", "__getitem__", *_SCALAR_METHODS) and self._is_only_called(node)
            return Kind.READS if is_asked or name in _HARMLESS_ATTRIBUTES else Kind.ESCAPES
        if name in ANY_CHANGING:
            return Kind.CHANGES
        if name in _SCALAR_METHODS:
            return Kind.READS
        if self.shape.is_array and name in _NEW_FROM_ARRAYS:
            is_new = all(keyword.arg not in (None, "copy", "subok") for keyword in call.keywords)
            return Kind.READS if is_new and (name != "astype" or len(call.args) < 2) else Kind.ESCAPES
        if name == "get":
            return self._part(call)
        # A view or a copy of the container holds the same parts.
        if name not in _READING_METHODS:
            return Kind.ESCAPES
        if self.are_parts_immutable or (self.shape.is_mapping and name == "keys"):
            return Kind.READS
        # Going through these gives the values.
        gives_values = name in ("values", "items", "elements", "most_common")
        return (replace(self, shape=replace(self.shape, is_mapping=False)) if gives_values else self).kind(call)

    def _is_only_called(self, method: ast.Attribute) -> bool:
        """`max(names, key=table.get)`, `map(table.get, names)`: nobody gets the method but who calls it."""
        parent = self.text.parents.get(method)
        is_named = isinstance(parent, ast.keyword)
        call = self.text.parents.get(parent) if isinstance(parent, ast.keyword) else parent
        functions: tuple[Any, ...] = (sorted, min, max) if is_named else (map, filter)
        if not isinstance(call, ast.Call) or not self.are_parts_immutable or self.shape.grows:
            return False
        is_there = getattr(parent, "arg", None) == "key" if is_named else call.args[:1] == [method]
        callee = None if self._is_shadowed(call.func) else resolve(call.func, self.names)
        return is_there and any(callee is function for function in functions)

    def _argument(self, call: ast.Call) -> Kind:
        if self.shape.grows and isinstance(call.func, ast.Attribute):
            return Kind.ESCAPES  # text.format_map(table) asks for what is not there
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Constant):
            return self._if_parts_immutable()  # ", ".join(names)
        if isinstance(call.func, ast.Attribute) and call.func.attr in _TEXT_METHODS:
            is_of_text = is_definitely_no_method_of_the_user(call.func.attr, self.names)
            return self._if_parts_immutable() if is_of_text else Kind.ESCAPES
        if self._is_shadowed(call.func):
            return Kind.ESCAPES
        callee = resolve(call.func, self.names)
        if callee is copy.deepcopy:
            return Kind.READS
        if any(callee is reading for reading in _READING_BUILTINS):
            if callee in (min, max) and len(call.args) > 1:
                return Kind.ESCAPES
            if callee in _TELLING or (self.shape.is_mapping and callee in _TAKING_KEYS):
                return Kind.READS
            return self._if_parts_immutable()
        if str(getattr(callee, "__module__", "")).split(".")[0] == "anabranch":
            return Kind.READS  # the program's own building calls copy what they are given
        spec = purity.spec_of(callee)
        if spec is None or spec.changes is not None or any(isinstance(each, ast.Starred) for each in call.args):
            return Kind.ESCAPES
        if may_write_to_arguments(callee, len(call.args), [keyword.arg for keyword in call.keywords]):
            return Kind.ESCAPES
        if self.shape.is_array and getattr(callee, "__name__", "") in ALWAYS_NEW:
            return self._if_numbers()
        if spec.may_return:
            # An array in another shape, or a list of its pieces: how deep that is, is not known.
            deeper = replace(self.shape, depth=self.shape.depth + 2) if self.shape.is_array else self.shape
            return replace(self, shape=deeper).kind(call)
        only_elements = not spec.holds or getattr(callee, "__name__", "") in _TAKING_ELEMENTS
        return self._if_parts_immutable() if only_elements else Kind.ESCAPES

    def _is_shadowed(self, function: ast.expr) -> bool:
        """Whether the called name is a variable of a function, so that the global says nothing of it."""
        base = function
        while isinstance(base, ast.Attribute):
            base = base.value
        return not isinstance(base, ast.Name) or is_local(base.id, function, self.text)


def _is_definitely_a_number(index: ast.expr) -> bool:
    """Whether an index is a whole number that is plain to see, or one for each axis; anything else may give a view."""
    match index:
        case ast.Tuple(elts=parts):
            return all(map(_is_definitely_a_number, parts))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_definitely_a_number(operand)
        case ast.Constant(value=value):
            return type(value) is int
        case _:
            return False


def _worst(one: Kind, other: Kind) -> Kind:
    order = list(Kind)
    return order[max(order.index(one), order.index(other))]


def _may_be_given_to_code_of_the_user(node: ast.AST, parent: ast.AST | None, names: dict[str, Any]) -> bool:
    """Whether the other side of an operator may be an object whose class defines it, and so gets this one."""
    match parent:
        case ast.BinOp(left=left, right=right, op=op):
            others, constructs = [left, right], [type(op).__name__, f"{type(op).__name__}:right"]
        case ast.AugAssign(target=target, op=op, value=value) if value is node:
            name = type(op).__name__
            others, constructs = [target], [name, f"{name}:right", f"{name}:in_place"]
        case ast.Compare(left=left, comparators=comparators, ops=ops):
            others = [left, *comparators]
            compared = [type(op).__name__ for op in ops]
            constructs = [name for name in compared if name not in ("Is", "IsNot", "In", "NotIn")]
            constructs += [f"{name}:right" for name in constructs]
            if node is left and any(name in ("In", "NotIn") for name in compared):
                constructs.append("In")
        case ast.Subscript(value=value, slice=index) if index is node:
            others, constructs = [value], ["Subscript:load", "Subscript:store", "Subscript:delete"]
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, classes]):
            return not is_definitely_no_method_of_the_user("__instancecheck__", names) and classes is not node
        case _:
            return False
    if all(other is node or isinstance(other, _LITERALS) for other in others):
        return False
    called = {name for construct in constructs for name in methods_called_by(construct)}
    return not all(is_definitely_no_method_of_the_user(name, names) for name in sorted(called))


_LITERALS = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.JoinedStr)


def is_definitely_no_method_of_the_user(name: str, names: dict[str, Any]) -> bool:
    """Whether no class of the program has a method of this name, so that it must be one of a library's."""
    return not any(
        name in namespace.strays.names or any(name in _defined_names(text) for text in namespace.texts)
        for namespace in program_around(namespace_of(names))
    )


_defined: dict[SourceText, frozenset[str]] = {}


def _defined_names(text: SourceText) -> frozenset[str]:
    """Whatever a text may define: functions, and names before an equals sign."""
    if text not in _defined:
        assigned = re.findall(r"(\w+)\s*(?::[^=\n]*)?=", text.text)
        _defined[text] = frozenset((*re.findall(r"\bdef\s+(\w+)", text.text), *assigned))
    return _defined[text]
