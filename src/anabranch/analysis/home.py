"""Where a user's function lives: its syntax tree, its globals, and the variables it took from around it."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass
from types import CellType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from anabranch.analysis import bytecode, source
from anabranch.analysis.values import FunctionNode
from anabranch.errors import Location

_MISSING = object()


@dataclass(eq=False)
class Home:
    function: FunctionType
    node: FunctionNode
    text: source.SourceText | None  # None where the tree was rebuilt from bytecode
    class_name: str | None  # of the class around it, for private names

    @property
    def namespace(self) -> dict[str, Any]:
        return self.function.__globals__

    @property
    def file(self) -> str:
        return self.function.__code__.co_filename

    @property
    def name(self) -> str:
        name = self.function.__name__
        return "the lambda" if name == "<lambda>" else f"`{name}`"

    @property
    def location(self) -> Location:
        return Location(self.file, self.function.__code__.co_firstlineno)

    def cell(self, name: str) -> CellType | None:
        """The variable of an enclosing function that this name stands for."""
        names = self.function.__code__.co_freevars
        if name not in names or self.function.__closure__ is None:
            return None
        return self.function.__closure__[names.index(name)]

    def global_(self, name: str) -> tuple[bool, Any]:
        """Whether a global or builtin of this name exists now, and what it is."""
        found = self.namespace.get(name, _MISSING)
        if found is _MISSING:
            found = getattr(builtins, name, _MISSING)
        return found is not _MISSING, found

    def mangled(self, name: str) -> str:
        """Inside a class, `__x` is `_Class__x`."""
        if self.class_name is None or not name.startswith("__") or name.endswith("__") or "." in name:
            return name
        stripped = self.class_name.lstrip("_")
        return f"_{stripped}{name}" if stripped else name


def owner_of(home: Home, text: source.SourceText) -> tuple[str, Location]:
    """Where code is followed: the class whose methods lead to each other, or the function that is no method."""
    around = text.enclosing(home.node)[:1]
    if around and isinstance(around[0], ast.ClassDef):
        return f"the methods of `{around[0].name}`", Location(home.file, around[0].lineno)
    return home.name, home.location


_homes: WeakKeyDictionary[FunctionType, Home | None] = WeakKeyDictionary()


def home_of(function: FunctionType) -> Home | None:
    """None where neither source nor bytecode tells what the function does."""
    if function in _homes:
        known = _homes[function]
        if known is None or known.function.__code__ is function.__code__:
            return known
    home: Home | None = None
    located = source.locate(function.__code__, function.__globals__)
    if located is not None:
        around = [n for n in located.text.enclosing(located.node) if isinstance(n, ast.ClassDef)]
        home = Home(function, located.node, located.text, around[0].name if around else None)
    else:
        rebuilt = bytecode.rebuild(function.__code__)
        home = Home(function, rebuilt, None, None) if rebuilt is not None else None
    _homes[function] = home
    return home
