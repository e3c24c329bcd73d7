"""What a dotted name stands for, now and as long as tuples flow."""

from __future__ import annotations

import ast
import builtins
from types import ModuleType
from typing import Any

from anabranch.analysis.modules import Namespace, is_library_module, namespace_of, neighbours, world
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
        found = {name for text in namespace.texts for name, uses in uses_of(text).globals.items() if _is_assigned(uses)}
        for other in neighbours(namespace):
            for text in other.texts:
                for name, uses in uses_of(text).attributes.items():
                    if name in namespace.names and _is_assigned(uses, other.names):
                        found.add(name)
        _reassigned[key] = (namespace, frozenset(found))
    return _reassigned[key][1]


def _is_assigned(uses: list[Use], names: dict[str, Any] | None = None) -> bool:
    """Whether a function assigns it; as an attribute of a module, where `names` are given."""
    for use in uses:
        if use.is_deferred and not isinstance(getattr(use.node, "ctx", None), ast.Load):
            if names is None:
                return not isinstance(use.node, ast.Import | ast.ImportFrom)
            owner = use.node.value if isinstance(use.node, ast.Attribute) else None
            if isinstance(owner, ast.Name) and isinstance(names.get(owner.id), ModuleType):
                return True
    return False
