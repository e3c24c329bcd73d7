"""Code that is not loaded yet, but may be while tuples flow: what it will do to the program is not known.

A module that only a function imports is no part of what the analysis has read; neither is a text that is executed.
"""

from __future__ import annotations

import ast
import sys
from typing import Any

from anabranch.analysis.constant_uses import Problem, location_of
from anabranch.analysis.modules import Namespace, world
from anabranch.analysis.program import program_around
from anabranch.analysis.source import SourceText
from anabranch.analysis.unloaded_modules import is_definitely_harmless, is_touched_beside
from anabranch.analysis.uses import Use, uses_of
from anabranch.analysis.words import words

_IMPORTING = words("import_module __import__")
_LOADING = words("exec_module load_module load_source spec_from_file_location SourceFileLoader")
_RUNNING = words("run_path run_module InteractiveInterpreter InteractiveConsole runsource runcode interact")
_answers: dict[tuple[int, int], tuple[Namespace, Problem | None]] = {}


def why_not_all_is_loaded(namespace: Namespace) -> Problem | None:
    """Where a function of the program may load code of the user's that is not there yet."""
    key = (id(namespace), world())
    if key not in _answers:
        _answers[key] = (namespace, _found_around(namespace))
    return _answers[key][1]


def _found_around(namespace: Namespace) -> Problem | None:
    around = program_around(namespace)
    program = frozenset(other.label for other in around)
    for other in around:
        for text in other.texts:
            problem = _imported_later(text, other, program) or _loaded_later(text, around, program)
            if problem is not None:
                return problem
    return None


def _imported_later(text: SourceText, where: Namespace, program: frozenset[str]) -> Problem | None:
    """Where a function imports a module of the user's that may touch those of the program."""
    uses = uses_of(text)
    found = [(use, name) for use in later_imports(text) for name in _imported_by(use.node, where.names)]
    for way in sorted(_IMPORTING):
        for use in (*uses.attributes.get(way, ()), *uses.globals.get(way, ())):
            call = text.parents.get(use.node)
            if use.is_deferred and isinstance(call, ast.Call) and call.func is use.node:
                found += [(use, name) for name in _constant_name(call)]
    for use, name in found:
        if not is_definitely_harmless(name, program):
            return Problem(f"may be changed by `{name}`, which a function imports later", location_of(use))
    return None


def _loaded_later(text: SourceText, around: list[Namespace], program: frozenset[str]) -> Problem | None:
    """Where a function runs a file or a text, or imports by a name that is computed."""
    uses = uses_of(text)
    for name in sorted(_RUNNING | _IMPORTING | _LOADING):
        for use in (*uses.attributes.get(name, ()), *uses.globals.get(name, ())):
            if not isinstance(getattr(use.node, "ctx", None), ast.Load):
                continue
            call = text.parents.get(use.node)
            is_called = isinstance(call, ast.Call) and call.func is use.node
            if is_called and not use.is_deferred:
                continue  # it has run
            is_plain = isinstance(call, ast.Call) and bool(_constant_name(call) or _is_of_itself(call))
            if name in _IMPORTING and is_called and is_plain:
                continue
            if name in _RUNNING or any(is_touched_beside(_file_of(other), program) for other in around):
                return Problem("may be changed by code that a function loads later", location_of(use))
    for use in uses.dynamic:
        if use.is_deferred and _executes_anything(use.node):
            return Problem("may be changed by a text that is executed", location_of(use))
    return None


def _file_of(namespace: Namespace) -> str | None:
    return getattr(namespace.module, "__file__", None)


def _executes_anything(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="exec" | "eval"), args=[ast.Constant(), *_] | [_, ast.Name() | ast.Dict(), *_]):
            return False  # what it says is known, or it has a namespace of its own
        case ast.Call(func=ast.Name(id="exec" | "eval")):
            return True
        case _:
            return False


_imports: dict[SourceText, list[Use]] = {}


def later_imports(text: SourceText) -> list[Use]:
    """Imports in functions."""
    if text not in _imports:
        uses = uses_of(text)
        found = {
            id(use.node): use
            for each in (*uses.variables.values(), *uses.globals.values(), *uses.class_names.values())
            for use in each
            if use.is_deferred and isinstance(use.node, ast.Import | ast.ImportFrom)
        }
        _imports[text] = list(found.values())
    return _imports[text]


def _imported_by(node: ast.AST, names: dict[str, Any]) -> list[str]:
    """The modules that an import loads, those that it may load included."""
    match node:
        case ast.Import(names=aliases):
            return [alias.name for alias in aliases]
        case ast.ImportFrom(module=module, level=level, names=aliases):
            package = str(names.get("__package__") or "").split(".")
            parents = package[: len(package) - level + 1] if level else []
            base = ".".join([*parents, *([module] if module else [])])
            loaded = sys.modules.get(base)
            parts = [] if loaded is None else [alias.name for alias in aliases if not hasattr(loaded, alias.name)]
            return [base, *(f"{base}.{part}" for part in parts if part != "*")]
        case _:
            return []


def _constant_name(call: ast.Call) -> list[str]:
    match call.args:
        case [ast.Constant(value=str(name)), *_]:
            return [name]
        case _:
            return []


def _is_of_itself(call: ast.Call) -> bool:
    match call.args:
        case [ast.Name(id="__name__"), *_]:
            return True
        case _:
            return False
