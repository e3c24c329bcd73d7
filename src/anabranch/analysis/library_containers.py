"""Lists, dictionaries and sets that belong to a library: a program that changes them changes what the library does."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from anabranch.analysis.modules import Namespace, is_kind_of, is_library_module
from anabranch.analysis.reading import Kind, Reader
from anabranch.analysis.resolving import stands_for_now
from anabranch.analysis.shapes import shape_of
from anabranch.analysis.uses import Use, uses_of


def library_of(module: str) -> str:
    """The library that a module belongs to; its part in C counts as one with it."""
    return module.split(".")[0].lstrip("_")


def changed_containers(namespace: Namespace) -> Iterator[tuple[str, Use]]:
    """The libraries with a container that a module of the program changes, or may have changed elsewhere."""
    libraries = {name for name, held in list(namespace.names.items()) if is_kind_of(held, ModuleType)}
    for text in namespace.texts:
        uses = uses_of(text)
        for name, found in uses.attributes.items():
            for use in found:
                assert isinstance(use.node, ast.Attribute)
                owner = stands_for_now(use.node.value, namespace.names) if _first_name(use.node) in libraries else None
                if isinstance(owner, ModuleType) and _is_library(owner.__name__):
                    held = vars(owner).get(name)
                    if _is_container(held) and _may_change(use, held, namespace):
                        yield owner.__name__, use
        for use, library, held in _imported(namespace, uses.globals):
            if _is_container(held) and _may_change(use, held, namespace):
                yield library, use


def _first_name(node: ast.Attribute) -> str | None:
    base: ast.expr = node
    while isinstance(base, ast.Attribute):
        base = base.value
    return base.id if isinstance(base, ast.Name) else None


def _imported(namespace: Namespace, uses: dict[str, list[Use]]) -> Iterator[tuple[Use, str, Any]]:
    """Uses of what the module has imported from libraries by name."""
    for name, found in uses.items():
        held = namespace.names.get(name)
        if not _is_container(held):
            continue
        imports = [use.node for use in found if isinstance(use.node, ast.ImportFrom)]
        for source in [node.module for node in imports if node.module and not node.level]:
            if not _is_library(source):
                continue
            for use in found:
                if isinstance(use.node, ast.Name):
                    yield use, source, held


def _is_library(name: str) -> bool:
    """One that is not loaded may be any. Who changes Anabranch itself is beyond what it can find out."""
    module = sys.modules.get(name)
    return library_of(name) != "anabranch" and (module is None or is_library_module(module))


def _is_container(held: Any) -> bool:
    return is_kind_of(held, list, dict, set)


def _may_change(use: Use, held: Any, namespace: Namespace) -> bool:
    if not isinstance(getattr(use.node, "ctx", None), ast.Load):
        return True
    return Reader(use.text, namespace.names, shape_of(held)).kind(use.node) is not Kind.READS
