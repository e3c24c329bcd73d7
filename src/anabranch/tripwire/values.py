"""The digest of a value: the same in every process for what is the same, and another for what has changed.

No address is in it, nothing in the order of a set, and reading runs no code of the user's. Floats count by their bits,
dictionaries by their order too. Of some objects (`where` they are is all that is known, or what they hold need not be
the same in two processes) the digest is only good within a process: that part is kept apart.
"""

from __future__ import annotations

import functools
import hashlib
import marshal
import types
import typing
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import EnumMeta
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from anabranch.graph.array_layouts import layout_of
from anabranch.tripwire.code_names import code_token, names_of
from anabranch.tripwire.objects import (
    attributes_of,
    has_core,
    is_heap_type,
    is_users,
    member,
    parts_of,
    pickles_itself,
    plain_value,
    travels_whole,
)

ATOMS = frozenset((int, float, complex, str, bytes, bool, type(None), type(...)))
LARGE = 1 << 20  # bytes of an array that is not hashed
_NAMED = (
    types.BuiltinFunctionType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
_OF_TYPING = (types.GenericAlias, types.UnionType, typing.TypeVar, typing.ParamSpec, typing.ForwardRef)
_SMALL = 64  # bytes that are kept as they are
_DEEPEST = 100  # things within things; what is deeper counts by identity


class Identities:
    """Objects that cannot be read, numbered as they are met: a name that stands for another one has changed."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, int]] = {}  # with the object itself, so that its address stays its own

    def number(self, thing: Any) -> int:
        return self._known.setdefault(id(thing), (thing, len(self._known)))[1]


class Reader:
    """Digests a value, and notes the functions, classes and modules in it for others to follow.

    What is only good within this process is gathered in `local`. Each value has a reader of its own, so that its digest
    does not depend on what else was looked at.
    """

    def __init__(self, identities: Identities) -> None:
        self.identities = identities
        self.local: list[bytes] = []
        self.found: list[Any] = []  # functions, classes and modules, as they are met
        self.large: list[np.ndarray[Any, Any]] = []  # arrays that are not hashed
        self._done: dict[int, tuple[Any, bytes]] = {}
        self._open: dict[int, int] = {}

    def token(self, value: Any) -> bytes:
        kind = type(value)
        if kind in ATOMS:
            return _short(marshal.dumps(value, 2))
        done = self._done.get(id(value))
        if done is not None:
            return done[1]
        if id(value) in self._open:
            return b"^%d;" % self._open[id(value)]
        self._open[id(value)] = len(self._open)
        is_deep = len(self._open) > _DEEPEST
        made = self.by_identity(value) if is_deep else _short(self._compound(kind, value))
        del self._open[id(value)]
        self._done[id(value)] = value, made
        return made

    def tokens(self, values: Iterable[Any]) -> bytes:
        return b"".join(map(self.token, values))

    def by_identity(self, value: Any) -> bytes:
        """Of what cannot be read: its class, and in this process which one it is."""
        self.local.append(b"#%d;" % self.identities.number(value))
        return b"?" + _name(type(value))

    def locally(self, read: Callable[[], bytes]) -> None:
        self.local.append(_short(read()))

    # By kind ----------------------------------------------------------------------------------------------------

    def _compound(self, kind: type, value: Any) -> bytes:
        # Never by `isinstance`: it asks the object for its class, which may be a property of the user's.
        reader = _READERS.get(kind)
        if reader is not None:
            return reader(self, value)
        if issubclass(kind, type):
            return self._class(value)
        if issubclass(kind, _NAMED):
            return self._named(value)
        if issubclass(type(kind), EnumMeta):
            return self._member(value)
        if issubclass(kind, np.ndarray):
            return self._array(value)
        if issubclass(kind, np.generic):
            return b"n" + _text(value.dtype.str) + bytes(value.tobytes())
        if issubclass(kind, _OF_TYPING) or kind.__module__ == "typing":
            return b"y" + _text(_shown(value))
        if issubclass(kind, ModuleType):
            return self._module(value)
        return self._object(kind, value)

    def _class(self, cls: type) -> bytes:
        self.found.append(cls)
        return b"c" + _name(cls)

    def _module(self, module: ModuleType) -> bytes:
        self.found.append(module)
        return b"m" + _text(module.__name__)

    def _function(self, function: FunctionType) -> bytes:
        self.found.append(function)
        return b"f" + _name(function) + names_of(function.__code__).token

    def _named(self, value: Any) -> bytes:
        """What is not written in Python: by its name, and what it is bound to."""
        held = getattr(value, "__self__", None)
        text = b"b" + _text(getattr(value, "__module__", None) or "") + _text(value.__qualname__)
        if held is None or isinstance(held, ModuleType):
            return text
        if isinstance(held, type):
            return text + self.token(held)
        self.locally(lambda: self.token(held))  # such as the generator behind random.random
        return text + _name(type(held))

    def _member(self, value: Any) -> bytes:
        """Of an enum."""
        held = {name: each for name, each in attributes_of(value) if not _is_sunder(name)}
        name, own = object.__getattribute__(value, "_name_"), object.__getattribute__(value, "_value_")
        self.found.append(type(value))
        return b"e" + _name(type(value)) + self.token(name) + self.token(own) + self._attributes(held.items())

    def _array(self, value: np.ndarray[Any, Any]) -> bytes:
        head = b"A" + _text(repr(value.dtype)) + marshal.dumps(value.shape, 2)
        if not value.dtype.hasobject:
            head += _text(layout_of(value))  # numpy computes in its order
        if value.nbytes > LARGE:
            self.large.append(value)
            self.locally(lambda: b"#%d;" % self.identities.number(value))
            return head
        if value.dtype.hasobject:
            return head + self.tokens(np.ndarray.tolist(np.ndarray.ravel(value)))
        return head + np.ndarray.tobytes(value)

    def _object(self, kind: type, value: Any) -> bytes:
        if is_heap_type(kind):
            self.found.append(kind)
        head = b"o" + _name(kind)
        if is_users(kind):
            if has_core(kind):
                self._locally_or_by_identity(value)
            if not pickles_itself(kind):
                return head + self._content(kind, value)
            self.locally(lambda: self._content(kind, value))  # it need not be the same elsewhere
            return head
        if kind.__module__.startswith("anabranch."):
            return head + self._attributes(attributes_of(value))
        if kind.__module__.startswith("numba.") and hasattr(value, "py_func"):
            return head + self.token(value.py_func)
        if travels_whole(kind):
            with suppress(Exception):  # it is the library's, and says that it cannot be copied
                return head + self.tokens(parts_of(value))
        self._locally_or_by_identity(value)
        return head

    def _locally_or_by_identity(self, value: Any) -> None:
        before = len(self.local)
        try:
            self.local.append(_short(self.tokens(parts_of(value))))
        except Exception:  # the same
            self.local[before:] = [b"#%d;" % self.identities.number(value)]

    def _content(self, kind: type, value: Any) -> bytes:
        """What an object of the user's is made of: what its class has from one of Python's, and its attributes."""
        held = self._attributes(attributes_of(value))
        if issubclass(kind, dict):
            pairs = OrderedDict.items(value) if issubclass(kind, OrderedDict) else dict.items(value)
            default = member(defaultdict, "default_factory", value) if issubclass(kind, defaultdict) else None
            return held + self.token(default) + b"".join(self.token(k) + self.token(v) for k, v in pairs)
        if issubclass(kind, (set, frozenset)):
            each = set.__iter__(value) if issubclass(kind, set) else frozenset.__iter__(value)
            return held + b"".join(sorted(map(self.token, each)))
        plain = plain_value(kind, value)
        return held if plain is None else held + self._plain(plain)

    def _plain(self, value: Any) -> bytes:
        """A fresh copy, so it is not remembered by its address."""
        kind = type(value)
        return marshal.dumps(value, 2) if kind in ATOMS else _READERS[kind](self, value)

    def _attributes(self, held: Iterable[tuple[str, Any]]) -> bytes:
        return b"".join(_text(name) + self.token(each) for name, each in sorted(held, key=_first))

    # Containers -------------------------------------------------------------------------------------------------

    def _items(self, value: Any) -> bytes:
        """Of a list, a tuple or a deque."""
        head = _HEADS[type(value)]
        if ATOMS.issuperset(map(type, value)):
            return head + marshal.dumps(list(value), 2)
        return head + b"%d:" % len(value) + self.tokens(value)

    def _deque(self, value: deque[Any]) -> bytes:
        return self._items(value) + self.token(value.maxlen)

    def _pairs(self, value: dict[Any, Any]) -> bytes:
        head = _HEADS[type(value)]
        if ATOMS.issuperset(map(type, value)) and ATOMS.issuperset(map(type, value.values())):
            return head + marshal.dumps(list(value), 2) + marshal.dumps(list(value.values()), 2)
        return head + b"%d:" % len(value) + b"".join(self.token(k) + self.token(v) for k, v in value.items())

    def _with_default(self, value: defaultdict[Any, Any]) -> bytes:
        return self._pairs(value) + self.token(value.default_factory)

    def _set(self, value: Any) -> bytes:
        tokens = map(marshal_2, value) if ATOMS.issuperset(map(type, value)) else map(self.token, value)
        return _HEADS[type(value)] + b"%d:" % len(value) + b"".join(sorted(tokens))

    # Functions in other things ----------------------------------------------------------------------------------

    def _method(self, value: MethodType) -> bytes:
        return b"M" + self.token(value.__func__) + self.token(value.__self__)

    def _wrapping(self, value: Any) -> bytes:
        return b"W" + _name(type(value)) + self.token(value.__func__)

    def _property(self, value: property) -> bytes:
        return b"P" + self.token(value.fget) + self.token(value.fset) + self.token(value.fdel)

    def _partial(self, value: functools.partial[Any]) -> bytes:
        return b"p" + self.token(value.func) + self.tokens(value.args) + self._attributes(value.keywords.items())

    def _cached(self, value: Any) -> bytes:
        """A function with a cache: what it has kept is left out."""
        return b"k" + self.token(value.__wrapped__) + self._attributes(value.cache_parameters().items())

    def _cell(self, value: Any) -> bytes:
        try:
            return b"C" + self.token(value.cell_contents)
        except ValueError:
            return b"C-"

    def _generator(self, value: Any) -> bytes:
        frame = value.gi_frame
        self.locally(lambda: b"%d;" % (frame.f_lasti if frame is not None else -1))
        return b"G" + code_token(value.gi_code)


def _first(pair: tuple[str, Any]) -> str:
    return pair[0]


def marshal_2(value: Any) -> bytes:
    """As bytes that say nothing of references or interning, which differ between processes."""
    return marshal.dumps(value, 2)


def _short(token: bytes) -> bytes:
    return token if len(token) <= _SMALL else b"=" + hashlib.blake2b(token, digest_size=16).digest()


def _text(text: str) -> bytes:
    return marshal.dumps(text, 2)


def _name(thing: Any) -> bytes:
    """Of a function or class: how it was called when it was made, wherever it is now."""
    return _text(f"{thing.__module__}.{thing.__qualname__}")


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except Exception:
        return type(value).__qualname__


def _is_sunder(name: str) -> bool:
    return name.startswith("_") and name.endswith("_")


_HEADS: dict[Any, bytes] = {
    list: b"L",
    tuple: b"T",
    deque: b"Q",
    dict: b"D",
    OrderedDict: b"O",
    defaultdict: b"E",
    set: b"S",
    frozenset: b"F",
}
_READERS: dict[type, Callable[[Reader, Any], bytes]] = {
    list: Reader._items,
    tuple: Reader._items,
    deque: Reader._deque,
    dict: Reader._pairs,
    OrderedDict: Reader._pairs,
    defaultdict: Reader._with_default,
    set: Reader._set,
    frozenset: Reader._set,
    bytearray: lambda reader, value: b"B" + bytes(value),
    types.MappingProxyType: lambda reader, value: b"X" + reader.tokens(value) + reader.tokens(value.values()),
    FunctionType: Reader._function,
    MethodType: Reader._method,
    staticmethod: Reader._wrapping,
    classmethod: Reader._wrapping,
    property: Reader._property,
    functools.cached_property: lambda reader, value: b"K" + reader.token(value.func),
    functools.partial: Reader._partial,
    type(functools.lru_cache(_first)): Reader._cached,
    types.CellType: Reader._cell,
    types.CodeType: lambda reader, value: code_token(value),
    types.GeneratorType: Reader._generator,
}
