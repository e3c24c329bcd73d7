"""Whether a global may be assigned, or the object it holds be changed, while tuples flow."""

from __future__ import annotations

import ast
import sys

from anabranch.analysis.borrowed_methods import is_taken_from_its_class
from anabranch.analysis.constant_uses import (
    Problem,
    bad_use,
    is_known,
    is_store,
    location_of,
    unknown_source,
    written_by_stray,
)
from anabranch.analysis.modules import Namespace
from anabranch.analysis.origins import GlobalName
from anabranch.analysis.program import program_around
from anabranch.analysis.reach import mentioned_modules
from anabranch.analysis.reading import Reader
from anabranch.analysis.resolving import resolve
from anabranch.analysis.scopes import is_local, owner_of, scope_of
from anabranch.analysis.shapes import Shape
from anabranch.analysis.uses import WAYS_TO_GLOBALS, Use, uses_of
from anabranch.analysis.words import words

_WAYS_TO_MODULES = ("sys.modules", "import_module", "__import__")
_READING = words("copy get items keys values")  # methods of dictionaries


def rebound_global(origin: GlobalName) -> Problem | None:
    namespace, name = origin.namespace, origin.name
    for text in namespace.texts:
        for use in uses_of(text).globals[name]:
            if use.is_deferred and is_store(use.node):
                return Problem("is assigned by a function", location_of(use))
    for other in program_around(namespace):
        if other.strays.may_write(name):
            return written_by_stray(other, "may be assigned")
        for text in other.texts:
            for use in uses_of(text).dynamic:
                if use.is_deferred and _may_write_globals(use, name, other, namespace):
                    return Problem("may be assigned by other means", location_of(use))
            if name in text.text:
                for use in uses_of(text).attributes[name]:
                    if use.is_deferred and is_store(use.node) and may_be_module(use, other, namespace):
                        return Problem("is assigned from another place", location_of(use))
    return None


def changing_global(origin: GlobalName, shape: Shape) -> Problem | None:
    if not is_known(origin.namespace):
        return unknown_source(origin.namespace)
    held = origin.namespace.names.get(origin.name)
    is_bound = False
    group = [
        (namespace, name)
        for namespace in program_around(origin.namespace)
        for name, value in list(namespace.names.items())
        if value is held
    ]
    for namespace, name in group:
        if not is_known(namespace):
            return unknown_source(namespace)
        for text in namespace.texts:
            reader = Reader(text, namespace.names, shape)
            for use in uses_of(text).globals[name]:
                is_bound |= isinstance(use.node, ast.Name) and is_store(use.node)
                problem = bad_use(use, reader, use.is_deferred, [n for _, n in group])
                if problem:
                    return problem
    if not is_bound:
        return Problem("is made where it cannot be followed")
    for namespace in program_around(origin.namespace):
        if any(namespace.strays.may_use(name) for _, name in group):
            return written_by_stray(namespace, "may be changed")
        for text in namespace.texts:
            reader = Reader(text, namespace.names, shape)
            for use in uses_of(text).dynamic:
                if use.is_deferred and _is_way_to(use, [name for _, name in group]):
                    return Problem("may be reached by other means", location_of(use))
            for owner, name in group:
                for use in uses_of(text).attributes[name] if name in text.text else ():
                    if may_be_module(use, namespace, owner):
                        problem = bad_use(use, reader, use.is_deferred, [])
                        if problem:
                            return problem
    return None


