"""What operators reach and share: everything that their code names, from name to name, with its digest.

That is the globals, the variables of enclosing functions, the defaults and the attributes of classes that code of the
user's names, through the user's own functions and classes; and what it names of libraries. Instances that an operator
makes for its keys are not among them.
"""

from __future__ import annotations

import builtins
import codecs
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import EnumMeta
from types import BuiltinFunctionType, FunctionType, GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any, Literal

import numpy as np

from anabranch.analysis.declared import declaration_of
from anabranch.analysis.modules import is_library_function, is_library_module
from anabranch.graph.model import Operator
from anabranch.tripwire.code_names import CodeNames, names_of
from anabranch.tripwire.left_out import OF_A_PROCESS, OF_CLASSES, OF_FUNCTIONS, OF_MODULES, OF_WRAPPERS
from anabranch.tripwire.objects import is_heap_type, is_users
from anabranch.tripwire.outlines import outline
from anabranch.tripwire.values import ATOMS, Identities, Reader

_MISSING = object()
_CALLED = ("process", "punctuation", "finish", "add", "result")  # methods that engines call, and no code names
_LAYOUT = (MemberDescriptorType, GetSetDescriptorType)  # where objects keep things, which may be elsewhere when sent
_COSTLY = 0.001  # seconds: what takes longer is not digested anew each time
_SHARE = 0.01  # of the time, at most, for that


@dataclass(frozen=True)
class Entry:
    """Something with a name, as it was found. `portable` is the same in every process, `local` only in one."""

    operator: str  # the first that reaches it
    what: str  # in words
    name: str
    file: str  # where it is defined, as far as that is known
    line: int  # there, or of the function that names it
    portable: bytes
    local: bytes = b""


When = Literal["begin", "end", "write", "here", "generated", "setting"]


@dataclass(frozen=True)
class Change:
    """What is not as it should be: one name; and when that was seen."""

    entry: Entry
    when: When


@dataclass(frozen=True)
class Costly:
    """What takes long to digest: until that is worth it again, an outline has to do."""

    seconds: float
    at: float  # when it was last digested
    outline: bytes
    entry: Entry
    found: list[Any]

    def is_like(self, what: str, value: Any, identities: Identities) -> bool:
        """Whether it is too early for another digest, and the outline is the same."""
        is_early = self.entry.what == what and time.perf_counter() - self.at < self.seconds / _SHARE
        return is_early and outline(value, identities) == self.outline


class Memory:
    """What is remembered in a process from one look to the next."""

    def __init__(self) -> None:
        self.identities = Identities()
        self.costly: dict[int, Costly] = {}  # by the number of the entry


def reached(operators: Sequence[Operator], memory: Memory) -> Look:
    """Look at all that operators reach; in the same order in every process."""
    look = Look(memory)
    for operator in operators:
        if not _is_declared(operator):
            look.add(operator)
    return look


def _is_declared(operator: Operator) -> bool:
    """What a user has declared to be safe is the user's own business."""
    for value in _parameters(operator).values():
        declared = declaration_of(value) if callable(value) else None
        if declared is not None and declared.state in ("stateless", "partitioned"):
            return True
    return False


def _parameters(operator: Operator) -> dict[str, Any]:
    definition: Any = operator.definition
    return (
        {each.name: getattr(definition, each.name) for each in fields(definition)} if is_dataclass(definition) else {}
    )


