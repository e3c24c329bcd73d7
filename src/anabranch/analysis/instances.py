"""Whether anything in the user's texts writes an attribute of a class or of its instances."""

from __future__ import annotations

import ast
import sys
from abc import ABCMeta
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from types import ModuleType
from typing import Any

from anabranch.analysis.modules import Namespace, namespace_of, neighbours, world
from anabranch.analysis.reading import resolve
from anabranch.analysis.scopes import FUNCTIONS, is_local, scope_of
from anabranch.analysis.source import SourceText
from anabranch.analysis.special_methods import is_method_name, user_method
from anabranch.analysis.uses import WAYS_TO_GLOBALS, Use, uses_of
from anabranch.analysis.values import FunctionNode
from anabranch.errors import Location

# What runs before anybody else has the instance.
_CONSTRUCTION = ("__init__", "__new__", "__post_init__", "__setstate__")


class Receiver(Enum):
    UNRELATED = "of another class"
    BEING_MADE = "the instance, in its constructor"
    INSTANCE = "an instance"
    CLASS = "the class"
    UNKNOWN = "not known"


def spellings(cls: type, name: str) -> list[str]:
    """A private name stands in the text as it was written, without the class's name in it."""
    for base in cls.__mro__:
        prefix = f"_{base.__name__.lstrip('_')}__"
        if name.startswith(prefix):
            return [name, name[len(prefix) - 2 :]]
    return [name]


def attribute_uses(
    cls: type, name: str, *, only_writes: bool = False
) -> Iterator[tuple[Use, Namespace, Receiver]] | None:
    """Every use of an attribute of this name that may concern the class; None where texts are missing."""
    module = sys.modules.get(cls.__module__)
    if module is None:
        return None
    namespace = namespace_of(vars(module))
    if not namespace.is_complete or _is_used_by_strays(spellings(cls, name), namespace):
        return None
    return _attribute_uses(cls, name, namespace, only_writes)


def _is_used_by_strays(names: list[str], namespace: Namespace) -> bool:
    return any(other.strays.may_use(name) for other in neighbours(namespace) for name in names)


def _attribute_uses(
    cls: type, name: str, namespace: Namespace, only_writes: bool
) -> Iterator[tuple[Use, Namespace, Receiver]]:
    related = _related_names(cls)
    for other in neighbours(namespace):
        for text in other.texts:
            for spelling in spellings(cls, name):
                for use in uses_of(text).attributes[spelling] if spelling in text.text else ():
                    assert isinstance(use.node, ast.Attribute)
                    if only_writes and isinstance(use.node.ctx, ast.Load):
                        continue
                    receiver = _receiver(use.node.value, text, other.names, cls, related)
                    if receiver is not Receiver.UNRELATED:
                        yield use, other, receiver


IsIdle = Callable[[Use, Namespace], bool]


def never(use: Use, namespace: Namespace) -> bool:
    return False


def written_attribute(
    cls: type, name: str, is_instance: bool, is_frozen: bool = False, is_idle: IsIdle = never
) -> tuple[str, Location | None] | None:
    """Why an attribute may be assigned during a run, and where; a frozen class can only be written by other means."""
    found = attribute_uses(cls, name, only_writes=True)
    if found is None:
        return "cannot be followed: not all of the source around it is known", None
    for use, namespace, receiver in found if not is_frozen else ():
        if is_idle(use, namespace):
            continue
        is_made_again = receiver is Receiver.BEING_MADE and is_instance and _is_made_again(cls)
        if is_made_again or _is_write(use, receiver, is_instance):
            return "is assigned by a function", Location(use.text.file, getattr(use.node, "lineno", 1))
    for use, receiver in _dynamic_writes(cls, name):
        if _is_write(use, receiver, is_instance):
            return "may be assigned by other means", Location(use.text.file, getattr(use.node, "lineno", 1))
    return None


def _is_made_again(cls: type) -> bool:
    """Whether a function calls the constructor of an object that exists: `config.__init__(5)`."""
    key = (cls, world())
    if key not in _made_again:
        _made_again[key] = _may_give_an_old_one(cls) or any(
            use.is_deferred and not _is_of_construction(use) and receiver is not Receiver.UNRELATED
            for name in _CONSTRUCTION
            if name != "__new__"  # which makes another object
            for use, _, receiver in attribute_uses(cls, name) or ()
        )
    return _made_again[key]


