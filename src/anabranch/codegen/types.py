"""What is known of a value in user code: the types that generated code can rely on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from anabranch.graph.schema import AttributeType, Schema, is_named_tuple, schema_of


@dataclass(frozen=True)
class Type:
    """The type of an expression.

    `kind` is that of an attribute (`int`, `float`, `bool`, `str`, `bytes`, `datetime`, `date`, `list`), or `tuple` (of
    `members`; `named` where it is a NamedTuple), `none` (only None), or `unknown`. An `int` of known value carries it
    as `constant`, which is how `total = 0` may later hold floats.
    """

    kind: str
    optional: bool = False
    members: tuple[tuple[str, Type], ...] = ()  # plain tuples name theirs "0", "1", …
    named: type[tuple[Any, ...]] | None = None
    constant: Any = None

    def __str__(self) -> str:
        text = self.named.__name__ if self.named else self.kind
        return f"{text} | None" if self.optional else text

    @property
    def is_known(self) -> bool:
        return self.kind != "unknown" and all(each.is_known for _, each in self.members)

    @property
    def is_number(self) -> bool:
        return self.kind in ("int", "float", "bool")

    def member(self, name: str) -> Type | None:
        return next((each for known, each in self.members if known == name), None)

    def present(self) -> Type:
        """The same, once it is known not to be None."""
        return replace(self, optional=False) if self.optional else self

    def or_none(self) -> Type:
        return replace(self, optional=True, constant=None) if self.kind not in ("none", "unknown") else self

    def varying(self) -> Type:
        """The same, of any value."""
        return replace(self, constant=None) if self.constant is not None else self


INT, FLOAT, BOOL, STR = Type("int"), Type("float"), Type("bool"), Type("str")
NONE, UNKNOWN = Type("none"), Type("unknown")
EXACT_IN_FLOAT = 2**53


def type_of_attribute(attribute: AttributeType) -> Type:
    if attribute.nested is not None:
        nested = type_of_schema(attribute.nested)
        return nested.or_none() if attribute.optional else nested
    return Type(attribute.kind, attribute.optional)


def type_of_schema(schema: Schema) -> Type:
    """The type of a tuple of a stream."""
    members = tuple((each.name, type_of_attribute(each.type)) for each in schema.attributes)
    return Type("tuple", members=members, named=schema.type)


def type_of_value(value: Any) -> Type:
    """The type of a constant."""
    if value is None:
        return NONE
    if type(value) in (int, bool, float, str, bytes):
        is_plain_int = type(value) is int
        return Type(type(value).__name__, constant=value if is_plain_int else None)
    if is_named_tuple(type(value)):
        members = tuple((name, type_of_value(each)) for name, each in zip(value._fields, value, strict=True))
        return Type("tuple", members=members, named=type(value))
    if type(value) is tuple:
        return Type("tuple", members=tuple((str(at), type_of_value(each)) for at, each in enumerate(value)))
    return UNKNOWN


def join(one: Type, other: Type) -> Type:
    """The type of a value that is either: of a variable assigned twice, of a conditional expression."""
    if one == other:
        return one
    if UNKNOWN in (one, other):
        return UNKNOWN
    if one.kind == "none":
        return other.or_none()
    if other.kind == "none":
        return one.or_none()
    optional = one.optional or other.optional
    if one.kind == other.kind == "tuple":
        if one.named is not other.named or [n for n, _ in one.members] != [n for n, _ in other.members]:
            return UNKNOWN
        members = tuple((name, join(a, b)) for (name, a), (_, b) in zip(one.members, other.members, strict=True))
        return Type("tuple", optional, members, one.named)
    if one.kind == other.kind:
        return Type(one.kind, optional)
    for number, literal in ((one, other), (other, one)):
        # 0 and 0.0 differ only where the type itself shows, and a float may not go where an int is asked for.
        is_literal = number.kind == "float" and literal.kind == "int" and literal.constant is not None
        if is_literal and abs(literal.constant) <= EXACT_IN_FLOAT:
            return Type("float", optional)
    return UNKNOWN


def has_schema(cls: Any) -> bool:
    """Whether a class is a NamedTuple whose attributes are all of supported types."""
    if not is_named_tuple(cls):
        return False
    try:
        schema_of(cls)
    except Exception:
        return False
    return True
