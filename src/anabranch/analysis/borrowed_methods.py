"""Whether a method may be called with something that is no instance of its class: `Helper.up(anything)`.

Known to be right are calls by an instance, or with so few arguments that one has to be; anything else may be another.
"""

from __future__ import annotations

import ast
import importlib
from typing import Any

from anabranch.analysis.modules import Namespace, namespace_of, world
from anabranch.analysis.program import program_around
from anabranch.analysis.reading import Kind, Reader
from anabranch.analysis.resolving import resolve
from anabranch.analysis.scopes import FUNCTIONS, is_local, owner_of, scope_of
from anabranch.analysis.shapes import UNKNOWN_SHAPE
from anabranch.analysis.source import SourceText
from anabranch.analysis.syntax import walk
from anabranch.analysis.uses import Use, uses_of
from anabranch.analysis.values import FunctionNode
from anabranch.analysis.words import words

Method = ast.FunctionDef | ast.AsyncFunctionDef
# By these the function in a method, or in a property, is reached.
_TAKING_APART = words("__func__ __wrapped__ fget fset fdel func __get__ __getattribute__ __call__")
_taken: dict[tuple[FunctionNode, int], bool] = {}


def is_taken_from_its_class(method: Method, cls: ast.ClassDef, text: SourceText, names: dict[str, Any]) -> bool:
    """Whether no object of its class need be a method's first argument."""
    key = (method, world())
    if key not in _taken:
        is_named = any(not _is_definition(use, method) for use in uses_of(text).class_names[cls.name, method.name])
        _taken[key] = is_named or any(
            _is_taken_in(each, method, other) for other in program_around(namespace_of(names)) for each in other.texts
        )
    return _taken[key]


def _is_taken_in(text: SourceText, method: Method, where: Namespace) -> bool:
    if _may_be_taken_unnamed(text, where) or method.name in _taken_by_strings(text):
        return True
    if any(method.name.startswith(beginning) for beginning in _beginnings(text)):
        return True
    if any(method.name in getattr(use.node, "kwd_attrs", ()) for use in uses_of(text).patterns):
        return True
    return any(_may_be_unbound(use, method, where) for use in uses_of(text).attributes.get(method.name, ()))


def _is_definition(use: Use, method: ast.AST) -> bool:
    return isinstance(use.node, ast.FunctionDef | ast.AsyncFunctionDef) or use.node is method


_by_strings: dict[SourceText, frozenset[str]] = {}


def _taken_by_strings(text: SourceText) -> frozenset[str]:
    """The names in `getattr(Helper, "up")`, `vars(Helper)["up"]`, `methodcaller("up", anything)` and their like."""
    if text not in _by_strings:
        found: set[str] = set()
        for node in walk(text.tree):
            match node:
                case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_]):
                    found.add(name)
                case ast.Call(
                    func=ast.Name(id="methodcaller" | "attrgetter" | "getattr_static")
                    | ast.Attribute(attr="methodcaller" | "attrgetter" | "getattr_static"),
                    args=arguments,
                ):
                    parts = [each.value for each in arguments if isinstance(each, ast.Constant)]
                    found.update(part for each in parts if isinstance(each, str) for part in each.split("."))
                case ast.Subscript(
                    value=ast.Attribute(attr="__dict__") | ast.Call(func=ast.Name(id="vars")),
                    slice=ast.Constant(value=str(name)),
                ):
                    found.add(name)
                case _:
                    pass
        _by_strings[text] = frozenset(found)
    return _by_strings[text]


_begun: dict[SourceText, tuple[str, ...]] = {}


def _beginnings(text: SourceText) -> tuple[str, ...]:
    """What the names begin with in `getattr(stream, f"write_{kind}")`."""
    if text not in _begun:
        calls = [use.text.parents.get(use.node) for use in uses_of(text).globals.get("getattr", ())]
        names = [call.args[1] for call in calls if isinstance(call, ast.Call) and len(call.args) > 1]
        _begun[text] = tuple(found for name in names if (found := _beginning(name)))
    return _begun[text]


def _beginning(name: ast.expr) -> str:
    match name:
        case ast.JoinedStr(values=[ast.Constant(value=str(known)), *_]):
            return known
        case _:
            return ""


_unnamed: dict[tuple[SourceText, int], bool] = {}


def _may_be_taken_unnamed(text: SourceText, where: Namespace) -> bool:
    """Whether functions take methods of any name from classes: by `getattr`, by `vars`, or out of bound ones."""
    key = (text, world())
    if key not in _unnamed:
        uses = uses_of(text)
        apart = [use for name in _TAKING_APART for use in uses.attributes.get(name, ())]
        _unnamed[key] = (
            any(not _is_of_super_or_self(use.node) for use in apart)
            or any(_hands_out_a_class(use) for use in uses.dynamic)
            or any(_calls_by_any_name(use, where) for use in uses.globals.get("getattr", ()))
            or any(not _has_plain_names(use) for name in _MAKING_CALLERS for use in _mentions(name, text))
        )
    return _unnamed[key]


