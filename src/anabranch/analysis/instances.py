"""Whether anything in the user's texts writes an attribute of a class or of its instances."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator

from anabranch.analysis.class_families import related_names
from anabranch.analysis.constant_uses import Problem, location_of
from anabranch.analysis.library_writers import written_by_library
from anabranch.analysis.modules import Namespace, namespace_of, world
from anabranch.analysis.program import program_around
from anabranch.analysis.receivers import CONSTRUCTION, Receiver, receiver_of
from anabranch.analysis.scopes import FUNCTIONS
from anabranch.analysis.source import SourceText
from anabranch.analysis.special_methods import is_method_name, user_method
from anabranch.analysis.strings import words_in_strings
from anabranch.analysis.uses import WAYS_TO_GLOBALS, Use, uses_of
from anabranch.errors import Location


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
    return any(other.strays.may_use(name) for other in program_around(namespace) for name in names)


def _attribute_uses(
    cls: type, name: str, namespace: Namespace, only_writes: bool
) -> Iterator[tuple[Use, Namespace, Receiver]]:
    related = related_names(cls)
    for other in program_around(namespace):
        for text in other.texts:
            for spelling in spellings(cls, name):
                for use in uses_of(text).attributes[spelling] if spelling in text.text else ():
                    assert isinstance(use.node, ast.Attribute)
                    if only_writes and isinstance(use.node.ctx, ast.Load):
                        continue
                    receiver = receiver_of(use.node.value, text, other.names, cls, related)
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
    namespace = namespace_of(vars(sys.modules[cls.__module__]))
    shared = _shared_attributes(cls, namespace) if is_instance else None
    problem = shared or written_by_library(cls, namespace)
    return (problem.text, problem.location) if problem is not None else None


def _shared_attributes(cls: type, namespace: Namespace) -> Problem | None:
    """Where an instance may be given a dictionary of attributes that another has, too."""
    related = related_names(cls)
    for other in program_around(namespace):
        for text in other.texts:
            for use in uses_of(text).attributes.get("__dict__", ()):
                assert isinstance(use.node, ast.Attribute)
                if isinstance(use.node.ctx, ast.Load):
                    continue
                if receiver_of(use.node.value, text, other.names, cls, related) is not Receiver.UNRELATED:
                    return Problem("may be an attribute of another object, too", location_of(use))
            if "__dict__" in words_in_strings(text):
                return Problem("may be an attribute of another object, too", Location(text.file, 1))
    return None


def _is_made_again(cls: type) -> bool:
    """Whether a function calls the constructor of an object that exists: `config.__init__(5)`."""
    key = (cls, world())
    if key not in _made_again:
        _made_again[key] = _may_give_an_old_one(cls) or any(
            use.is_deferred and not _is_of_construction(use) and receiver is not Receiver.UNRELATED
            for name in CONSTRUCTION
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
    return getattr(use.function, "name", "") in CONSTRUCTION


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
    related = related_names(cls)
    for other in program_around(namespace):
        for text in other.texts:
            for use in uses_of(text).dynamic:
                target = _dynamic_target(use.node, text, spellings(cls, name))
                if target is use.node:
                    yield use, Receiver.UNKNOWN
                elif target is not None:
                    yield use, receiver_of(target, text, other.names, cls, related)


def written_special_method(cls: type) -> tuple[str, Location] | None:
    """A special method that a function assigns to a class, and where."""
    module = sys.modules.get(cls.__module__)
    if module is None:
        return None
    related = related_names(cls)
    for other in program_around(namespace_of(vars(module))):
        for name in sorted(filter(is_method_name, other.strays.written)):
            return name, Location(other.strays.codes[0].co_filename, other.strays.codes[0].co_firstlineno)
        for text in other.texts:
            for name, uses in uses_of(text).attributes.items():
                if not is_method_name(name):
                    continue
                for use in uses:
                    assert isinstance(use.node, ast.Attribute)
                    if use.is_deferred and not isinstance(use.node.ctx, ast.Load):
                        receiver = receiver_of(use.node.value, text, other.names, cls, related)
                        if _is_write(use, receiver, is_instance=False):
                            return name, Location(text.file, use.node.lineno)
            for use in uses_of(text).dynamic:
                target = _target_of_setattr(use.node)
                if not use.is_deferred or target is None:
                    continue
                if receiver_of(target, text, other.names, cls, related) is Receiver.CLASS:
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
    if getattr(around, "name", "") in ("__setattr__", "__delattr__", *CONSTRUCTION):
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
