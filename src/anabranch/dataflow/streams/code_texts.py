"""What a user's code says, as text that is the same in every process: by this a stream knows its program again.

It has no addresses in it, and nothing in the order of a set. Comments, blank lines and line numbers do not matter.
"""

from __future__ import annotations

import ast
import datetime
import decimal
import dis
import fractions
import functools
import inspect
import uuid
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from anabranch.analysis.constancy import why_changing
from anabranch.analysis.home import home_of
from anabranch.analysis.modules import is_library_class, is_library_function, is_library_module, namespace_of
from anabranch.analysis.origins import ClassAttribute, Default, GlobalName, Origin, Variable
from anabranch.analysis.source import locate

_ATOMS = (
    *(int, float, complex, str, bytes, bool, type(None), type(...), range),
    *(datetime.date, datetime.time, datetime.datetime, datetime.timedelta, datetime.timezone),
    *(decimal.Decimal, fractions.Fraction, uuid.UUID),
)
_READS = ("LOAD_GLOBAL", "LOAD_NAME")
_WRITES = ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF")


class CodeTexts:
    """Reads code, and what it reaches by name: the user's functions and classes, each once, and plain values."""

    def __init__(self) -> None:
        self.code: list[str] = []
        self.values: dict[str, str] = {}  # by where they stand and their names
        self._seen: dict[int, Any] = {}  # what was read stays alive, so that its address is its own

    def read(self, thing: Any) -> None:
        """Anything that an operator's definition may hold."""
        match thing:
            case FunctionType():
                self._function(thing)
            case type():
                self._class(thing)
            case MethodType() | staticmethod() | classmethod():
                self.read(thing.__func__)
            case functools.partial():
                self.read((thing.func, thing.args, tuple(thing.keywords.items())))
            case property():
                self.read((thing.fget, thing.fset, thing.fdel))
            case functools.cached_property():
                self.read(thing.func)
            case _ if (text := plain_text(thing)) is not None:
                self.code.append(text)
            case _ if is_dataclass(thing) and self._is_new(thing):
                self.code.append(type(thing).__qualname__)
                for each in fields(thing):
                    self.code.append(each.name)
                    self.read(getattr(thing, each.name))
            case tuple() | list() if self._is_new(thing):
                self.code.append(f"{len(thing)} of")
                for each in thing:
                    self.read(each)
            case _ if inspect.isfunction(getattr(thing, "__wrapped__", None)):
                self.read(thing.__wrapped__)
            case _:
                self.code.append(_name(thing) if inspect.isroutine(thing) else type(thing).__qualname__)
                if not inspect.isroutine(thing) and not isinstance(thing, ModuleType):
                    self.read(type(thing))

    def _is_new(self, thing: Any) -> bool:
        if id(thing) in self._seen:
            self.code.append(f"as before: {getattr(thing, '__qualname__', '')}")
            return False
        self._seen[id(thing)] = thing
        return True

    # Functions ----------------------------------------------------------------------------------------------------

    def _function(self, function: FunctionType) -> None:
        if is_library_function(function):
            self.code.append(_name(function))
            return
        if not self._is_new(function):
            return
        code, where = function.__code__, function.__qualname__
        located = locate(code, function.__globals__)
        self.code.append(ast.dump(located.node) if located is not None else _compiled_text(code))
        used = list(_codes(code))
        written = {each.argval for some in used for each in dis.get_instructions(some) if each.opname in _WRITES}
        for name, value in _defaults(function):
            self._reached(where, name, value, _origin(Default, function, name))
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            if name not in written and (held := _contents(cell)):
                self._reached(where, name, held[0], _origin(Variable, function, name))
        reads = [each.argval for some in used for each in dis.get_instructions(some) if each.opname in _READS]
        attributes = {name: None for some in used for name in some.co_names}
        for name in dict.fromkeys(reads):
            if name in function.__globals__ and name not in written and not _is_special(name):
                self._global(function.__globals__, name, list(attributes))

    def _global(self, names: dict[str, Any], name: str, attributes: list[str]) -> None:
        value = names[name]
        if not isinstance(value, ModuleType):
            self._reached(str(names.get("__name__")), name, value, GlobalName(namespace_of(names), name))
        elif not is_library_module(value):
            for attribute in attributes:
                if attribute in vars(value) and not isinstance(vars(value)[attribute], ModuleType):
                    self._global(vars(value), attribute, [])

    def _reached(self, where: str, name: str, value: Any, origin: Origin | None) -> None:
        """What a name stands for; a list or the like only if nobody changes it while tuples flow."""
        text = plain_text(value)
        if text is None:
            self.code.append(name)
            self.read(value)
        elif isinstance(value, (*_ATOMS, Enum)) or (origin is not None and why_changing(origin, value) is None):
            # Two functions may have the same name, and values of their own.
            self.values[f"{where}:{name}"] = self.values.get(f"{where}:{name}", "") + text + "\n"

    # Classes ------------------------------------------------------------------------------------------------------

    def _class(self, cls: type) -> None:
        if is_library_class(cls):
            self.code.append(_name(cls))
            return
        if not self._is_new(cls):
            return
        self.code.append(cls.__qualname__)
        for base in cls.__bases__:
            self.read(base)
        for name, member in vars(cls).items():
            if isinstance(member, FunctionType | staticmethod | classmethod | property | functools.cached_property):
                self.code.append(name)
                self.read(member)
            elif not _is_special(name) and (isinstance(member, type) or plain_text(member) is not None):
                self._reached(cls.__qualname__, name, member, ClassAttribute(cls, name))


def plain_text(value: Any) -> str | None:
    """A value that is nothing but data, the same text for the same value in every process; None for all others."""
    try:
        return "".join(_plain(value))
    except (TypeError, RecursionError):
        return None


def _plain(value: Any) -> Iterator[str]:
    match value:
        case Enum():
            yield f"{type(value).__qualname__}.{value.name}"
        case _ if type(value) in _ATOMS:
            yield repr(value)
        case list() | tuple() | dict() if type(value) in (list, tuple, dict) or hasattr(value, "_fields"):
            yield f"{type(value).__name__}("
            for part in value.items() if isinstance(value, dict) else value:
                yield from _plain(part)
                yield ", "
            yield ")"
        case set() | frozenset():
            yield f"{type(value).__name__}({sorted(''.join(_plain(part)) for part in value)})"
        case _:
            raise TypeError


def _compiled_text(code: CodeType) -> str:
    """Of code without a source that is known: its instructions, and all that they speak of."""
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    constants = ", ".join(_constant_text(each) for each in code.co_consts)
    return f"{code.co_name} {code.co_argcount} {code.co_code.hex()} {names} ({constants})"


def _constant_text(constant: Any) -> str:
    if isinstance(constant, CodeType):
        return _compiled_text(constant)
    return plain_text(constant) or type(constant).__qualname__


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and that of the functions in it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


def _defaults(function: FunctionType) -> Iterator[tuple[str, Any]]:
    given = function.__defaults__ or ()
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    yield from zip(names[len(names) - len(given) :], given, strict=True)
    yield from (function.__kwdefaults__ or {}).items()


def _contents(cell: Any) -> tuple[Any, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:  # there is nothing in it yet
        return ()


def _origin(kind: Any, function: FunctionType, name: str) -> Origin | None:
    home = home_of(function)
    return kind(home, name) if home is not None else None


def _name(thing: Any) -> str:
    return f"{getattr(thing, '__module__', None)}.{getattr(thing, '__qualname__', type(thing).__qualname__)}"


def _is_special(name: str) -> bool:
    return name.startswith("_") and name.endswith("_")