_MAKING_CALLERS = ("methodcaller", "attrgetter", "getattr_static")


def _mentions(name: str, text: SourceText) -> list[Use]:
    uses = uses_of(text)
    found = [*uses.attributes.get(name, ()), *uses.globals.get(name, ())]
    return [use for use in found if isinstance(use.node, ast.Name | ast.Attribute)]


def _has_plain_names(use: Use) -> bool:
    call = use.text.parents.get(use.node)
    is_called = isinstance(call, ast.Call) and call.func is use.node
    return is_called and isinstance(call, ast.Call) and all(isinstance(each, ast.Constant) for each in call.args[:1])


def _is_of_super_or_self(node: ast.AST) -> bool:
    """`super().__getattribute__(name)`, `self.func`: of the program's own making."""
    match node:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"))):
            return True
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return not name.startswith("__")
        case _:
            return False


def _hands_out_a_class(use: Use) -> bool:
    """`vars(Helper)["up"]`, `Helper.__dict__[name]`: with a plain key, the name is found among the strings."""
    match use.node:
        case ast.Attribute(attr="__dict__", value=value) | ast.Call(func=ast.Name(id="vars"), args=[value]):
            pass
        case _:
            return False
    if isinstance(value, ast.Name) and _is_instance_of_a_method(value, use):
        return False
    match use.text.parents.get(use.node):
        case ast.Subscript(slice=ast.Constant()):
            return False
        case _:
            return use.is_deferred


def _calls_by_any_name(use: Use, where: Namespace) -> bool:
    """`getattr(x, name)(y)`, where a `getattr(trade, name) < limit` only reads a value."""
    call = use.text.parents.get(use.node)
    if not isinstance(call, ast.Call) or call.func is not use.node:
        return True
    if len(call.args) > 1 and (isinstance(call.args[1], ast.Constant) or _beginning(call.args[1])):
        return False  # its name is found among the strings, or by how it begins
    around = use.text.parents.get(call)
    if isinstance(around, ast.Call) and around.func is call and not around.args and not around.keywords:
        return False  # a method of a class would lack its first argument
    if call.args and _is_imported_module(call.args[0], where):
        return False  # modules have functions
    if call.args and isinstance(call.args[0], ast.Name) and _is_instance_of_a_method(call.args[0], use):
        return False
    return Reader(use.text, where.names, UNKNOWN_SHAPE).kind(call) is not Kind.READS


def _is_imported_module(node: ast.expr, where: Namespace) -> bool:
    return isinstance(node, ast.Call) and resolve(node.func, where.names) is importlib.import_module


def _is_instance_of_a_method(node: ast.Name, use: Use) -> bool:
    """Whether it is the first parameter of a method without decorators."""
    owner = owner_of(node.id, node, use.text)
    if not isinstance(owner, Method) or not isinstance(use.text.parents.get(owner), ast.ClassDef):
        return False
    return scope_of(owner).parameters[:1] == (node.id,) and not owner.decorator_list


def _may_be_unbound(use: Use, method: Method, where: Namespace) -> bool:
    """Whether an attribute may be read from a class, and then be called with anything."""
    assert isinstance(use.node, ast.Attribute)
    if not isinstance(use.node.ctx, ast.Load):
        return False
    receiver, call = use.node.value, use.text.parents.get(use.node)
    is_called = isinstance(call, ast.Call) and call.func is use.node
    found = None if _begins_with_variable(receiver, use.text) else resolve(receiver, where.names)
    if isinstance(found, type):
        return not (is_called and isinstance(call, ast.Call) and _gives_its_own(call, use))
    if found is not None or _is_super(receiver):
        return False
    if isinstance(receiver, ast.Name) and _is_instance_of_a_method(receiver, use):
        return False
    return not (is_called and isinstance(call, ast.Call) and _has_too_few_arguments(call, method))


def _begins_with_variable(node: ast.expr, text: SourceText) -> bool:
    base = node
    while isinstance(base, ast.Attribute):
        base = base.value
    return not isinstance(base, ast.Name) or is_local(base.id, base, text)


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _gives_its_own(call: ast.Call, use: Use) -> bool:
    """`Base.method(self, …)` in a method."""
    match call.args:
        case [ast.Name(id=first), *_]:
            around = next((n for n in use.text.enclosing(use.node) if isinstance(n, FUNCTIONS)), None)
            is_method = around is not None and isinstance(use.text.parents.get(around), ast.ClassDef)
            return is_method and around is not None and scope_of(around).parameters[:1] == (first,)
        case _:
            return False


def _has_too_few_arguments(call: ast.Call, method: Method) -> bool:
    """Whether the call can only be one by an instance, since a class would need one argument more."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return False
    arguments = method.args
    needed = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    needed += sum(default is None for default in arguments.kw_defaults)
    return len(call.args) + len(call.keywords) < needed
