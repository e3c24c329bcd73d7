"""Which modules of the user's have handed something to a library: a handler, a hook, a class that it may make.

Whatever calls a library may come to that. So the interpreter is asked what the libraries have, from their modules on,
as far as it can say: a module counts, too, if it names a way to hand something out that the interpreter does not see.
"""

from __future__ import annotations

import contextvars
import gc
import re
import signal
import sys
import weakref
from collections.abc import Iterable
from datetime import datetime, time
from enum import Enum, auto
from types import CodeType, FunctionType, ModuleType
from typing import Any

from anabranch.analysis.methods import ATOM_TYPES
from anabranch.analysis.modules import (
    Namespace,
    is_library_class,
    is_library_function,
    is_library_module,
    loaded_modules,
    module_of,
)
from anabranch.analysis.source import SourceText
from anabranch.analysis.words import words

# We, and who runs a program from outside and is not run by it: shells, and what runs tests.
_AROUND = words("anabranch IPython _pytest pytest pluggy xdist execnet hypothesis")
# They keep classes for what these are, and call none of their functions.
_ONLY_KEEPING = tuple(words("typing typing_extensions cloudpickle pyspark.cloudpickle"))
# What an interpreter or a library in C keeps for itself, or finds by asking classes.
_UNSEEN = re.compile(
    r"\b(codecs|addaudithook|ctypes|cffi|CFUNCTYPE|register_\w+_function|seterrcall"
    r"|__subclasshook__|__subclasscheck__|__instancecheck__)\b"
)


def hand_something_out(namespaces: Iterable[Namespace]) -> list[Namespace]:
    """Those of these that may run because a library does."""
    found = _Walk()
    found.go()
    return [each for each in namespaces if id(each.names) in found.owners or _names_a_way(each)]


_naming: dict[SourceText, bool] = {}


def _names_a_way(namespace: Namespace) -> bool:
    for text in namespace.texts:
        if text not in _naming:
            _naming[text] = _UNSEEN.search(text.text) is not None
    return not namespace.is_complete or any(_naming[text] for text in namespace.texts)


class _Kind(Enum):
    PLAIN = auto()
    CLASS = auto()
    FUNCTION = auto()
    MODULE = auto()
    REFERENCE = auto()
    OF_A_USER = auto()
    OTHER = auto()


class _Walk:
    """From the modules of libraries on, through whatever they have but modules."""

    def __init__(self) -> None:
        modules = loaded_modules()
        self.owners: set[int] = set()  # by the identity of their names
        self._of_libraries = [vars(each) for each in modules if is_library_module(each) and not _is_left_out(each)]
        self._of_users = {id(vars(each)) for each in modules if not is_library_module(each)}
        self._by_name = {each.__name__: id(vars(each)) for each in modules}
        self._seen: dict[int, Any] = {id(vars(each)): each for each in modules} | {id(sys.modules): None}
        self._kinds: dict[int, tuple[type, _Kind]] = {}

    def go(self) -> None:
        seen = self._seen  # kept with the objects: nothing else has their identities
        waiting: list[Any] = [*self._of_libraries, *_hooks()]
        while waiting:
            parts = gc.get_referents(*waiting)
            fresh = {identity: part for part in parts if (identity := id(part)) not in seen}
            seen.update(fresh)
            waiting = [each for part in fresh.values() for each in self._leading_on(part)]

    def _leading_on(self, part: Any) -> tuple[Any, ...]:
        match self._kind_of(type(part)):
            case _Kind.PLAIN:
                return self._of_another(part.tzinfo) if type(part) in (datetime, time) else ()
            case _Kind.CLASS:
                return self._of_class(part)
            case _Kind.FUNCTION:
                self._note(id(part.__globals__))
                return () if is_library_function(part) and _is_around(module_of(part)) else (part,)
            case _Kind.MODULE:
                self._note(id(vars(part)))
                return ()
            case _Kind.REFERENCE:
                return self._of_another(weakref.ref.__call__(part))
            case _Kind.OF_A_USER:
                self._note(self._by_name.get(module_of(type(part))))
                return (part,)
            case _:
                return (part,)

    def _of_another(self, part: Any) -> tuple[Any, ...]:
        """What the collector does not see behind an object."""
        if id(part) in self._seen:
            return ()
        self._seen[id(part)] = part
        return self._leading_on(part)

    def _of_class(self, cls: type) -> tuple[Any, ...]:
        if is_library_class(cls):
            return () if _is_around(module_of(cls)) else (cls,)
        for base in cls.__mro__:
            self._note(self._by_name.get(module_of(base)))
        return (cls,)

    def _note(self, names: int | None) -> None:
        if names in self._of_users:
            self.owners.add(names)

    def _kind_of(self, kind: type) -> _Kind:
        known = self._kinds.get(id(kind))
        if known is None:
            known = self._kinds[id(kind)] = kind, _kind_of(kind)
        return known[1]


def _kind_of(kind: type) -> _Kind:
    if issubclass(kind, type):
        return _Kind.CLASS
    if issubclass(kind, ModuleType):
        return _Kind.MODULE
    if issubclass(kind, weakref.ref):
        return _Kind.REFERENCE
    if kind is FunctionType:
        return _Kind.FUNCTION
    if kind in ATOM_TYPES or kind is CodeType or kind.__name__ == "_abc_data" or _is_around(module_of(kind)):
        return _Kind.PLAIN
    return _Kind.OTHER if is_library_class(kind) else _Kind.OF_A_USER


def _is_left_out(module: ModuleType) -> bool:
    return _is_around(module.__name__) or module.__name__.startswith(_ONLY_KEEPING)


def _is_around(module: str) -> bool:
    return module.split(".")[0] in _AROUND


def _hooks() -> list[Any]:
    """What the interpreter calls by itself, and what depends on who is running."""
    handlers = [signal.getsignal(each) for each in signal.valid_signals()]
    return [handlers, [sys.gettrace(), sys.getprofile()], contextvars.copy_context()]