class Look:
    """One look at everything: `entries`, and the large arrays among it."""

    def __init__(self, memory: Memory) -> None:
        self.entries: list[Entry] = []
        self.large: list[tuple[Entry, np.ndarray[Any, Any]]] = []
        self._memory = memory
        self._operator = ""
        self._queue: deque[Any] = deque()
        self._seen: dict[int, Any] = {}
        self._globals_seen: dict[tuple[int, str], Any] = {}
        self._names: dict[str, None] = {}  # that code has used behind a dot
        self._takes_all = False  # whether code may use any
        self._holders: list[Any] = []  # classes and modules
        self._homes: dict[int, str] = {}
        self._words: dict[str, None] = {}  # that name error handlers

    def add(self, operator: Operator) -> None:
        self._operator = operator.id
        for name, value in _parameters(operator).items():
            self._enter(f"`{name}` of the operator", name, value, operator.location.file, operator.location.line)
        self._names |= dict.fromkeys((*_CALLED, *getattr(operator.definition, "methods", ())))
        # Methods of tuples are code too.
        self._queue += [port.schema.type for port in (*operator.inputs, *operator.outputs)]
        while self._queue:
            self._follow(self._queue.popleft())

    def _enter(self, what: str, name: str, value: Any, file: str, line: int, *, is_local: bool = False) -> None:
        """Digest what a name stands for; the functions, classes and modules in it are followed later."""
        number, reader = len(self.entries), Reader(self._memory.identities)
        known = self._memory.costly.get(number)
        if known is not None and known.is_like(what, value, self._memory.identities):
            self.entries.append(known.entry)
            self._queue += known.found
            return
        began = time.perf_counter()
        portable = reader.token(value) if value is not _MISSING else b"missing"
        local = b"".join([portable, *reader.local] if is_local else reader.local)
        entry = Entry(self._operator, what, name, file, line, b"" if is_local else portable, local)
        self.entries.append(entry)
        self._queue += reader.found
        self.large += [(entry, array) for array in reader.large]
        ended = time.perf_counter()
        if ended - began > _COSTLY:  # or this process had to wait: that is not likely twice
            Reader(self._memory.identities).token(value)
            seconds = min(ended - began, time.perf_counter() - ended)
            if seconds > _COSTLY:
                sketch = outline(value, self._memory.identities)
                self._memory.costly[number] = Costly(seconds, ended, sketch, entry, reader.found)

    # What is followed -------------------------------------------------------------------------------------------

    def _follow(self, thing: Any) -> None:
        if id(thing) in self._seen:
            return
        self._seen[id(thing)] = thing
        if issubclass(type(thing), type):
            self._class(thing)
        elif issubclass(type(thing), ModuleType):
            self._module(thing)
        elif is_library_function(thing):
            self._wrapper(thing)
        elif getattr(vars(thing).get("__anabranch_declared__"), "state", None) != "stateless":
            self._function(thing)

    def _function(self, function: FunctionType) -> None:
        code, names = function.__code__, names_of(function.__code__)
        file, line, label = code.co_filename, code.co_firstlineno, function.__qualname__
        for name, value in _defaults(function):
            self._enter(f"the default of `{name}` in `{label}`", name, value, file, line)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self._enter(f"the variable `{name}` that `{label}` uses", name, _contents(cell), file, -line)
        for name, value in sorted(vars(function).items()):
            if name not in OF_FUNCTIONS:
                self._enter(f"the attribute `{name}` of `{label}`", name, value, file, line)
        self._globals(function, names)
        self._handlers(names)
        self._add_names(names)

    def _handlers(self, names: CodeNames) -> None:
        """What a user has registered for texts that cannot be encoded, by a name that is a text in the code."""
        for word in names.words:
            try:
                handler = codecs.lookup_error(word)
            except (LookupError, ValueError):  # none has this name, or it is no text
                continue
            if type(handler) is not BuiltinFunctionType and word not in self._words:
                self._words[word] = None
                self._enter(f"the error handler `{word}` of codecs", word, handler, *_place_of(handler))

    def _globals(self, function: FunctionType, names: CodeNames) -> None:
        held, file = function.__globals__, function.__code__.co_filename
        module = held.get("__name__", "?")
        for name in (*names.globals, *(text for text in names.texts if text in held)):
            if name in OF_MODULES or (id(held), name) in self._globals_seen:
                continue
            self._globals_seen[id(held), name] = held
            if name in held:
                self._enter(f"the global `{name}` of `{module}`", name, held[name], file, 0)
            elif name in vars(builtins):
                self._library_attribute("builtins", name, vars(builtins)[name])
            else:
                self._enter(f"the global `{name}` of `{module}`", name, _MISSING, file, 0)

    def _wrapper(self, function: FunctionType) -> None:
        """A function of a library's that functions of the user's may be wrapped in."""
        label = f"{function.__module__}.{function.__qualname__}"
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if name not in OF_WRAPPERS:
                self._enter(f"`{name}` in `{label}`", name, _contents(cell), "", 0)
        if "__wrapped__" in vars(function):
            self._enter(f"what `{label}` wraps", "__wrapped__", vars(function)["__wrapped__"], "", 0)

    def _class(self, cls: type) -> None:
        if not is_heap_type(cls):
            return
        self._queue += [*cls.__bases__, type(cls)]
        self._holders.append(cls)
        if isinstance(cls, EnumMeta):
            members = dict(EnumMeta.__members__.__get__(cls))
            self._enter(f"the members of `{cls.__qualname__}`", cls.__qualname__, members, *self._home(cls))
        names = vars(cls)
        for name in sorted(names):
            is_called = _is_special(name) and (_is_code(names[name]) or is_users(type(names[name])))
            if name in self._names or self._takes_all or is_called:
                self._class_attribute(cls, name)

    def _module(self, module: ModuleType) -> None:
        self._holders.append(module)
        for name in sorted(vars(module)):
            if name in self._names or name == "__getattr__":
                self._attribute(module, name)

    def _add_names(self, names: CodeNames) -> None:
        """Of code that has just been found: what was found before may have attributes of these names."""
        new = [name for name in names.attributes if name not in self._names]
        self._names |= dict.fromkeys(new)
        for holder in list(self._holders):
            held = vars(holder)
            for name in new:
                if name in held:
                    self._attribute(holder, name)
        if names.is_by_text and not self._takes_all:
            self._takes_all = True
            for holder in list(self._holders):
                if not isinstance(holder, ModuleType):
                    for name in sorted(vars(holder)):
                        self._class_attribute(holder, name)

    # Attributes -------------------------------------------------------------------------------------------------

    def _attribute(self, holder: Any, name: str) -> None:
        if not isinstance(holder, ModuleType):
            self._class_attribute(holder, name)
        elif is_library_module(holder):
            self._library_attribute(holder.__name__, name, vars(holder)[name])
        elif name not in OF_MODULES:
            what = f"the global `{name}` of `{holder.__name__}`"
            self._enter(what, name, vars(holder)[name], str(vars(holder).get("__file__", "")), 0)

    def _class_attribute(self, cls: type, name: str) -> None:
        value = vars(cls)[name]
        if type(value) in _LAYOUT or (name in OF_CLASSES and not _is_computed(value)):
            return
        if is_users(cls):
            self._enter(f"the class attribute `{cls.__qualname__}.{name}`", name, value, *self._home(cls))
        elif _is_code(value):
            self._enter(f"`{cls.__qualname__}.{name}`", name, value, *_place_of(value))

    def _home(self, cls: type) -> tuple[str, int]:
        """The file of a class, from one of its methods: a worker has no module that could be asked."""
        if id(cls) not in self._homes:
            places = (_place_of(value)[0] for value in vars(cls).values() if _is_defined_with(value, cls))
            self._homes[id(cls)] = next(filter(None, places), "")
        return self._homes[id(cls)], 0

    def _library_attribute(self, module: str, name: str, value: Any) -> None:
        """Functions and classes of a library, and plain values that are the same on every machine."""
        what = name if module == "builtins" else f"{module}.{name}"
        kind = type(value)
        if _is_code(value) or issubclass(kind, type | ModuleType):
            self._enter(f"`{what}`", name, value, *_place_of(value))
        elif what == "os.environ":
            self._enter(f"`{what}`", name, dict(value), "", 0, is_local=True)
        elif name.startswith("_") or module.partition(".")[0] in OF_A_PROCESS:
            return
        elif kind in ATOMS or kind in (dict, list, set):
            self._enter(f"`{what}`", name, value, "", 0, is_local=kind not in ATOMS)


