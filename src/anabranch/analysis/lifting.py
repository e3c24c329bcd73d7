"""Objects that exist already, as things: what they are and what they hold."""

from __future__ import annotations

import collections
import enum
import gc
import string
from types import MappingProxyType
from typing import Any

from anabranch.analysis.genuine import is_own_class
from anabranch.analysis.methods import ATOM_TYPES
from anabranch.analysis.origins import Origin, inside
from anabranch.analysis.set_orders import is_kept_by_copies
from anabranch.analysis.special_methods import own_way_of_copying
from anabranch.analysis.values import NOTHING, PLAIN_ATOM, UNKNOWN, Atom, Const, GaveUp, Plain, Thing, Tup, Value

_LONGEST_TUPLE = 24
_MOST_MEMBERS = 500

CONTAINERS: tuple[type, ...] = (
    list, dict, set, frozenset, tuple, bytearray, collections.deque, collections.Counter, collections.OrderedDict,
    collections.defaultdict, MappingProxyType,
)  # fmt: skip
_PLAIN_CONTAINERS: tuple[Any, ...] = (list, tuple, set, frozenset, collections.deque)
# These can be changed as well, and are read without further ado as long as nobody does.
READABLE: tuple[type, ...] = (*CONTAINERS, string.Template)


def is_named_tuple_class(cls: type) -> bool:
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def is_made_by_named_tuple(cls: type, name: str) -> bool:
    """Whether a method is the one every NamedTuple has, and not one the user wrote in its place."""
    for base in cls.__mro__:
        if name in vars(base):
            return base is tuple or ("_fields" in vars(base) and name not in ("count", "index"))
    return False


def is_user_class(cls: type) -> bool:
    """Whether instances run code of the user's: not a builtin, not a class of an installed library."""
    return not is_own_class(cls)


def is_array(held: object) -> bool:
    return type(held).__module__ == "numpy" and type(held).__name__ == "ndarray"


def is_array_scalar(held: object) -> bool:
    return type(held).__module__ == "numpy" and hasattr(held, "dtype") and not hasattr(held, "__setitem__")


def lift(held: Any, origin: Origin | None) -> Thing:
    """An object as a thing; what can change stays a `Const`, so that its changes can be told."""
    kind = type(held)
    if kind in ATOM_TYPES and not (kind not in _SIMPLE and _has_parts_of_the_user(held)):
        return Atom(kind)
    if is_array_scalar(held):
        return Atom(Plain)
    if isinstance(held, tuple) and ((kind is tuple and len(held) <= _LONGEST_TUPLE) or is_named_tuple_class(kind)):
        if kind is not tuple and own_way_of_copying(kind) is not None:
            return Const(held, origin)
        return Tup(kind, tuple(frozenset({lift(part, inside(origin))}) for part in held))
    return Const(held, origin)


_SIMPLE = frozenset({int, float, bool, str, bytes, complex, type(None)})


def _has_parts_of_the_user(held: Any) -> bool:
    """Whether a value runs code of the user's: a time with a zone of theirs, a fraction with a numerator of theirs."""
    parts = [*gc.get_referents(held), getattr(held, "tzinfo", None)]
    return any(not isinstance(part, type) and is_user_class(type(part)) for part in parts)


# What containers hold, looked up once per analysis: tables may be large, and may change between analyses.
_members: dict[tuple[Const, bool, bool], Value] = {}


def forget_members() -> None:
    _members.clear()


def members(const: Const, values: bool = True, keys: bool = True) -> Value:
    """What a container holds; of a mapping the values, the keys or both."""
    key = (const, values, keys)
    if key not in _members:
        _members[key] = _members_of(const, values, keys)
    return _members[key]


def _members_of(const: Const, values: bool, keys: bool) -> Value:
    held = const.object
    if isinstance(held, type) and issubclass(held, enum.Enum):
        return frozenset(Const(member) for member in held)
    if is_array(held):
        return PLAIN_ATOM | {const}
    if isinstance(held, bytearray):
        return frozenset({Atom(int)})
    if isinstance(held, dict | MappingProxyType):
        plain: Any = dict if isinstance(held, dict) else type(held)
        parts = [*(plain.keys(held) if keys else ()), *(plain.values(held) if values else ())]
        factory = getattr(held, "default_factory", None)
        extra = frozenset({Const(factory)}) if factory is not None else NOTHING
        return _lifted(parts, const.origin) | extra
    for kind in _PLAIN_CONTAINERS:
        if isinstance(held, kind):
            # As the builtin type iterates, whatever a class derived from it says.
            found = _lifted(list(kind.__iter__(held)), const.origin)
            is_steady = not isinstance(held, set | frozenset) or is_kept_by_copies(held)
            return found if is_steady else found | PLAIN_ATOM  # which nobody takes for an element with a steady hash
    return UNKNOWN


def _lifted(parts: list[Any], origin: Origin | None) -> Value:
    kinds = {type(part) for part in parts}
    if not kinds:
        return PLAIN_ATOM  # it may have been filled by the time it is read
    if kinds <= ATOM_TYPES:
        return frozenset(Atom(kind) for kind in kinds)
    things: set[Thing] = set()
    within = inside(origin)
    seen: set[tuple[type, ...]] = set()  # rows of a table are all alike
    for part in parts:
        if isinstance(part, tuple):
            kinds_of_row = (type(part), *map(type, part))
            if kinds_of_row in seen:
                continue
            if ATOM_TYPES.issuperset(kinds_of_row[1:]):
                seen.add(kinds_of_row)
        things.add(lift(part, within))
        if len(things) > _MOST_MEMBERS:
            raise GaveUp(f"most of all {within}")
    return frozenset(things)
