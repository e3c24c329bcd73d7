"""What an expression on which an attribute is read or written may stand for: a class, its instances, or neither."""

from __future__ import annotations

import abc
import ast
import contextlib
import functools
import typing
from collections.abc import Iterable, Iterator
from enum import Enum
from types import ModuleType
from typing import Any

from anabranch.analysis.borrowed_methods import is_taken_from_its_class
from anabranch.analysis.class_families import related_names
from anabranch.analysis.compilation import the_compilation
from anabranch.analysis.modules import Namespace, namespace_of
from anabranch.analysis.program import program_around
from anabranch.analysis.resolving import resolve
from anabranch.analysis.scopes import FUNCTIONS, is_local, owner_of, scope_of
from anabranch.analysis.source import SourceText
from anabranch.analysis.special_methods import user_method
from anabranch.analysis.uses import Use, uses_of
from anabranch.analysis.values import FunctionNode

# What runs before anybody else has the instance.
CONSTRUCTION = ("__init__", "__new__", "__post_init__", "__setstate__")


class Receiver(Enum):
    UNRELATED = "of another class"
    BEING_MADE = "the instance, in its constructor"
    INSTANCE = "an instance"
    CLASS = "the class"
    UNKNOWN = "not known"


def receiver_of(node: ast.AST, text: SourceText, names: dict[str, Any], cls: type, related: frozenset[str]) -> Receiver:
    match node:
        case ast.Name(id=name):
            owner = owner_of(name, node, text)
            if owner is None and is_local(name, node, text):
                return Receiver.UNKNOWN  # of a comprehension, or of a class
            if owner is not None and isinstance(text.parents.get(owner), ast.ClassDef):
                return _parameter(owner, node, text, names, related)
            if owner is not None and name not in scope_of(owner).parameters:
                return _from_assignments(owner, name, text, names, cls)
            if owner is not None:
                return _from_calls(owner, name, text, names, cls, related)
            return _known_object(resolve(node, names), cls)
        case ast.Call(func=function) if isinstance(made := _class_made(function, text, names), type):
            return _known_instance(made, cls)
        case ast.Call(func=ast.Name(id="type"), args=[inner]) | ast.Attribute(value=inner, attr="__class__"):
            receiver = receiver_of(inner, text, names, cls, related)
            return receiver if receiver in (Receiver.UNRELATED, Receiver.UNKNOWN) else Receiver.CLASS
        case ast.Attribute():
            base: ast.AST = node
            while isinstance(base, ast.Attribute):
                base = base.value
            if isinstance(base, ast.Name) and not is_local(base.id, base, text):
                return _known_object(resolve(node, names), cls)
            return Receiver.UNKNOWN
        case _:
            return Receiver.UNKNOWN


def may_belong_to(node: ast.AST, use: Use, where: Namespace, cls: type) -> bool:
    """Whether an expression may stand for the class, or for an instance of it."""
    return receiver_of(node, use.text, where.names, cls, related_names(cls)) is not Receiver.UNRELATED


def _known_object(found: Any, cls: type) -> Receiver:
    if found is None:
        return Receiver.UNKNOWN
    if isinstance(found, type):
        return Receiver.CLASS if issubclass(found, cls) or issubclass(cls, found) else Receiver.UNRELATED
    writes = next(base for base in type(found).__mro__ if "__setattr__" in vars(base))
    if writes not in (object, ModuleType):
        return Receiver.UNKNOWN  # a proxy, say, which writes to something else
    return _known_instance(type(found), cls)


def _known_instance(kind: type, cls: type) -> Receiver:
    return Receiver.INSTANCE if issubclass(kind, cls) or issubclass(cls, kind) else Receiver.UNRELATED


def _from_assignments(owner: FunctionNode, name: str, text: SourceText, names: dict[str, Any], cls: type) -> Receiver:
    """What a variable of a function is, where it gets nothing but new instances of known classes."""
    found: list[Receiver] = []
    for use in uses_of(text).variables[owner, name]:
        if isinstance(use.node, ast.Name) and isinstance(use.node.ctx, ast.Load):
            continue
        match text.parents.get(use.node):
            case ast.Assign(targets=[ast.Name()], value=ast.Call(func=function)):
                made = _class_made(function, text, names)
                found.append(_known_instance(made, cls) if made is not None else Receiver.UNKNOWN)
            case _:
                return Receiver.UNKNOWN
    return _joined(found)


def _class_made(function: ast.expr, text: SourceText, names: dict[str, Any]) -> type | None:
    """The class of which a call makes an instance, and nothing else."""
    base = function
    while isinstance(base, ast.Attribute):
        base = base.value
    if not isinstance(base, ast.Name) or is_local(base.id, base, text):
        return None
    made = resolve(function, names)
    is_plain = isinstance(made, type) and type(made) in (type, abc.ABCMeta) and user_method(made, "__new__") is None
    return made if isinstance(made, type) and is_plain and made is not type else None


def _from_calls(
    owner: FunctionNode, name: str, text: SourceText, names: dict[str, Any], cls: type, related: frozenset[str]
) -> Receiver:
    """What a parameter of a function of the module is, judged by all calls of that function."""
    if isinstance(owner, ast.Lambda) or name not in scope_of(owner).parameters or owner.decorator_list:
        return Receiver.UNKNOWN
    if not isinstance(text.parents.get(owner), ast.Module) or _is_rebound(owner, name, text):
        return Receiver.UNKNOWN
    under_way = the_compilation().receivers
    if (owner, name) in under_way:
        return Receiver.UNKNOWN  # functions that call each other
    under_way.add((owner, name))
    try:
        return _joined(_arguments_of_calls(owner, name, text, names, cls, related))
    finally:
        under_way.discard((owner, name))


