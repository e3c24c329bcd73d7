"""What an expression on which an attribute is read or written may stand for: a class, its instances, or neither."""

from __future__ import annotations

import ast
from abc import ABCMeta
from collections.abc import Iterable, Iterator
from enum import Enum
from types import ModuleType
from typing import Any

from anabranch.analysis.modules import Namespace, namespace_of, neighbours, world
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


def related_names(cls: type) -> set[str]:
    names = {base.__name__ for base in cls.__mro__}
    waiting: list[type] = [cls]
    while waiting:
        children: list[type] = type.__subclasses__(waiting.pop())
        for derived in children:
            if derived.__name__ not in names:
                names.add(derived.__name__)
                waiting.append(derived)
    return names


def receiver_of(node: ast.AST, text: SourceText, names: dict[str, Any], cls: type, related: set[str]) -> Receiver:
    match node:
        case ast.Name(id=name):
            owner = owner_of(name, node, text)
            if owner is None and is_local(name, node, text):
                return Receiver.UNKNOWN  # of a comprehension, or of a class
            if owner is not None and isinstance(text.parents.get(owner), ast.ClassDef):
                return _parameter(owner, name, text, names, related)
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
    is_plain = isinstance(made, type) and type(made) in (type, ABCMeta) and user_method(made, "__new__") is None
    return made if isinstance(made, type) and is_plain and made is not type else None


def _from_calls(
    owner: FunctionNode, name: str, text: SourceText, names: dict[str, Any], cls: type, related: set[str]
) -> Receiver:
    """What a parameter of a function of the module is, judged by all calls of that function."""
    if isinstance(owner, ast.Lambda) or name not in scope_of(owner).parameters or owner.decorator_list:
        return Receiver.UNKNOWN
    if not isinstance(text.parents.get(owner), ast.Module) or _is_rebound(owner, name, text):
        return Receiver.UNKNOWN
    if (owner, name) in _under_way:
        return Receiver.UNKNOWN  # functions that call each other
    _under_way.add((owner, name))
    try:
        return _joined(_arguments_of_calls(owner, name, text, names, cls, related))
    finally:
        _under_way.discard((owner, name))


_under_way: set[tuple[FunctionNode, str]] = set()


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
    related: set[str],
) -> Iterator[Receiver]:
    for other in neighbours(namespace_of(names)):
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


def _parameter(owner: FunctionNode, name: str, text: SourceText, names: dict[str, Any], related: set[str]) -> Receiver:
    """What a variable of a function is, where it is the first parameter of a method."""
    around = text.parents.get(owner)
    assert isinstance(around, ast.ClassDef)
    assert not isinstance(owner, ast.Lambda)
    scope = scope_of(owner)
    is_rebound = _is_rebound(owner, name, text)
    decorators = {n.id for d in owner.decorator_list for n in ast.walk(d) if isinstance(n, ast.Name)}
    if not scope.parameters or scope.parameters[0] != name or is_rebound or "staticmethod" in decorators:
        return Receiver.UNKNOWN
    if _may_be_metaclass(around, text, names):
        return Receiver.UNKNOWN  # an instance of a metaclass is a class
    if _is_taken_from_its_class(owner, around, text, names):
        return Receiver.UNKNOWN  # it may be given to another class, or called with anything
    if around.name not in related:
        return Receiver.UNRELATED
    if "classmethod" in decorators or owner.name in _OF_CLASSES:
        return Receiver.CLASS
    return Receiver.BEING_MADE if owner.name in CONSTRUCTION else Receiver.INSTANCE


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


def _is_taken_from_its_class(
    method: ast.FunctionDef | ast.AsyncFunctionDef, cls: ast.ClassDef, text: SourceText, names: dict[str, Any]
) -> bool:
    """`up = Helper.up`, `Helper.up(anything)`, `make = classmethod(make)`: no object of its class need be its first."""
    key = (method, world())
    if key not in _taken:
        is_named = any(not _is_definition(use, method) for use in uses_of(text).class_names[cls.name, method.name])
        _taken[key] = is_named or any(
            _is_of_a_class(use, other)
            for other in neighbours(namespace_of(names))
            for each in other.texts
            for use in uses_of(each).attributes.get(method.name, ())
        )
    return _taken[key]


_taken: dict[tuple[FunctionNode, int], bool] = {}


def _is_definition(use: Use, method: ast.AST) -> bool:
    return isinstance(use.node, ast.FunctionDef | ast.AsyncFunctionDef) or use.node is method


def _is_of_a_class(use: Use, where: Namespace) -> bool:
    """Whether an attribute is read from a class, but for `Base.method(self, …)` in a method."""
    assert isinstance(use.node, ast.Attribute)
    if not isinstance(use.node.ctx, ast.Load) or not isinstance(resolve(use.node.value, where.names), type):
        return False
    match use.text.parents.get(use.node):
        case ast.Call(func=function, args=[ast.Name(id=first), *_]) if function is use.node:
            around = next((n for n in use.text.enclosing(use.node) if isinstance(n, FUNCTIONS)), None)
            is_method = around is not None and isinstance(use.text.parents.get(around), ast.ClassDef)
            return not (is_method and around is not None and scope_of(around).parameters[:1] == (first,))
        case _:
            return True
