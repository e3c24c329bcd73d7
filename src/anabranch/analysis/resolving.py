"""What a dotted name stands for, now and as long as tuples flow."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from anabranch.analysis.modules import Namespace, is_library_module, namespace_of, neighbours, world
from anabranch.analysis.source import SourceText
from anabranch.analysis.uses import Use, uses_of


def resolve(node: ast.AST, names: dict[str, Any]) -> Any:
    """The object a dotted name stands for now, as a global or builtin; None where that is not known."""
    match node:
        case ast.Name(id=name):
            if name in names and name in reassigned_names(namespace_of(names)):
                return None
            return names.get(name, getattr(builtins, name, None))
        case ast.Attribute(value=value, attr=name):
            owner = resolve(value, names)
            if isinstance(owner, ModuleType) and not is_library_module(owner):
                return None if name in reassigned_names(namespace_of(vars(owner))) else vars(owner).get(name)
            return vars(owner).get(name) if isinstance(owner, ModuleType | type) else None
        case _:
            return None


_reassigned: dict[tuple[int, int], tuple[Namespace, frozenset[str]]] = {}


def reassigned_names(namespace: Namespace) -> frozenset[str]:
    """The globals that functions assign: what these stand for now says nothing of later."""
    key = (id(namespace), world())
    if key not in _reassigned:
        found = {name for text in namespace.texts for name in _assignments_of(text).globals}
        for other in neighbours(namespace):
            for text in other.texts:
                for owner, name in _assignments_of(text).attributes:
                    if name in namespace.names and isinstance(other.names.get(owner), ModuleType):
                        found.add(name)
        _reassigned[key] = (namespace, frozenset(found))
    return _reassigned[key][1]


@dataclass(frozen=True)
class _Assignments:
    """What the functions of a text assign: globals, and attributes by the name they are assigned to."""

    globals: frozenset[str]
    attributes: frozenset[tuple[str, str]]


_assignments: dict[SourceText, _Assignments] = {}


def _assignments_of(text: SourceText) -> _Assignments:
    if text not in _assignments:
        uses = uses_of(text)
        names = {name for name, found in uses.globals.items() if any(map(_is_assigned, found))}
        attributes = {
            (use.node.value.id, name)
            for name, found in uses.attributes.items()
            for use in found
            if isinstance(use.node, ast.Attribute) and isinstance(use.node.value, ast.Name) and _is_assigned(use)
        }
        _assignments[text] = _Assignments(frozenset(names), frozenset(attributes))
    return _assignments[text]


def _is_assigned(use: Use) -> bool:
    return use.is_deferred and not isinstance(getattr(use.node, "ctx", None), ast.Load)