def _may_give_an_old_one(cls: type) -> bool:
    """Whether calling the class may initialise an object that exists: a singleton."""
    return user_method(cls, "__new__") is not None or user_method(type(cls), "__call__") is not None


_made_again: dict[tuple[type, int], bool] = {}


def _is_of_construction(use: Use) -> bool:
    """`super().__init__(…)`, or in a constructor `Base.__init__(self, …)`."""
    match use.node:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"))):
            return True
    return getattr(use.function, "name", "") in _CONSTRUCTION


def may_be_hidden(cls: type, name: str) -> bool:
    """Whether an instance may come to have an attribute of its own in front of that of its class."""
    found = attribute_uses(cls, name, only_writes=True)
    if found is None:
        return True
    receivers = [receiver for use, _, receiver in found if use.is_deferred]
    receivers += [receiver for use, receiver in _dynamic_writes(cls, name) if use.is_deferred]
    return any(receiver not in (Receiver.UNRELATED, Receiver.CLASS) for receiver in receivers)


def _dynamic_writes(cls: type, name: str) -> Iterator[tuple[Use, Receiver]]:
    """Where an attribute may be written without its name being seen, and of what."""
    namespace = namespace_of(vars(sys.modules[cls.__module__]))
    related = _related_names(cls)
    for other in neighbours(namespace):
        for text in other.texts:
            for use in uses_of(text).dynamic:
                target = _dynamic_target(use.node, text, spellings(cls, name))
                if target is use.node:
                    yield use, Receiver.UNKNOWN
                elif target is not None:
                    yield use, _receiver(target, text, other.names, cls, related)


def written_special_method(cls: type) -> tuple[str, Location] | None:
    """A special method that a function assigns to a class, and where."""
    module = sys.modules.get(cls.__module__)
    if module is None:
        return None
    related = _related_names(cls)
    for other in neighbours(namespace_of(vars(module))):
        for name in sorted(filter(is_method_name, other.strays.written)):
            return name, Location(other.strays.codes[0].co_filename, other.strays.codes[0].co_firstlineno)
        for text in other.texts:
            for name, uses in uses_of(text).attributes.items():
                if not is_method_name(name):
                    continue
                for use in uses:
                    assert isinstance(use.node, ast.Attribute)
                    if use.is_deferred and not isinstance(use.node.ctx, ast.Load):
                        receiver = _receiver(use.node.value, text, other.names, cls, related)
                        if _is_write(use, receiver, is_instance=False):
                            return name, Location(text.file, use.node.lineno)
            for use in uses_of(text).dynamic:
                target = _target_of_setattr(use.node)
                if not use.is_deferred or target is None:
                    continue
                if _receiver(target, text, other.names, cls, related) is Receiver.CLASS:
                    return "special methods", Location(text.file, getattr(use.node, "lineno", 1))
    return None


def _target_of_setattr(node: ast.AST) -> ast.expr | None:
    """What `setattr` or `delattr` may give, or take, a special method."""
    match node:
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[target, ast.Constant(value=str(name)), *_]):
            return target if is_method_name(name) else None
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[target, *_]):
            return target
        case _:
            return None


def _is_write(use: Use, receiver: Receiver, is_instance: bool) -> bool:
    match receiver:
        case Receiver.UNRELATED | Receiver.BEING_MADE:
            return False
        case Receiver.INSTANCE:
            return is_instance and use.is_deferred
        case Receiver.CLASS | Receiver.UNKNOWN:
            return use.is_deferred


def _unbound_target(node: ast.AST, text: SourceText, names: list[str]) -> ast.AST | None:
    """`object.__setattr__(target, "name", value)`"""
    match text.parents.get(node):
        case ast.Call(args=[target, ast.Constant(value=str(key)), *_]):
            return target if key in names else None
        case ast.Call(args=[target, *_]):
            return target
        case _:
            return node


def _super_target(node: ast.AST, text: SourceText, names: list[str]) -> ast.AST | None:
    """`super().__setattr__("name", value)`"""
    around = next((each for each in text.enclosing(node) if isinstance(each, FUNCTIONS)), None)
    if getattr(around, "name", "") in ("__setattr__", "__delattr__", *_CONSTRUCTION):
        return None  # how a class stores what it is told to store
    match text.parents.get(node):
        case ast.Call(args=[ast.Constant(value=str(key)), *_]):
            return node if key in names else None
        case _:
            return node


