"""Whether a program has modules as values: then any expression may stand for one, and give its attributes others."""

from __future__ import annotations

import ast
from types import ModuleType
from typing import Any

from anabranch.analysis.modules import Namespace, world
from anabranch.analysis.program import program_around
from anabranch.analysis.source import SourceText
from anabranch.analysis.uses import Use, uses_of

_WAYS_TO_MODULES = frozenset({"modules", "import_module", "__import__", "getmodule", "module_from_spec", "load_module"})
_answers: dict[tuple[int, int], tuple[Namespace, bool]] = {}


def has_modules_as_values(namespace: Namespace) -> bool:
    """Whether a module is anything but the beginning of a dotted name anywhere in the program."""
    key = (id(namespace), world())
    if key not in _answers:
        around = program_around(namespace)
        found = any(_is_found_in(text, other.names) for other in around for text in other.texts)
        _answers[key] = (namespace, found or any(other.strays.words & _WAYS_TO_MODULES for other in around))
    return _answers[key][1]


def _is_found_in(text: SourceText, names: dict[str, Any]) -> bool:
    uses = uses_of(text)
    if any(way in uses.attributes or way in uses.globals for way in _WAYS_TO_MODULES):
        return True
    for name, found in uses.globals.items():
        if isinstance(names.get(name), ModuleType) and any(map(_is_value, found)):
            return True
    for found in uses.variables.values():
        if any(isinstance(use.node, ast.Import) for use in found) and any(map(_is_value, found)):
            return True
    parts = {name for held in names.values() if isinstance(held, ModuleType) for name in _modules_in(held)}
    return any(_is_value(use) for name in parts & uses.attributes.keys() for use in uses.attributes[name])


def _modules_in(module: ModuleType) -> list[str]:
    return [name for name, held in list(vars(module).items()) if isinstance(held, ModuleType)]


def _is_value(use: Use) -> bool:
    if isinstance(use.node, ast.Import | ast.ImportFrom) or not isinstance(getattr(use.node, "ctx", None), ast.Load):
        return False
    return not isinstance(use.text.parents.get(use.node), ast.Attribute)
