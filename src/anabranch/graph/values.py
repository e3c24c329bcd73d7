"""Attributes are values: how a tuple is checked and copied when it is emitted, keyed, and compared.

Every engine must agree on what is here, bit for bit, so the rules are few and explicit.
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Any

from anabranch.errors import PlainProblem, in_words, shown
from anabranch.graph.schema import AttributeType, Schema, is_defined_again

SMALLEST_INT = -(2**63)
LARGEST_INT = 2**63 - 1

Converter = Callable[[Any], Any]

DEFINED_AGAIN = (
    " of another definition of that class, which was run again after the program was built; build the program anew, too"
)
TOO_FINE = 'has nanoseconds, and a datetime has microseconds; round it before, as pandas does with .round("us")'


class ValueProblem(PlainProblem, TypeError):
    """A value does not fit its attribute; engines report it as the emitting operator's error."""

    verb = "gave a wrong value"


def normalizer(schema: Schema) -> Converter:
    """A function that checks a tuple against `schema` and returns a copy no one else can change.

    >>> from typing import NamedTuple
    >>> from anabranch.graph.schema import schema_of
    >>> class Reading(NamedTuple):
    ...     sensor: int
    ...     value: float
    >>> normalizer(schema_of(Reading))(Reading(7, 1))
    Reading(sensor=7, value=1.0)
    """
    expected = schema.type
    make = expected._make  # type: ignore[attr-defined]  # every schema's type is a NamedTuple
    converters = [(attribute.name, value_normalizer(attribute.type)) for attribute in schema.attributes]

    def normalize(item: Any) -> Any:
        if not isinstance(item, expected):
            again = DEFINED_AGAIN if is_defined_again(expected, type(item)) else ""
            raise ValueProblem(f"{expected.__name__} expected, got {_describe(item)}{again}")
        values = []
        name = ""
        try:
            for (name, convert), value in zip(converters, item, strict=True):  # noqa: B007  # for the message
                values.append(convert(value))
        except Exception as problem:
            cause = None if isinstance(problem, ValueProblem) else problem  # raised by a method of the value
            raise ValueProblem(f"attribute '{name}' of {expected.__name__}: {in_words(problem)}") from cause
        return make(values)

    return normalize


def copier(schema: Schema) -> Converter:
    """A function that copies an already normal tuple; the identity where nothing in it can change."""
    if not schema.has_lists:
        return lambda item: item
    return normalizer(schema)


def value_normalizer(kind: AttributeType) -> Converter:
    """The same for one attribute."""
    convert = _present_normalizer(kind)
    if not kind.optional:
        return convert
    return lambda value: None if value is None or is_missing(value) else convert(value)


def is_missing(value: Any) -> bool:
    """Whether it is what pandas has for None: its NaT, which calls itself a datetime, and its NA."""
    kind = type(value)
    return kind.__name__ in ("NaTType", "NAType") and kind.__module__.partition(".")[0] == "pandas"


def _present_normalizer(kind: AttributeType) -> Converter:
    if kind.kind == "list":
        assert kind.element is not None
        each = value_normalizer(kind.element)

        def to_list(value: Any) -> list[Any]:
            if not isinstance(value, list):
                raise ValueProblem(f"list expected, got {_describe(value)}")
            return [each(element) for element in value]

        return to_list
    if kind.kind == "tuple":
        assert kind.nested is not None
        return normalizer(kind.nested)
    return _SCALAR_NORMALIZERS[kind.kind]


def _to_int(value: Any) -> int:
    if type(value) is not int:
        if not hasattr(value, "__index__"):
            raise ValueProblem(f"int expected, got {_describe(value)}")
        value = int(operator.index(value))
    if not SMALLEST_INT <= value <= LARGEST_INT:
        raise ValueProblem(f"{_describe_int(value)} does not fit into 64 bits")
    return value  # type: ignore[no-any-return]  # narrowed by the checks above


def _to_float(value: Any) -> float:
    if type(value) is float:
        return value if value == value else math.nan
    if not isinstance(value, numbers.Real):
        raise ValueProblem(f"float expected, got {_describe(value)}")
    try:
        real = float(value)
    except OverflowError:
        raise ValueProblem(f"{_describe_int(value)} is too large for a float") from None
    if math.isinf(real) and abs(value) != math.inf:  # of more bits than a float has
        raise ValueProblem(f"{_describe(value)} is too large for a float")
    return real if real == real else math.nan


def _to_bool(value: Any) -> bool:
    if value is True or value is False:
        return value
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise ValueProblem(f"bool expected, got {_describe(value)}")


