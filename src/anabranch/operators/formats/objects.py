"""Python's objects as the values of attributes, where they come from columns of a frame and not from a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from anabranch.errors import shown
from anabranch.graph.schema import AttributeType, Schema
from anabranch.graph.values import ValueProblem, is_missing, value_normalizer


def object_reader(kind: AttributeType) -> Callable[[Any], Any]:
    """A function from an object to an attribute's value: what is missing is None, and tuples in it may be dicts."""
    is_absent = _is_absent if kind.kind != "float" else _is_none  # NaN is a float
    convert = _present(kind)

    def read(value: Any) -> Any:
        if is_absent(value):
            if kind.optional:
                return None
            raise ValueProblem(f"nothing ({value}), where {kind} is expected")
        return convert(value)

    return read


def _is_none(value: Any) -> bool:
    return value is None or is_missing(value)


def _is_absent(value: Any) -> bool:
    """Where pandas holds objects, it writes NaN for what is missing among them."""
    return _is_none(value) or (isinstance(value, float) and value != value)


def _present(kind: AttributeType) -> Callable[[Any], Any]:
    if kind.element is not None:
        return _list_reader(object_reader(kind.element))
    if kind.nested is not None:
        return _tuple_reader(kind.nested)
    return value_normalizer(kind.without_none())


def _list_reader(each: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        is_array = type(value).__name__ == "ndarray" and getattr(value, "ndim", 0) == 1
        if not isinstance(value, list | tuple) and not is_array:
            raise ValueProblem(f"list expected, got {shown(value)}")
        return [each(element) for element in value]

    return read


def _tuple_reader(schema: Schema) -> Callable[[Any], Any]:
    make = schema.type._make  # type: ignore[attr-defined]  # every schema's type is a NamedTuple
    members = [(member.name, object_reader(member.type)) for member in schema.attributes]

    def read(value: Any) -> Any:
        if isinstance(value, Mapping) and all(name in value for name, _ in members):
            return make([convert(value[name]) for name, convert in members])
        if isinstance(value, schema.type):
            return make([convert(found) for (_, convert), found in zip(members, value, strict=True)])
        raise ValueProblem(f"{schema.name} expected, got {shown(value)}")

    return read
