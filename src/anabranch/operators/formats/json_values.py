"""Values as JSON and back: scalars that JSON lacks are text, nested tuples are objects matched by name."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from anabranch.graph.schema import AttributeType, Schema
from anabranch.graph.values import ValueProblem, value_normalizer
from anabranch.operators.formats.text_values import PARSERS, TOO_LARGE, WRITERS, shown

Convert = Callable[[Any], Any]

_AS_TEXT = ("bytes", "datetime", "date")


# What the text says is infinite, by identity: every other infinite float is a number that was too large for one.
_INFINITY, _MINUS_INFINITY = float("inf"), float("-inf")
_CONSTANTS = {"NaN": math.nan, "Infinity": _INFINITY, "-Infinity": _MINUS_INFINITY}


@dataclass(frozen=True)
class _LongInt:
    """An int of more digits than Python converts."""

    digits: int


def _int_or_long(text: str) -> int | _LongInt:
    try:
        return int(text)
    except ValueError:
        return _LongInt(len(text.lstrip("-")))


_DECODER = json.JSONDecoder(parse_constant=_CONSTANTS.__getitem__)
_DECODER_OF_LONG_INTS = json.JSONDecoder(parse_constant=_CONSTANTS.__getitem__, parse_int=_int_or_long)


def parse_json(text: str) -> Any:
    """The JSON value of a text, NaN and Infinity included; `ValueProblem` where it is none."""
    try:
        return _decoded(text)
    except json.JSONDecodeError as problem:
        if text.startswith("\ufeff"):
            raise ValueProblem("not valid JSON: a byte order mark at position 1") from None
        message = problem.msg.removesuffix(" at")  # where the place is meant to follow
        raise ValueProblem(f"not valid JSON: {message} at position {problem.pos + 1}") from None
    except RecursionError:
        raise ValueProblem("the JSON is nested too deeply") from None


def _decoded(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError:
        raise
    except ValueError:  # an int of more digits than Python converts, perhaps in a member that nobody wants
        return _DECODER_OF_LONG_INTS.decode(text)


def dump_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def from_json(kind: AttributeType) -> Convert:
    """A function from a JSON value to a value in normal form."""
    convert = _present(kind)
    if not kind.optional:
        return convert
    return lambda value: None if value is None else convert(value)


def tuple_from_json(schema: Schema) -> Convert:
    """The same for an object: extra members are ignored, a missing one is None where that is allowed."""
    make = schema.type._make  # type: ignore[attr-defined]  # every schema's type is a NamedTuple
    members = [(each.name, each.type.optional, from_json(each.type)) for each in schema.attributes]

    def convert(value: Any) -> Any:
        if type(value) is not dict:
            raise ValueProblem(f"an object expected, got {_describe(value)}")
        values = []
        for name, optional, convert_member in members:
            if name not in value and not optional:
                raise ValueProblem(f"member '{name}' is missing; the object has {_names(value)}")
            try:
                values.append(convert_member(value.get(name)))
            except ValueProblem as problem:
                raise ValueProblem(f"member '{name}': {problem}") from None
        return make(values)

    return convert


def to_json(kind: AttributeType) -> Convert:
    """A function from a value to what `json.dumps` takes."""
    match kind.kind:
        case "list":
            assert kind.element is not None
            each = to_json(kind.element)
            convert: Convert = lambda value: [each(element) for element in value]  # noqa: E731  # one per case
        case "tuple":
            assert kind.nested is not None
            convert = tuple_to_json(kind.nested)
        case text if text in _AS_TEXT:
            convert = WRITERS[text]
        case _:
            return lambda value: value
    return (lambda value: None if value is None else convert(value)) if kind.optional else convert


def tuple_to_json(schema: Schema) -> Convert:
    members = [(each.name, to_json(each.type)) for each in schema.attributes]
    return lambda item: {name: convert(value) for (name, convert), value in zip(members, item, strict=True)}


def _present(kind: AttributeType) -> Convert:
    if kind.kind == "list":
        assert kind.element is not None
        each = from_json(kind.element)

        def to_list(value: Any) -> list[Any]:
            if type(value) is not list:
                raise ValueProblem(f"a list expected, got {_describe(value)}")
            return [each(element) for element in value]

        return to_list
    if kind.kind == "tuple":
        assert kind.nested is not None
        return tuple_from_json(kind.nested)
    if kind.kind in _AS_TEXT:
        parse = PARSERS[kind.kind]
        return lambda value: parse(_checked(value, (str,), kind.kind))
    accepted = _ACCEPTED[kind.kind]
    normalize = value_normalizer(kind.without_none())
    if kind.kind == "float":
        return lambda value: normalize(_checked_float(value))
    return lambda value: normalize(_checked(value, accepted, kind.kind))


_ACCEPTED: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
    "str": (str,),
}


def _checked_float(value: Any) -> Any:
    if type(value) is _LongInt:
        raise ValueProblem(f"{_describe(value)} {TOO_LARGE}")
    if _is_too_large(value):
        raise ValueProblem(f"the number {TOO_LARGE}")
    return _checked(value, _ACCEPTED["float"], "float")


def _is_too_large(value: Any) -> bool:
    """Whether it was a number beyond the range of floats."""
    is_infinite = type(value) is float and value in (_INFINITY, _MINUS_INFINITY)
    return is_infinite and value is not _INFINITY and value is not _MINUS_INFINITY


def _checked(value: Any, accepted: tuple[type, ...], expected: str) -> Any:
    if expected == "int" and type(value) is _LongInt:
        raise ValueProblem(f"{_describe(value)} does not fit into 64 bits")
    if type(value) not in accepted:  # not isinstance: true is not an int
        as_text = " as a string" if expected in _AS_TEXT else ""
        raise ValueProblem(f"{expected}{as_text} expected, got {_describe(value)}")
    return value


def _describe(value: Any) -> str:
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case str():
            return f"the string {shown(value)}"
        case _LongInt(digits):
            return f"an int of {digits:,} digits"
        case float() if _is_too_large(value):
            return "a number beyond the range of floats"
        case _:
            return dump_json(value)


def _names(members: dict[str, Any]) -> str:
    names = list(members)
    listed = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    return listed or "no members"