def _to_str(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueProblem(f"str expected, got {_describe(value)}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueProblem(f"{value!r} is not valid Unicode (a lone surrogate)") from None
    return value if type(value) is str else str.__str__(value)


def _to_bytes(value: Any) -> bytes:
    if not isinstance(value, bytes | bytearray):
        raise ValueProblem(f"bytes expected, got {_describe(value)}")
    return bytes(value)


def _to_datetime(value: Any) -> datetime:
    """Naive stays naive; what has a zone is expressed in UTC, so that equal moments are equal values."""
    if not isinstance(value, datetime) or is_missing(value):
        raise ValueProblem(f"datetime expected, got {_describe(value)}")
    if getattr(value, "nanosecond", 0):  # a Timestamp of pandas
        raise ValueProblem(f"{value} {TOO_FINE}")
    if value.tzinfo is not None:
        try:
            value = value.astimezone(UTC)
        except OverflowError:
            raise ValueProblem(f"{value} is out of range in UTC") from None
    return datetime(
        value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond,
        tzinfo=value.tzinfo,
    )  # fmt: skip


def _to_date(value: Any) -> date:
    if not isinstance(value, date) or isinstance(value, datetime):
        raise ValueProblem(f"date expected, got {_describe(value)}")
    return date(value.year, value.month, value.day)


_SCALAR_NORMALIZERS: dict[str, Converter] = {
    "int": _to_int,
    "float": _to_float,
    "bool": _to_bool,
    "str": _to_str,
    "bytes": _to_bytes,
    "datetime": _to_datetime,
    "date": _to_date,
}


def _describe(value: Any) -> str:
    """A value with its type, where its text does not tell."""
    text, kind = shown(value), type(value).__name__
    return text if value is None or kind in text else f"{text} ({kind})"


def _describe_int(value: Any) -> str:
    """Python refuses to write out ints of very many digits."""
    bits = int(value).bit_length()
    return str(value) if bits <= 256 else f"an int of {bits:,} bits"


# Keys -----------------------------------------------------------------------------------------------------------


def key_reader(schema: Schema, names: Sequence[str]) -> Converter:
    """A function from a tuple to its key: a dictionary key that is equal exactly for equal key values.

    -0.0 is 0.0, and NaN equals itself (design, section 2, "values").
    """
    positions = [schema.names.index(name) for name in names]
    converters = [_key_converter(schema[name]) for name in names]
    if len(positions) == 1:
        position, convert = positions[0], converters[0]
        return lambda item: convert(item[position])
    pairs = list(zip(positions, converters, strict=True))
    return lambda item: tuple([convert(item[position]) for position, convert in pairs])


def value_key(kind: AttributeType) -> Converter:
    """The same for one attribute's value."""
    return _key_converter(kind)


def _key_converter(kind: AttributeType) -> Converter:
    match kind.kind:
        case "float":
            return _float_key
        case "tuple":
            assert kind.nested is not None
            inner = key_reader(kind.nested, kind.nested.names)
            return (lambda value: None if value is None else inner(value)) if kind.optional else inner
        case "list":
            assert kind.element is not None
            each = _key_converter(kind.element)
            return lambda value: None if value is None else tuple([each(element) for element in value])
        case _:
            return lambda value: value


def _float_key(value: float | None) -> float | None:
    if value is None:
        return None
    if value != value:
        return math.nan  # one object: dictionaries compare by identity before they compare by value
    return value + 0.0  # -0.0 + 0.0 is 0.0


def is_same_key(one: Any, other: Any) -> bool:
    """Key equality as dictionaries have it: identity first, since NaN is one object."""
    return one is other or bool(one == other)


# Order ----------------------------------------------------------------------------------------------------------


def order_reader(schema: Schema, names: Sequence[str]) -> Converter:
    """A function from a tuple to something that sorts as the attributes do; NaN is larger than every number.

    Numbers of all types sort with each other: sources are drawn by `order_by` attributes of different types.
    """
    positions = [(schema.names.index(name), schema[name].kind in ("int", "float", "bool")) for name in names]

    def read(item: Any) -> tuple[Any, ...]:
        return tuple([_number_order(item[at]) if is_number else item[at] for at, is_number in positions])

    return read


def order_value(value: Any) -> Any:
    """A number as something that sorts with NaN last; other values as they are."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number_order(value)
    return value


def _number_order(value: float) -> tuple[int, float]:
    return (1, 0) if value != value else (0, value)


def is_of_other_zone(value: Any, has_zone: bool | None) -> bool:
    """Whether a value is a datetime with a zone where others have none, or the reverse; None: there were no others."""
    return has_zone is not None and isinstance(value, datetime) and (value.tzinfo is not None) is not has_zone


def check_zone(value: Any, has_zone: bool | None, attribute: str) -> bool | None:
    """Whether the datetimes that are put on one scale have a zone, which the first of them decides for all.

    A date has none, and decides nothing: it is the midnight that it begins with, as the datetimes beside it count.
    """
    if not isinstance(value, datetime):
        return has_zone
    if is_of_other_zone(value, has_zone):
        own, others = ("without a zone", "one") if has_zone else ("with a zone", "none")
        raise PlainProblem(
            f"its attribute '{attribute}' is {value}, {own}, but the datetimes before it have {others}; "
            "give all of them a zone, or none"
        )
    return value.tzinfo is not None