def _dynamic_target(node: ast.AST, text: SourceText, names: list[str]) -> ast.AST | None:
    """The object a dynamic write may go to; the node itself where that may be anything."""
    match node:
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[target, ast.Constant(value=str(key)), *_]):
            return target if key in names else None
        case ast.Call(func=ast.Name(id="setattr" | "delattr" | "vars"), args=[target, *_]):
            return target
        case ast.Call(func=ast.Name(id="exec" | "eval"), args=[ast.Constant(value=str(code)), *_]):
            return node if any(name in code for name in names) else None
        case ast.Call(func=ast.Name(id="exec" | "eval"), args=[_, ast.Name() | ast.Dict(), *_]):
            return None  # in a namespace of its own
        case ast.Call(func=ast.Name(id="exec" | "eval")):
            return node
        case ast.Attribute(value=ast.Name(id="object" | "type"), attr="__setattr__" | "__delattr__"):
            return _unbound_target(node, text, names)
        case ast.MatchClass():
            return node
        case ast.Name(id=name):
            return None if name in ("globals", "locals") else node
        case ast.Attribute(value=ast.Attribute(attr=key), attr="__set__" | "__delete__"):
            return _unbound_target(node, text, []) if key in names else None
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"))):
            return _super_target(node, text, names)
        case ast.Attribute(attr=attr) if attr in WAYS_TO_GLOBALS:
            return None  # names of modules, not attributes
        case ast.Attribute(value=target):
            return target
        case _:
            return None


def _related_names(cls: type) -> set[str]:
    names = {base.__name__ for base in cls.__mro__}
    waiting: list[type] = [cls]
    while waiting:
        children: list[type] = type.__subclasses__(waiting.pop())
        for derived in children:
            if derived.__name__ not in names:
                names.add(derived.__name__)
                waiting.append(derived)
    return names


def _receiver(node: ast.AST, text: SourceText, names: dict[str, Any], cls: type, related: set[str]) -> Receiver:
    match node:
        case ast.Name(id=name):
            owner = _owner_of(node, name, text)
            if owner is None and is_local(name, node, text):
                return Receiver.UNKNOWN  # of a comprehension
            if owner is not None and isinstance(text.parents.get(owner), ast.ClassDef):
                return _parameter(owner, name, text, names, related)
            if owner is not None and name not in scope_of(owner).parameters:
                return _from_assignments(owner, name, text, names, cls)
            if owner is not None:
                return _from_calls(owner, name, text, names, cls, related)
            return _known_object(resolve(node, names), cls)
        case ast.Call(func=function) if isinstance(made := resolve(function, names), type) and made is not type:
            return _known_instance(made, cls)
        case ast.Call(func=ast.Name(id="type"), args=[inner]) | ast.Attribute(value=inner, attr="__class__"):
            receiver = _receiver(inner, text, names, cls, related)
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
    return _receiver(node, use.text, where.names, cls, _related_names(cls)) is not Receiver.UNRELATED


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


def _owner_of(node: ast.AST, name: str, text: SourceText) -> FunctionNode | None:
    for around in text.enclosing(node):
        if isinstance(around, FUNCTIONS) and name in scope_of(around).own:
            return around
    return None


def _from_assignments(owner: FunctionNode, name: str, text: SourceText, names: dict[str, Any], cls: type) -> Receiver:
    """What a variable of a function is, where it gets nothing but new instances of known classes."""
    found: list[Receiver] = []
    for use in uses_of(text).variables[owner, name]:
        if isinstance(use.node, ast.Name) and isinstance(use.node.ctx, ast.Load):
            continue
        match text.parents.get(use.node):
            case ast.Assign(targets=[ast.Name()], value=ast.Call(func=function)):
                made = None if _is_own(function, text) else resolve(function, names)
                is_plain = isinstance(made, type) and type(made) in (type, ABCMeta) and "__new__" not in vars(made)
                found.append(_known_instance(made, cls) if isinstance(made, type) and is_plain else Receiver.UNKNOWN)
            case _:
                return Receiver.UNKNOWN
    return _joined(found)


def _is_own(function: ast.expr, text: SourceText) -> bool:
    return not isinstance(function, ast.Name) or is_local(function.id, function, text)


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
                yield Receiver.UNKNOWN if given is None else _receiver(given, text, names, cls, related)


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
    return Receiver.BEING_MADE if owner.name in _CONSTRUCTION else Receiver.INSTANCE


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
            if method.name in each.text
            for use in uses_of(each).attributes[method.name]
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
