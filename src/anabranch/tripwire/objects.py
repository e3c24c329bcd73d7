"""What objects are made of, read without running code of the user's: attributes, slots, and what comes from Python."""

from __future__ import annotations

import copyreg
import functools
import warnings
from collections import deque
from collections.abc import Iterator
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType
from typing import Any

from anabranch.analysis.modules import is_library_class, is_library_function

_HEAP_TYPE = 1 << 9
# Whose objects are copied from process to process as they are: what they give for a pickle is all there is.
_WHOLE = (
    "datetime",
    "decimal",
    "fractions",
    "uuid",
    "pathlib",
    "re",
    "collections",
    "zoneinfo",
    "ipaddress",
    "operator",
)
_OWN_PICKLE = ("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__getnewargs__", "__getnewargs_ex__")


def is_users(cls: type) -> bool:
    """In a worker `__main__` is a file of the engine's, and yet the classes that say so are the user's."""
    return cls.__module__ == "__main__" or not is_library_class(cls)


def is_heap_type(cls: type) -> bool:
    """Whether its attributes can be replaced."""
    return bool(cls.__flags__ & _HEAP_TYPE)


@functools.cache
def pickles_itself(cls: type) -> bool:
    """Whether code of the user's says what becomes of an object on its way to another process."""
    return cls in copyreg.dispatch_table or any(_is_users_function(found) for found in _own_pickle(cls))


def _own_pickle(cls: type) -> list[Any]:
    return [vars(base)[name] for base in cls.__mro__ if is_users(base) for name in _OWN_PICKLE if name in vars(base)]


def _is_users_function(found: Any) -> bool:
    """Named tuples and dataclasses have some of the library's."""
    return not (isinstance(found, FunctionType) and is_library_function(found))


def travels_whole(cls: type) -> bool:
    package = cls.__module__.partition(".")[0]
    return package in _WHOLE or package == "anabranch"


def parts_of(value: Any) -> Iterator[Any]:
    """What an object of a library's gives for a copy of it. Raises what it raises, where there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made: Any
        registered = copyreg.dispatch_table.get(type(value))
        if registered is not None and not _is_users_function(registered):
            made = registered(value)
        else:
            made = value.__reduce_ex__(4)
    if isinstance(made, str):
        yield made
        return
    for number, part in enumerate(made):
        # The last two go through what is in a list or a dictionary.
        yield list(part) if number in (3, 4) and part is not None else part


def attributes_of(value: Any) -> list[tuple[str, Any]]:
    """Those in the object's dictionary and in its slots. What `cached_property` has kept is left out."""
    found = list(_dictionary(value).items())
    kind = type(value)
    for base in kind.__mro__:
        for name, member in vars(base).items():
            if isinstance(member, MemberDescriptorType) and is_heap_type(base):
                try:
                    found.append((name, member.__get__(value, kind)))
                except AttributeError:
                    continue
    return [(name, each) for name, each in found if type(name) is str and not _is_cached(kind, name)]


def _is_cached(kind: type, name: str) -> bool:
    return any(isinstance(vars(base).get(name), functools.cached_property) for base in kind.__mro__)


def _dictionary(value: Any) -> dict[str, Any]:
    for base in type(value).__mro__:
        found = vars(base).get("__dict__")
        if isinstance(found, GetSetDescriptorType):
            held: dict[str, Any] = found.__get__(value)
            return held
    return {}


def member(base: type, name: str, value: Any) -> Any:
    """An attribute of one of Python's own classes, whatever a class of the user's has in its place."""
    return vars(base)[name].__get__(value)


_PLAIN: dict[type, Any] = {
    list: lambda value: list(list.__iter__(value)),
    tuple: lambda value: tuple(tuple.__iter__(value)),
    deque: lambda value: deque(deque.__iter__(value), member(deque, "maxlen", value)),
    str: str.__str__,
    int: lambda value: int.__add__(value, 0),
    float: float.__pos__,
    complex: complex.__pos__,
    bytes: lambda value: b"".join((bytes.__getitem__(value, slice(None)),)),
    bytearray: lambda value: bytearray.__getitem__(value, slice(None)),
    BaseException: lambda value: member(BaseException, "args", value),
}
_WITHOUT_CORE = (*_PLAIN, dict, set, frozenset, object)


def plain_value(kind: type, value: Any) -> Any:
    """What an object is as one of Python's own: the items of a list, a number, a text; None where it is none."""
    for base, read in _PLAIN.items():
        if issubclass(kind, base):
            return read(value)
    return None


@functools.cache
def has_core(cls: type) -> bool:
    """Whether a class of the user's has more from a library than attributes: a generator of random numbers, a date."""
    if _own_pickle(cls):
        return False  # then it would be the user's code that is asked for a copy
    for base in cls.__mro__:
        if is_users(base) or base in _WITHOUT_CORE or issubclass(base, BaseException):
            continue
        if not is_heap_type(base) or "__reduce__" in vars(base):
            return True
    return False
