"""Whether what an instance was given when it was made is its own: a new container each time, which nobody else has."""

from __future__ import annotations

import ast
import dataclasses
import sys
from collections.abc import Callable
from typing import Any

from anabranch.analysis.class_families import subclasses_around
from anabranch.analysis.fresh_objects import is_definitely_fresh
from anabranch.analysis.modules import namespace_of
from anabranch.analysis.program import program_around
from anabranch.analysis.reading import Reader
from anabranch.analysis.receivers import argument_of
from anabranch.analysis.resolving import resolve, stands_for_now
from anabranch.analysis.scopes import scope_of
from anabranch.analysis.uses import Use, uses_of

IsFresh = Callable[[ast.AST | None, Reader], bool]


def is_definitely_given_fresh(use: Use, value: ast.AST | None, reader: Reader, is_fresh: IsFresh) -> bool:
    """For `self.table = table` in `__init__`, and for a field with a default_factory: by all calls of the class."""
    holder = next((n for n in use.text.enclosing(use.node) if isinstance(n, ast.ClassDef)), None)
    if holder is None or not isinstance(use.text.parents.get(holder), ast.Module):
        return False
    cls = reader.names.get(holder.name)
    if not isinstance(cls, type) or cls.__module__ not in sys.modules:
        return False
    if subclasses_around(cls, program_around(namespace_of(vars(sys.modules[cls.__module__])))):
        return False
    match value:
        case ast.Name(id=name):
            owner = next((n for n in use.text.enclosing(use.node) if isinstance(n, ast.FunctionDef)), None)
            if owner is None or owner.name != "__init__" or name not in scope_of(owner).parameters:
                return False
            stored = [u.node for u in uses_of(use.text).variables[owner, name]]
            if len(stored) != 1:  # it is only put into the attribute
                return False
            return _all_calls(cls, lambda call, there: is_fresh(_after_self(call, owner, name), there), reader)
        case ast.Call(args=[], keywords=[ast.keyword(arg="default_factory", value=factory), *_]):
            if not is_field(value, reader.names) or not isinstance(use.node, ast.Name):
                return False
            made = factory.body if isinstance(factory, ast.Lambda) else ast.Call(factory, [], [])
            is_new = is_definitely_fresh(made, reader.names, reader.are_parts_immutable)
            field = use.node.id
            return is_new and _all_calls(cls, lambda call, there: _is_own(call, cls, field, there, is_fresh), reader)
        case _:
            return False


def is_field(value: ast.AST | None, names: dict[str, Any]) -> bool:
    """Whether a class says there what a constructor gives where it is given nothing."""
    return isinstance(value, ast.Call) and resolve(value.func, names) is dataclasses.field


def _after_self(call: ast.Call, owner: ast.FunctionDef, name: str) -> ast.expr | None:
    return argument_of(ast.Call(call.func, [ast.Constant(None), *call.args], call.keywords), owner, name)


def _is_own(call: ast.Call, cls: Any, field: str, there: Reader, is_fresh: IsFresh) -> bool:
    """Whether a call of a dataclass leaves a field to its default, or gives it something new."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return False
    ordered = [f.name for f in dataclasses.fields(cls) if f.init and not f.kw_only]
    given = dict(zip(ordered, call.args, strict=False)) | {str(k.arg): k.value for k in call.keywords}
    return field not in given or is_fresh(given[field], there)


def _all_calls(cls: type, is_right: Callable[[ast.Call, Reader], bool], reader: Reader) -> bool:
    """Whether the class is only called, all calls are right, and no `replace` makes more of them."""
    namespace = namespace_of(vars(sys.modules[cls.__module__]))
    for other in program_around(namespace):
        names = [name for name, value in list(other.names.items()) if value is cls] or [cls.__name__]
        if any(other.strays.may_use(name) for name in names):
            return False
        for text in other.texts:
            there = Reader(text, other.names, reader.shape)
            replacing = [*uses_of(text).globals["replace"], *uses_of(text).attributes["replace"]]
            if any(stands_for_now(use.node, other.names) is dataclasses.replace for use in replacing):
                return False
            for name in names:
                uses = [*(uses_of(text).globals[name] if name in other.names else ()), *uses_of(text).attributes[name]]
                for use in uses:
                    if use.is_annotation or isinstance(use.node, ast.ClassDef | ast.Import | ast.ImportFrom):
                        continue
                    call = text.parents.get(use.node)
                    if isinstance(call, ast.Attribute) and not isinstance(use.node, ast.Attribute):
                        continue  # `Config.limit`
                    if not isinstance(call, ast.Call) or call.func is not use.node or not is_right(call, there):
                        return False
    return True
