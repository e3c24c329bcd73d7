"""Whether the program exchanges parts of functions, classes or library modules while tuples flow."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import Any

from anabranch.analysis.borrowed_methods import is_taken_from_its_class
from anabranch.analysis.constant_uses import Problem, is_store, location_of, written_by_stray
from anabranch.analysis.later_code import why_not_all_is_loaded
from anabranch.analysis.library_containers import changed_containers, library_of
from anabranch.analysis.module_values import has_modules_as_values
from anabranch.analysis.modules import Namespace, is_library_class, is_library_module, namespace_of, world
from anabranch.analysis.process_settings import set_libraries, why_not_as_in_a_worker
from anabranch.analysis.program import program_around
from anabranch.analysis.reach import linked_to
from anabranch.analysis.reflection import exchanged_by_other_means
from anabranch.analysis.resolving import reassigned_names, resolve, stands_for_now
from anabranch.analysis.scopes import FUNCTIONS, binder_of, is_local, owner_of, scope_of
from anabranch.analysis.syntax import walk
from anabranch.analysis.uses import Use, uses_of

# Through these a function becomes another one.
_PARTS_OF_FUNCTIONS = ("__code__", "__defaults__", "__kwdefaults__", "__closure__", "cell_contents", "__wrapped__")
_WAYS_TO_MODULES = frozenset({"modules", "import_module", "__import__"})


@dataclass
class _Patches:
    """`None` stands for an object that is not known."""

    functions: list[tuple[Any, Use]] = field(default_factory=list)
    modules: dict[str, list[tuple[Any, Use]]] = field(default_factory=dict)  # by attribute, "*" for any
    libraries: dict[str, Use] = field(default_factory=dict)  # that the program has changed before it runs


_patches: dict[tuple[int, int], tuple[Namespace, _Patches]] = {}


def _patches_around(namespace: Namespace) -> _Patches:
    key = (id(namespace), world())
    if key not in _patches:
        found = _Patches()
        for other in program_around(namespace):
            for text in other.texts:
                uses = uses_of(text)
                for name, attribute_uses in uses.attributes.items():
                    for use in attribute_uses:
                        if use.is_deferred:
                            _collect(found, name, use, other)
                for use in uses.dynamic:
                    if use.is_deferred:
                        _collect_dynamic(found, use, other)
        for other in linked_to(namespace):  # who has loaded the program may have changed a library before it ran
            is_reached = any(other is each for each in program_around(namespace))
            _collect_libraries(found, other, has_only_run=not is_reached)
        _patches[key] = (namespace, found)
    return _patches[key][1]


def _collect_libraries(found: _Patches, where: Namespace, *, has_only_run: bool) -> None:
    """What changes libraries; of a module that the program does not reach, only its statements, which have run."""
    for library, use in (*set_libraries(where), *changed_containers(where)):
        if not (has_only_run and use.is_deferred):
            found.libraries.setdefault(library_of(library), use)
    for text in where.texts:
        uses = uses_of(text)
        for attribute_uses in uses.attributes.values():
            for use in attribute_uses:
                if is_store(use.node) and not (has_only_run and use.is_deferred):
                    _collect_library(found, use.node, use, where)
        for use in uses.dynamic:
            if not use.is_deferred:
                _collect_library(found, use.node, use, where)


def _collect(found: _Patches, name: str, use: Use, where: Namespace) -> None:
    assert isinstance(use.node, ast.Attribute)
    is_taken_apart = isinstance(use.text.parents.get(use.node), ast.Subscript)  # f.__kwdefaults__["x"] = 1
    if name in _PARTS_OF_FUNCTIONS and (is_store(use.node) or is_taken_apart):
        found.functions.append((_resolved(use.node.value, use, where), use))
    if is_store(use.node) and (
        _may_be_library_module(use.node.value, use, where) or _is_given(use.node.value, use, where)
    ):
        found.modules.setdefault(name, []).append((_resolved(use.node.value, use, where), use))


def _collect_dynamic(found: _Patches, use: Use, where: Namespace) -> None:
    match use.node:
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[target, name, *_]):
            if _may_be_library_module(target, use, where):
                key = name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else "*"
                found.modules.setdefault(key, []).append((_resolved(target, use, where), use))
        case ast.Call(func=ast.Name(id="vars"), args=[target]) | ast.Attribute(value=target):
            if _may_be_library_module(target, use, where):
                found.modules.setdefault("*", []).append((_resolved(target, use, where), use))
        case _:
            pass


def _collect_library(found: _Patches, node: ast.AST, use: Use, where: Namespace) -> None:
    """A module or class of a library that the program gives other attributes, which workers will not have."""
    match node:
        case ast.Call(func=ast.Name(id="setattr" | "delattr" | "vars"), args=[target, *_]):
            changed = target
        case ast.Attribute(value=target):
            changed = target
        case _:
            return
    held = _stands_for_now(changed, use, where)
    if isinstance(held, ModuleType) and is_library_module(held):
        found.libraries.setdefault(library_of(held.__name__), use)
    elif isinstance(held, type) and is_library_class(held):
        found.libraries.setdefault(library_of(held.__module__), use)


def _resolved(node: ast.AST, use: Use, where: Namespace) -> Any:
    base = node
    while isinstance(base, ast.Attribute):
        base = base.value
    if isinstance(base, ast.Name) and is_local(base.id, node, use.text):
        return None
    return resolve(node, where.names)


def _stands_for_now(node: ast.AST, use: Use, where: Namespace) -> Any:
    base = node
    while isinstance(base, ast.Attribute):
        base = base.value
    is_variable = isinstance(base, ast.Name) and is_local(base.id, node, use.text)
    return None if is_variable else stands_for_now(node, where.names)


def _may_be_library_module(node: ast.AST, use: Use, where: Namespace) -> bool:
    words = {n.attr if isinstance(n, ast.Attribute) else getattr(n, "id", "") for n in walk(node)}
    if words & _WAYS_TO_MODULES or _is_imported(node, use) or words & reassigned_names(where):
        return True
    return isinstance(_resolved(node, use, where) or _stands_for_now(node, use, where), ModuleType)


def _is_given(node: ast.AST, use: Use, where: Namespace) -> bool:
    """Whether it may stand for anything, even a module: a variable of a function, but not the object of a method."""
    if not isinstance(node, ast.Name):
        return _resolved(node, use, where) is None and has_modules_as_values(where)
    around = binder_of(node.id, node, use.text)
    if not isinstance(around, FUNCTIONS):
        return around is not None
    holder = use.text.parents.get(around)
    if not isinstance(holder, ast.ClassDef) or scope_of(around).parameters[:1] != (node.id,):
        return True
    return isinstance(around, ast.Lambda) or is_taken_from_its_class(around, holder, use.text, where.names)


def _is_imported(node: ast.AST, use: Use) -> bool:
    """Whether a variable of a function gets its value from an import inside the function."""
    owner = owner_of(node.id, node, use.text) if isinstance(node, ast.Name) else None
    if owner is None or not isinstance(node, ast.Name):
        return False
    stores = uses_of(use.text).variables[owner, node.id]
    return any(isinstance(store.node, ast.Import | ast.ImportFrom) for store in stores)


def patched_function(function: FunctionType) -> Problem | None:
    """Why a function may come to do something else during a run."""
    namespace = namespace_of(function.__globals__)
    for other in program_around(namespace):
        if any(part in other.strays.words for part in _PARTS_OF_FUNCTIONS):
            return written_by_stray(other, "may be changed")
    for target, use in _patches_around(namespace).functions:
        if target is None or target is function:
            return Problem("is changed by another function", location_of(use))
    return why_not_all_is_loaded(namespace) or why_not_as_in_a_worker(namespace)


def changed_library(held: Any, names: dict[str, Any]) -> Problem | None:
    """Why a function or class of a library may not do what it does in a worker, for the program with these globals."""
    libraries = _patches_around(namespace_of(names)).libraries
    use = libraries.get(library_of(str(getattr(held, "__module__", None)))) if libraries else None
    return Problem("belongs to a library that the program has changed", location_of(use)) if use else None


REPLACED = "which is not what the library has there, so workers may have another"
CALL_YOUR_OWN = "leave the library as it is, and call your own function by its own name"


def patched_module(module: ModuleType, name: str, names: dict[str, Any]) -> Problem | None:
    """Why an attribute of a library's module may be exchanged by the program whose globals are `names`."""
    namespace = namespace_of(names)
    for other in program_around(namespace):
        if other.strays.may_write(name):
            return written_by_stray(other, "may be exchanged")
    patches = _patches_around(namespace).modules
    for target, use in [*patches.get(name, ()), *patches.get("*", ())] if patches else ():
        if target is None or target is module:
            return Problem("is exchanged by a function", location_of(use))
    return exchanged_by_other_means(namespace, [name]) or why_not_all_is_loaded(namespace)
