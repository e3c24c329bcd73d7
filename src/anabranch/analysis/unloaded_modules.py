"""Modules of the user's that no program reaches yet: whether their files say that they cannot touch a program.

They are read and not run. One is harmless that names no module of the program, gives no attribute to anything but to
its own objects, has no way to reach what it does not name, and imports nothing but its like.
"""

from __future__ import annotations

import ast
import importlib.machinery
import sys
from pathlib import Path

from anabranch.analysis.modules import is_library_file, is_library_module
from anabranch.analysis.reach import mentioned_modules
from anabranch.analysis.scopes import owner_of, scope_of
from anabranch.analysis.source import SourceText
from anabranch.analysis.syntax import walk
from anabranch.analysis.uses import uses_of
from anabranch.analysis.words import words

_REACHING = words(
    """modules import_module __import__ run_path run_module exec_module load_module spec_from_file_location gc inspect
    ctypes setattr delattr exec eval globals vars __dict__ __globals__ __class__ __subclasses__ __mro__ __bases__
    setrecursionlimit set_int_max_str_digits register_error setlocale filterwarnings simplefilter seterr getcontext
    setcontext field_size_limit set_printoptions register_dialect settrace setprofile mock patch"""
)
_texts: dict[str, SourceText | None] = {}


def is_definitely_harmless(name: str, program: frozenset[str]) -> bool:
    """Whether a module that may be imported later leaves the modules of a program as they are."""
    waiting, seen = [name], {name}
    for each in waiting:  # grows while it is walked
        if each in program or is_definitely_of_a_library(each):
            continue
        files = _files_of(each, program)
        for file in files:
            text = _text_of(file)
            if text is None or not _is_harmless_text(text, program):
                return False
            package = each if file.endswith("__init__.py") else each.rpartition(".")[0]
            found = _imports_of(text, package)
            waiting += [other for other in sorted(found) if other not in seen]
            seen |= found
    return True


_MOST_FILES = 300
_beside: dict[tuple[str, frozenset[str]], bool] = {}


def is_touched_beside(file: str | None, program: frozenset[str]) -> bool:
    """Whether a file beside that of a module, which is no part of the program yet, names a module of it."""
    if file is None:
        return False
    folder = Path(file).parent
    key = (str(folder), program)
    if key not in _beside:
        known = {getattr(sys.modules.get(name), "__file__", None) for name in program}
        files = [str(each) for each in sorted(folder.glob("*.py")) if str(each) not in known]
        texts = [_text_of(each) for each in files[:_MOST_FILES]]
        _beside[key] = len(files) > _MOST_FILES or any(
            text is None or bool(mentioned_modules(text, {}) & program) for text in texts
        )
    return _beside[key]


def is_definitely_of_a_library(name: str) -> bool:
    first = name.partition(".")[0]
    if first in sys.stdlib_module_names:
        return True
    loaded = sys.modules.get(first)
    if loaded is not None and getattr(loaded, "__file__", None) is not None:
        return is_library_module(loaded)
    spec = _spec_of(first, None)
    places = [] if spec is None else [spec.origin] if spec.origin else list(spec.submodule_search_locations or ())
    return bool(places) and all(place is not None and is_library_file(place) for place in places)


def _spec_of(name: str, path: list[str] | None) -> importlib.machinery.ModuleSpec | None:
    try:
        return importlib.machinery.PathFinder.find_spec(name, path)
    except (ImportError, ValueError):
        return None


def _files_of(name: str, program: frozenset[str]) -> list[str]:
    """The files that importing a module runs, or has run; none where there is no such module."""
    found: list[str] = []
    path: list[str] | None = None
    parts = name.split(".")
    for at in range(len(parts)):
        spec = _spec_of(parts[at], path)  # with dots, it would look for the packages among those that are loaded
        if spec is None:
            break
        if spec.origin is not None and ".".join(parts[: at + 1]) not in program:
            found.append(spec.origin)
        path = list(spec.submodule_search_locations or ())
    return found


def _text_of(file: str) -> SourceText | None:
    if file not in _texts:
        try:
            text = SourceText(file, Path(file).read_text()) if file.endswith(".py") else None
        except (OSError, UnicodeDecodeError):
            text = None
        _texts[file] = text
    return _texts[file]


def _imports_of(text: SourceText, package: str) -> set[str]:
    found: set[str] = set()
    for node in walk(text.tree):
        match node:
            case ast.Import(names=aliases):
                found |= {alias.name for alias in aliases}
            case ast.ImportFrom(module=module, level=level, names=aliases):
                parents = package.split(".")[: len(package.split(".")) - level + 1] if level else []
                base = ".".join([*parents, *([module] if module else [])])
                found |= {base, *(f"{base}.{alias.name}" for alias in aliases)}
            case _:
                pass
    return found


def _is_harmless_text(text: SourceText, program: frozenset[str]) -> bool:
    if text.text.strip() and not text.is_python:
        return False
    if mentioned_modules(text, {}) & program:
        return False
    uses = uses_of(text)
    if any(name in uses.attributes or name in uses.globals for name in _REACHING):
        return False
    return all(
        isinstance(use.node.ctx, ast.Load) or _is_its_own(use.node, text)
        for found in uses.attributes.values()
        for use in found
        if isinstance(use.node, ast.Attribute)
    )


def _is_its_own(node: ast.Attribute, text: SourceText) -> bool:
    """`self.rows = …` in a method."""
    if not isinstance(node.value, ast.Name):
        return False
    owner = owner_of(node.value.id, node.value, text)
    is_method = owner is not None and isinstance(text.parents.get(owner), ast.ClassDef)
    return is_method and owner is not None and scope_of(owner).parameters[:1] == (node.value.id,)
