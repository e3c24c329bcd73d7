"""Which modules are the user's, which texts make up a namespace, and which of them can reach each other."""

from __future__ import annotations

import ast
import builtins
import linecache
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from anabranch.analysis.source import SourceText, text_of

_PACKAGE = str(Path(__file__).resolve().parents[1])
_LIBRARIES = tuple(
    {str(Path(p).resolve()) for key, p in sysconfig.get_paths().items() if "lib" in key and p}
    | {str(Path(sysconfig.__file__).resolve().parent)}
)


@cache
def is_library_file(file: str) -> bool:
    """Whether a file belongs to Python, to an installed package or to this package, not to the user."""
    if file.startswith("<frozen "):
        return True
    resolved = str(Path(file).resolve()) if not file.startswith("<") else file
    return resolved.startswith((*_LIBRARIES, _PACKAGE)) or "site-packages" in resolved


def is_library_module(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    if isinstance(file, str):
        return is_library_file(file)
    if module.__name__ == "__main__":
        return False
    spec = getattr(module, "__spec__", None)
    return module.__name__ in sys.builtin_module_names or getattr(spec, "origin", None) in ("built-in", "frozen")


def is_library_function(function: FunctionType) -> bool:
    return is_library_file(function.__code__.co_filename)


_HEAP_TYPE = 1 << 9  # made by a class statement or its like, not part of the interpreter


@cache
def is_library_class(cls: type) -> bool:
    if cls.__module__ == "builtins":
        # Code executed without a name of its own claims to be builtin, too.
        return not cls.__flags__ & _HEAP_TYPE or vars(builtins).get(cls.__name__) is cls
    module = sys.modules.get(cls.__module__)
    return module is not None and is_library_module(module)


@dataclass(eq=False)
class Namespace:
    """The globals of a module (or of executed code) with the texts that can write them."""

    names: dict[str, Any]
    texts: list[SourceText]
    is_complete: bool  # whether the texts are all there is
    module: ModuleType | None

    @property
    def label(self) -> str:
        return self.module.__name__ if self.module else str(self.names.get("__name__", "this code"))


_namespaces: dict[int, tuple[dict[str, Any], int, Namespace]] = {}


def namespace_of(names: dict[str, Any]) -> Namespace:
    known = _namespaces.get(id(names))
    module = sys.modules.get(str(names.get("__name__", "")))
    if module is not None and vars(module) is not names:
        module = None
    # A file's text is fixed; what a notebook or executed code holds may grow with its namespace.
    size = 0 if module is not None and getattr(module, "__file__", None) else len(names) + len(linecache.cache)
    if known is not None and known[0] is names and known[1] == size:
        return known[2]
    texts, is_complete = _texts(names, module)
    namespace = Namespace(names, texts, is_complete, module)
    _namespaces[id(names)] = (names, size, namespace)
    return namespace


def _texts(names: dict[str, Any], module: ModuleType | None) -> tuple[list[SourceText], bool]:
    file = getattr(module, "__file__", None) if module else None
    if isinstance(file, str) and file.endswith(".py"):
        text = text_of(file, names)
        return ([text], True) if text else ([], False)
    if module is not None and module.__name__ == "__main__" and file is None:
        cells = [name for name in linecache.cache if _is_notebook_cell(name)] if "get_ipython" in names else []
        found = [text_of(cell) for cell in cells] or [text_of("<string>", names)]
        known = [text for text in found if text is not None]
        return known, bool(known) and len(known) == len(found)
    # Executed code: the texts of whatever it has defined.
    files = {
        value.__code__.co_filename: None
        for value in names.values()
        if isinstance(value, FunctionType) and value.__globals__ is names
    }
    for value in names.values():
        if isinstance(value, type) and value.__module__ == names.get("__name__"):
            for member in vars(value).values():
                if isinstance(member, FunctionType) and member.__globals__ is names:
                    files[member.__code__.co_filename] = None
    read = [text_of(name, names) for name in files]
    present = [text for text in read if text is not None]
    return present, bool(present) and len(present) == len(read)


def _is_notebook_cell(file: str) -> bool:
    return file.startswith("<ipython-input-") or "ipykernel_" in file


_world: tuple[int, tuple[int, ...]] = (0, ())


def look_around() -> None:
    """Notice modules that were loaded or exchanged since the last analysis; called once at the start of each."""
    global _world
    loaded = tuple(map(id, sys.modules.values()))
    if loaded != _world[1]:
        _world = (_world[0] + 1, loaded)


def world() -> int:
    """Changes whenever the loaded modules do, so that what was concluded from them can be kept until then."""
    return _world[0]


_user_modules: tuple[int, list[ModuleType]] = (0, [])


def user_modules() -> list[ModuleType]:
    global _user_modules
    if _user_modules[0] != world():
        found = [m for m in list(sys.modules.values()) if isinstance(m, ModuleType) and not is_library_module(m)]
        _user_modules = (
            world(),
            [m for m in found if getattr(m, "__file__", None) or m.__name__ == "__main__"],
        )
    return _user_modules[1]


_neighbours: dict[tuple[int, int], list[Namespace]] = {}


def neighbours(namespace: Namespace) -> list[Namespace]:
    """The namespaces that can reach this one or be handed its objects: those linked to it by imports."""
    key = (id(namespace), world())
    known = _neighbours.get(key)
    if known is not None:
        return known
    others = [namespace_of(vars(m)) for m in user_modules() if vars(m) is not namespace.names]
    component = [namespace]
    for member in component:  # grows while it is walked
        for other in others:
            if not any(other is one for one in component) and _are_linked(member, other):
                component.append(other)
    _neighbours[key] = component
    return component


def _are_linked(one: Namespace, other: Namespace) -> bool:
    return _reaches(one, other) or _reaches(other, one)


def _reaches(one: Namespace, other: Namespace) -> bool:
    """Whether one imports the other, names it as a text, or has got something that was defined in it."""
    if other.module is None:
        return False
    name = other.module.__name__
    if any(value is other.module or getattr(value, "__module__", None) == name for value in list(one.names.values())):
        return True
    last = name.rpartition(".")[2]
    return any(last in text.text and name in _mentioned_modules(text, one.names) for text in one.texts)


_mentioned: dict[SourceText, set[str]] = {}


def _mentioned_modules(text: SourceText, names: dict[str, Any]) -> set[str]:
    """The modules that a text imports anywhere, or whose names stand in it as strings."""
    if text not in _mentioned:
        package = str(names.get("__package__") or "").split(".")
        found: set[str] = set()
        for node in ast.walk(text.tree):
            match node:
                case ast.Import(names=aliases):
                    found |= {alias.name for alias in aliases}
                case ast.ImportFrom(module=module, level=level, names=aliases):
                    parents = package[: len(package) - level + 1] if level else []
                    base = ".".join([*parents, *([module] if module else [])])
                    found |= {base, *(f"{base}.{alias.name}" for alias in aliases)}
                case ast.Constant(value=str(string)) if string != "__main__":
                    found.add(string)  # importlib.import_module("…"), sys.modules["…"]
                case _:
                    pass
        _mentioned[text] = found
    return _mentioned[text]
