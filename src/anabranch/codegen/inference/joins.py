"""Types while they are being found: joins that remember what a float may be besides a float.

`total = 0` may later hold floats: its type is float, but Python may still compute with the int. Where that would show,
inference says so. The same holds for `x ** y`, which is complex for some values. Both are remembered as marks, kept in
the `constant` of a float until the types are published.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from typing import Any

from anabranch.codegen import types
from anabranch.codegen.types import EXACT_IN_FLOAT, UNKNOWN, Type, type_of_value

NOTHING = Type("nothing")  # no value has been seen yet
INSTANCE, OBJECT, EMISSIONS = Type("instance"), Type("object"), Type("emissions")

MAY_BE_ZERO, MAY_BE_INT, MAY_BE_COMPLEX = 1, 2, 4


def marked(marks: int) -> Type:
    return Type("float", constant=marks or None)


def marks_of(kind: Type) -> int:
    return (kind.constant or 0) if kind.kind == "float" else 0


def is_maybe_int(kind: Type) -> bool:
    return bool(marks_of(kind) & (MAY_BE_ZERO | MAY_BE_INT))


def join(one: Type, other: Type) -> Type:
    """The type of a value that is either."""
    if one == other or other.kind == "nothing":
        return one
    if one.kind == "nothing":
        return other
    if UNKNOWN in (one, other):
        return UNKNOWN
    if "none" in (one.kind, other.kind):
        return replace(other if one.kind == "none" else one, optional=True)
    optional = one.optional or other.optional
    marks = _marks(one), _marks(other)
    if "float" in (one.kind, other.kind) and None not in marks:
        return replace(marked((marks[0] or 0) | (marks[1] or 0)), optional=optional)
    if one.kind == other.kind == "int" and one.constant == other.constant:
        return replace(one, optional=optional)
    if one.kind == other.kind == "tuple" and [n for n, _ in one.members] == [n for n, _ in other.members]:
        if one.named is not other.named:
            return UNKNOWN
        members = tuple((name, join(a, b)) for (name, a), (_, b) in zip(one.members, other.members, strict=True))
        return Type("tuple", optional, members, one.named)
    if _is_emitted(one) and _is_emitted(other):
        return replace(EMISSIONS, optional=optional)
    return types.join(one, other)


def _marks(kind: Type) -> int | None:
    """The marks of a float that this may become a part of; None where it may not."""
    if kind.kind == "float":
        return marks_of(kind)
    if kind.kind == "int" and kind.constant is not None and abs(kind.constant) <= EXACT_IN_FLOAT:
        return MAY_BE_INT if kind.constant else MAY_BE_ZERO
    return None


def _is_emitted(kind: Type) -> bool:
    """Whether it is several tuples that are returned to be emitted."""
    if kind.kind == "emissions":
        return True
    return kind.kind == "tuple" and kind.named is None and all(each.named is not None for _, each in kind.members)


def published(kind: Type) -> Type:
    """The type without what only inference needs."""
    if kind.kind == "nothing":
        return UNKNOWN
    if kind.members:
        members = tuple((name, published(each)) for name, each in kind.members)
        if any(one is not other for (_, one), (_, other) in zip(members, kind.members, strict=True)):
            kind = replace(kind, members=members)
    if kind.constant is not None and (kind.kind == "float" or kind.optional):
        return replace(kind, constant=None)
    return kind


def is_loose(kind: Type) -> bool:
    return marks_of(kind) != 0 or any(is_loose(each) for _, each in kind.members)


def constant_type(value: Any) -> Type:
    """The type of a constant; unknown where it is not a value of a tuple's attribute."""
    if type(value) in (datetime, date):
        return Type(type(value).__name__)
    return type_of_value(value)


_ARTICLES = {"int": "an int", "none": "None", "emissions": "several tuples", "datetime": "a datetime"}


def described(kind: Type) -> str:
    """How a message names a type: `an int`."""
    if kind.kind == "tuple":
        return f"a {kind.named.__name__}" if kind.named else "a tuple"
    return _ARTICLES.get(kind.kind, f"a {kind.kind}")