def _joined(found: Iterable[Receiver]) -> Receiver:
    """The most that any of them may be."""
    all_of_them = set(found)
    for receiver in (Receiver.UNKNOWN, Receiver.CLASS, Receiver.INSTANCE, Receiver.BEING_MADE):
        if receiver in all_of_them:
            return receiver
    return Receiver.UNRELATED if all_of_them else Receiver.UNKNOWN


def _arguments_of_calls(
    owner: ast.FunctionDef | ast.AsyncFunctionDef,
    name: str,
    text: SourceText,
    names: dict[str, Any],
    cls: type,
    related: frozenset[str],
) -> Iterator[Receiver]:
    for other in program_around(namespace_of(names)):
        if other.strays.may_use(owner.name):
            yield Receiver.UNKNOWN
            return
        for other_text in other.texts:
            if owner.name not in other_text.text:
                continue
            if other_text is not text:
                yield Receiver.UNKNOWN
                return
            for use in uses_of(text).globals[owner.name]:
                call = text.parents.get(use.node)
                if use.node is owner:
                    continue
                is_call = isinstance(call, ast.Call) and call.func is use.node
                given = argument_of(call, owner, name) if is_call and isinstance(call, ast.Call) else None
                yield Receiver.UNKNOWN if given is None else receiver_of(given, text, names, cls, related)


def argument_of(call: ast.Call, function: FunctionNode, name: str) -> ast.expr | None:
    """The expression that a call gives to a parameter; None where that is not plain to see."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    positional = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    by_name = {k.arg: k.value for k in call.keywords}
    if name in by_name:
        return by_name[name]
    position = positional.index(name) if name in positional else len(call.args)
    return call.args[position] if position < len(call.args) else None


def _is_rebound(owner: FunctionNode, name: str, text: SourceText) -> bool:
    return any(
        isinstance(use.node, ast.Name) and not isinstance(use.node.ctx, ast.Load)
        for use in uses_of(text).variables[owner, name]
    )


def _parameter(
    owner: FunctionNode, node: ast.Name, text: SourceText, names: dict[str, Any], related: frozenset[str]
) -> Receiver:
    """What a variable of a function is, where it is the first parameter of a method."""
    around = text.parents.get(owner)
    assert isinstance(around, ast.ClassDef)
    assert not isinstance(owner, ast.Lambda)
    scope = scope_of(owner)
    is_of_class = _is_for_the_class(owner, names)
    if is_of_class is None or scope.parameters[:1] != (node.id,) or _is_rebound(owner, node.id, text):
        return Receiver.UNKNOWN
    if _may_be_metaclass(around, text, names):
        return Receiver.UNKNOWN  # an instance of a metaclass is a class
    if is_taken_from_its_class(owner, around, text, names):
        return Receiver.UNKNOWN  # it may be given to another class, or called with anything
    if around.name not in related:
        return Receiver.UNRELATED
    if is_of_class or owner.name in _OF_CLASSES:
        return Receiver.CLASS
    # A function that a constructor makes runs when others have the instance.
    innermost = next((each for each in text.enclosing(node) if isinstance(each, FUNCTIONS)), None)
    is_being_made = owner.name in CONSTRUCTION and innermost is owner and not _is_lazy(node, owner, text)
    return Receiver.BEING_MADE if is_being_made else Receiver.INSTANCE


def _is_lazy(node: ast.AST, owner: FunctionNode, text: SourceText) -> bool:
    around: ast.AST | None = node
    while around is not None and around is not owner:
        if isinstance(around, ast.GeneratorExp):
            return True
        around = text.parents.get(around)
    return False


# With these a function still gets an instance of its class first.
_PLAIN_DECORATORS: tuple[Any, ...] = (
    property, functools.cached_property, functools.cache, functools.lru_cache, abc.abstractmethod, typing.final,
    typing.overload, getattr(typing, "override", typing.final), contextlib.contextmanager,
)  # fmt: skip


def _is_for_the_class(method: ast.FunctionDef | ast.AsyncFunctionDef, names: dict[str, Any]) -> bool | None:
    """Whether its decorators give a method the class in place of the instance; None where that is not known."""
    is_of_class = False
    for decorator in method.decorator_list:
        match decorator:
            case ast.Attribute(value=ast.Name(), attr="setter" | "getter" | "deleter"):
                continue
            case ast.Call(func=function):
                found = resolve(function, names)
            case _:
                found = resolve(decorator, names)
        if found is classmethod:
            is_of_class = True
        elif str(getattr(found, "__module__", "")).partition(".")[0] == "anabranch":
            continue
        elif not any(found is known for known in _PLAIN_DECORATORS):
            return None
    return is_of_class


_OF_CLASSES = ("__new__", "__init_subclass__", "__class_getitem__")  # their first parameter is the class


def _may_be_metaclass(node: ast.ClassDef, text: SourceText, names: dict[str, Any]) -> bool:
    for base in node.bases:
        found = resolve(base.value if isinstance(base, ast.Subscript) else base, names)
        if found is None or (isinstance(found, type) and issubclass(found, type)):
            return not _is_defined_around(base, text)
    return False


def _is_defined_around(base: ast.expr, text: SourceText) -> bool:
    """Whether a base is a class of the same function, and no metaclass either."""
    around = next((each for each in text.enclosing(base) if isinstance(each, FUNCTIONS)), None)
    if around is None or not isinstance(base, ast.Name):
        return False
    found = [n for n in ast.walk(around) if isinstance(n, ast.ClassDef) and n.name == base.id]
    return bool(found) and not any(each.bases for each in found)