def _may_write_globals(use: Use, name: str, where: Namespace, namespace: Namespace) -> bool:
    """Whether `globals()`, `exec`, `setattr` and the like may write this global."""
    node = use.node
    parent = use.text.parents.get(node)
    match node:
        case ast.MatchClass():
            return True
        case ast.Name():
            return where is namespace
        case ast.Attribute(attr=attr) if attr in WAYS_TO_GLOBALS:
            return _key(parent) in (None, name) and not _is_only_read(node, use)
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[target, ast.Constant(value=str(key)), *_]):
            return key == name and may_stand_for(target, use, where, namespace)
        case (
            ast.Call(func=ast.Name(id="setattr" | "delattr" | "vars"), args=[target, *_]) | ast.Attribute(value=target)
        ):
            return may_stand_for(target, use, where, namespace)
        case _ if where is not namespace:
            return False  # the rest reaches the globals of its own module
        case ast.Call(func=ast.Name(id="locals" | "vars")) if use.function is not None:
            return False
        case ast.Call(func=ast.Name(id="globals" | "locals" | "vars")):
            return _key(parent) in (None, name)
        case ast.Call(func=ast.Name(id="exec" | "eval"), args=[ast.Constant(value=str(code)), *_]):
            return name in code
        case ast.Call(func=ast.Name(id="exec" | "eval"), args=[_, ast.Name() | ast.Dict(), *_]):
            return False  # in a namespace of its own
        case ast.Call(func=ast.Name(id="exec" | "eval")):
            return True
        case _:
            return False


def _is_way_to(use: Use, names: list[str]) -> bool:
    """Whether globals of these names may be taken from those of a function or a frame."""
    is_way = isinstance(use.node, ast.Attribute) and use.node.attr in WAYS_TO_GLOBALS
    return is_way and _key(use.text.parents.get(use.node)) in (None, *names)


def _key(parent: ast.AST | None) -> str | None:
    """The only key under which a dictionary is looked at there."""
    match parent:
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            return key
        case _:
            return None


def _is_only_read(names: ast.AST, use: Use) -> bool:
    """Whether values are taken from a dictionary there, and it is not handed on."""
    match use.text.parents.get(names):
        case ast.Subscript(ctx=ast.Load()) | ast.Compare():
            return True
        case ast.Dict(keys=keys, values=values):
            return any(key is None and value is names for key, value in zip(keys, values, strict=True))
        case ast.Attribute(attr=attr) as method if attr in _READING:
            return isinstance(use.text.parents.get(method), ast.Call)
        case _:
            return False


def may_be_module(use: Use, where: Namespace, module: Namespace) -> bool:
    assert isinstance(use.node, ast.Attribute)
    return may_stand_for(use.node.value, use, where, module)


def may_stand_for(receiver: ast.AST, use: Use, where: Namespace, module: Namespace) -> bool:
    """Whether an expression may stand for the module whose globals are `module`."""
    base = receiver
    while isinstance(base, ast.Attribute):
        base = base.value
    if isinstance(base, ast.Name) and not is_local(base.id, base, use.text):
        found = resolve(receiver, where.names)
        if found is not None:
            return isinstance(found, type(sys)) and vars(found) is module.names
    if module.module is None or is_definitely_an_instance(receiver, use, where):
        return False
    name = module.module.__name__
    # A variable may hold the module only if somebody has it as an object.
    return any(
        any(value is module.module for value in list(other.names.values()))
        or any(
            any(way in text.text for way in _WAYS_TO_MODULES) or name in mentioned_modules(text, other.names)
            for text in other.texts
        )
        for other in program_around(module)
    )


def is_definitely_an_instance(receiver: ast.AST, use: Use, where: Namespace) -> bool:
    """`self`, or `super()`, in a method that nobody calls with something else."""
    match receiver:
        case ast.Call(func=ast.Name(id="super")):
            return True
        case ast.Name(id=name):
            owner = owner_of(name, receiver, use.text)
            holder = use.text.parents.get(owner) if owner is not None else None
            if not isinstance(owner, ast.FunctionDef) or not isinstance(holder, ast.ClassDef):
                return False
            if scope_of(owner).parameters[:1] != (name,) or owner.decorator_list:
                return False
            if any(is_store(each.node) for each in uses_of(use.text).variables[owner, name]):
                return False
            return not is_taken_from_its_class(owner, holder, use.text, where.names)
        case _:
            return False