def _defaults(function: FunctionType) -> Iterator[tuple[str, Any]]:
    code, values = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    yield from zip(names[len(names) - len(values) :], values, strict=True)
    yield from sorted((function.__kwdefaults__ or {}).items())


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


def _is_special(name: str) -> bool:
    """Whether something may be called that no code names: `__eq__`, and `_missing_` of an enum."""
    return name.startswith("_") and name.endswith("_")


def _is_code(value: Any) -> bool:
    """A function, in whatever it is wrapped, or a class; but no object of the user's, which may have state."""
    kind = type(value)
    return issubclass(kind, property | staticmethod | classmethod) or (callable(value) and not is_users(kind))


def _is_computed(value: Any) -> bool:
    """Whether the user's own code gives what else would be one of Python's notes: `__annotations__` as a property."""
    return issubclass(type(value), property | staticmethod | classmethod) or is_users(type(value))


def _place_of(value: Any) -> tuple[str, int]:
    """Where a function is written."""
    function = getattr(value, "__func__", None) or getattr(value, "fget", None) or value
    if isinstance(function, FunctionType) and not is_library_function(function):
        return function.__code__.co_filename, function.__code__.co_firstlineno
    return "", 0


def _is_defined_with(value: Any, cls: type) -> bool:
    return isinstance(value, FunctionType) and value.__module__ == cls.__module__
