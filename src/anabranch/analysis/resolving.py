"""What a dotted name stands for, now and as long as tuples flow."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from anabranch.analysis.module_values import has_modules_as_values
from anabranch.analysis.modules import Namespace, is_library_module, namespace_of, world
from anabranch.analysis.program import program_around
from anabranch.analysis.scopes import is_local, owner_of, scope_of
from anabranch.analysis.source import SourceText
from anabranch.analysis.uses import Use, uses_of


def resolve(node: ast.AST, names: dict[str, Any]) -> Any:
    """The object a dotted name stands for now, as a global or builtin; None where that is not known."""
    match node:
        case ast.Name(id=name):
            if name in names and name in reassigned_names(namespace_of(names)):
                return None
            return names.get(name, vars(builtins).get(name))
        case ast.Attribute(value=value, attr=name):
            owner = resolve(value, names)
            if not isinstance(owner, ModuleType | type) or may_be_reassigned(owner, name, names):
                return None
            return vars(owner).get(name)
        case _:
            return None


def stands_for_now(node: ast.AST, names: dict[str, Any]) -> Any:
    """The same, whatever functions assign later: for those who look for what is bad about it."""
    match node:
        case ast.Name(id=name):
            return names.get(name, vars(builtins).get(name))
        case ast.Attribute(value=value, attr=name):
            owner = stands_for_now(value, names)
            return vars(owner).get(name) if isinstance(owner, ModuleType | type) else None
        case _:
            return None


_reassigned: dict[tuple[int, int], tuple[Namespace, frozenset[str]]] = {}


def reassigned_names(namespace: Namespace) -> frozenset[str]:
    """The globals that functions assign: what these stand for now says nothing of later."""
    key = (id(namespace), world())
    if key not in _reassigned:
        found = {name for text in namespace.texts for name in _assignments_of(text).globals}
        for other in program_around(namespace):
            for text in other.texts:
                for owner, name in _assignments_of(text).dotted:
                    if name in namespace.names and isinstance(other.names.get(owner), ModuleType):
                        found.add(name)
        _reassigned[key] = (namespace, frozenset(found))
    return _reassigned[key][1]


@dataclass(frozen=True, eq=False)
class _Reassigned:
    """Attributes that functions of a program assign; None for any."""

    namespace: Namespace
    of_anything: frozenset[str] | None
    of_modules: frozenset[str] | None


_attributes: dict[tuple[int, int], _Reassigned] = {}


def may_be_reassigned(owner: ModuleType | type, name: str, names: dict[str, Any]) -> bool:
    """Whether functions may assign this attribute of a module or a class, whatever they call that."""
    namespace = namespace_of(names)
    key = (id(namespace), world())
    if key not in _attributes:
        texts = [_assignments_of(text) for other in program_around(namespace) for text in other.texts]
        of_anything = _union([each.attributes for each in texts])
        plain = _union([each.plain for each in texts]) if not _may_set_any_of_a_module(namespace) else None
        has_modules = has_modules_as_values(namespace) and of_anything is not None
        _attributes[key] = _Reassigned(namespace, of_anything, of_anything if has_modules else plain)
    known = _attributes[key]
    is_library = isinstance(owner, ModuleType) and is_library_module(owner)
    assigned = known.of_modules if is_library else known.of_anything
    return assigned is None or name in assigned


def _may_set_any_of_a_module(namespace: Namespace) -> bool:
    return any(
        isinstance(other.names.get(target), ModuleType | None)
        for other in program_around(namespace)
        for text in other.texts
        for target in _assignments_of(text).targets
    )


def _union(parts: Sequence[frozenset[str] | None]) -> frozenset[str] | None:
    return None if None in parts else frozenset(name for part in parts for name in part or ())


@dataclass(frozen=True)
class _Assignments:
    """What the functions of a text assign: globals, attributes of what has a name, attributes of anything."""

    globals: frozenset[str]
    dotted: frozenset[tuple[str, str]]
    attributes: frozenset[str] | None  # None for any
    plain: frozenset[str]  # without those of expressions that are no names, and of the first in a method
    targets: frozenset[str]  # globals that get attributes of names that are not known


_assignments: dict[SourceText, _Assignments] = {}


def _assignments_of(text: SourceText) -> _Assignments:
    if text not in _assignments:
        uses = uses_of(text)
        names = {name for name, found in uses.globals.items() if any(map(_is_assigned, found))}
        assigned = [(use, name) for name, found in uses.attributes.items() for use in found if _is_assigned(use)]
        dotted = {
            (use.node.value.id, name)
            for use, name in assigned
            if isinstance(use.node, ast.Attribute) and isinstance(use.node.value, ast.Name)
        }
        set_by_name = {name for use in uses.dynamic for name in _set_by(use)}
        attributes = {name for _, name in assigned} | {name for name in set_by_name if name is not None}
        plain = frozenset({name for use, name in assigned if not _is_of_a_value(use)} | (attributes & set_by_name))
        is_any = None in set_by_name
        targets = frozenset(_target_of(use) for use in uses.dynamic if None in _set_by(use))
        every = None if is_any else frozenset(attributes)
        _assignments[text] = _Assignments(frozenset(names), frozenset(dotted), every, plain, targets - {""})
    return _assignments[text]


def _is_of_a_value(use: Use) -> bool:
    """`self.total = …` in a method, `rows[0].total = …`: no module, where those are only used by their names."""
    match use.node:
        case ast.Attribute(value=ast.Name(id=name) as receiver):
            owner = owner_of(name, receiver, use.text)
            is_method = owner is not None and isinstance(use.text.parents.get(owner), ast.ClassDef)
            return is_method and owner is not None and scope_of(owner).parameters[:1] == (name,)
        case ast.Attribute(value=ast.Attribute()):
            return False
        case _:
            return True


def _set_by(use: Use) -> list[str | None]:
    """What `setattr` in a function assigns; None for anything."""
    match use.node:
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[_, ast.Constant(value=str(name)), *_]):
            return [name] if use.is_deferred else []
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[ast.Name(id="self"), *_]):
            return []  # of an instance
        case ast.Call(func=ast.Name(id="setattr" | "delattr")):
            return [None] if use.is_deferred else []
        case _:
            return []


def _target_of(use: Use) -> str:
    """The global that `setattr(settings, name, value)` begins with; nothing where it is a variable."""
    base = use.node.args[0] if isinstance(use.node, ast.Call) and use.node.args else use.node
    while isinstance(base, ast.Attribute):
        base = base.value
    return base.id if isinstance(base, ast.Name) and not is_local(base.id, base, use.text) else ""


def _is_assigned(use: Use) -> bool:
    return use.is_deferred and not isinstance(getattr(use.node, "ctx", None), ast.Load)
