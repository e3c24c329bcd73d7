"""How deep an object that exists already can be changed."""

from __future__ import annotations

import abc
import collections
import enum
import functools
import string
import typing
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodDescriptorType
from typing import Any

from anabranch.analysis.lifting import is_array, is_user_class
from anabranch.analysis.methods import ATOM_TYPES
from anabranch.analysis.modules import is_library_class

DEEPEST = 9
_BASES: tuple[Any, ...] = (object, abc.ABC, typing.Generic, typing.Protocol)
_UNCHANGING = (type, enum.Enum, FunctionType, BuiltinFunctionType, MethodDescriptorType)


@dataclass(frozen=True)
class Shape:
    """`depth` is 1 for a list of numbers, 2 for a list of such lists; a slice of an array is a view on it."""

    depth: int
    is_array: bool = False
    is_mapping: bool = False  # going through it gives its keys, which cannot be changed
    grows: bool = False  # a defaultdict, in which even looking up makes an entry

    @property
    def of_part(self) -> Shape:
        return Shape(self.depth - 1, self.is_array, False, self.grows)


UNKNOWN_SHAPE = Shape(DEEPEST, is_array=True, grows=True)


def shape_of(held: Any) -> Shape:
    is_mapping = type(held) in (dict, collections.Counter, collections.OrderedDict, MappingProxyType)
    return Shape(_mutable_depth(held, DEEPEST), is_array(held), is_mapping, _grows(held, DEEPEST))


def is_judged_by_attributes(cls: type) -> bool:
    """Whether instances are nothing but their attributes, for each of which it is found out whether it may change."""
    return is_user_class(cls) and all(not is_library_class(base) or base in _BASES for base in cls.__mro__)


def _grows(held: Any, limit: int) -> bool:
    if isinstance(held, collections.defaultdict):
        return True
    if limit == 0 or not isinstance(held, dict | list | tuple):
        return False
    parts = held.values() if isinstance(held, dict) else held
    if set(map(type, parts)) <= ATOM_TYPES:
        return False
    return any(_grows(part, limit - 1) for part in parts if isinstance(part, dict | list | tuple))


def _mutable_depth(held: Any, limit: int) -> int:
    """How deep an object can be changed: 0 for a number, 1 for a list of numbers, 2 for a list of such lists."""
    kind = type(held)
    if kind in ATOM_TYPES or isinstance(held, _UNCHANGING) or limit == 0:
        return 0 if limit else 1
    if isinstance(held, dict | MappingProxyType):
        if {*map(type, held.keys()), *map(type, held.values())} <= ATOM_TYPES:
            return 1
        parts: dict[int, Any] = {id(part): part for pair in held.items() for part in pair}
    elif isinstance(held, list | tuple | set | frozenset | collections.deque):
        if set(map(type, held)) <= ATOM_TYPES:
            return 0 if isinstance(held, tuple | frozenset) else 1
        parts = {id(part): part for part in held}
    elif is_array(held):
        return max(int(held.ndim), 1) if held.dtype.kind in "biufcSU" else DEEPEST
    elif is_judged_by_attributes(kind):
        return 0
    elif kind is functools.partial:
        inner = (held.func, *held.args, *held.keywords.values())
        return DEEPEST if any(_mutable_depth(part, limit - 1) for part in inner) else 0
    else:
        return 1 if kind in (bytearray, string.Template) else DEEPEST  # an object whose inside is not known
    deepest = max((_mutable_depth(part, limit - 1) for part in parts.values()), default=0)
    if isinstance(held, tuple | frozenset):
        return deepest + 1 if deepest else 0
    return min(deepest + 1, DEEPEST)
