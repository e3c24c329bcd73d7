"""Normal values (`graph/values.py`) at no cost where types are known, and at that of a comparison elsewhere."""

from __future__ import annotations

from datetime import UTC, date, datetime

from anabranch.codegen.python.names import Names
from anabranch.codegen.types import Type
from anabranch.graph.schema import AttributeType, Schema
from anabranch.graph.values import LARGEST_INT, SMALLEST_INT, value_key

_KEYS_THEMSELVES = ("int", "bool", "str", "bytes", "datetime", "date")


def is_virtual(schema: Schema) -> bool:
    """Whether the attributes of a normal tuple are checked one by one; lists and tuples within have to be copied."""
    return all(attribute.type.kind not in ("list", "tuple") for attribute in schema.attributes)


def abnormal(kind: AttributeType, value: str, names: Names, known: Type | None = None) -> str | None:
    """A condition under which a value is perhaps not in normal form; None where it certainly is."""
    test = _abnormal(kind, value, names, known)
    if test is None or not kind.optional:
        return test
    if known is not None and not known.optional:
        return test
    return f"{value} is not None and ({test})"


def _abnormal(kind: AttributeType, value: str, names: Names, known: Type | None) -> str | None:
    is_known = known is not None and known.kind == kind.kind and (kind.optional or not known.optional)
    match kind.kind:
        case "int":
            low, high = names.constant(SMALLEST_INT, "smallest"), names.constant(LARGEST_INT, "largest")
            outside = f"{value} < {low} or {value} > {high}"
            return outside if is_known else f"type({value}) is not int or {outside}"
        case "float":
            is_nan = f"{value} != {value}"  # which object that is can be seen
            return is_nan if is_known else f"type({value}) is not float or {is_nan}"
        case "bool":
            return None if is_known else f"({value} is not True and {value} is not False)"
        case "str":
            return f"type({value}) is not str or not {value}.isascii()"
        case "bytes":
            return None if is_known else f"type({value}) is not bytes"
        case "date":
            return f"type({value}) is not {names.constant(date, 'date')}"
        case "datetime":
            zone = names.constant(UTC, "UTC")
            is_other = f"type({value}) is not {names.constant(datetime, 'datetime')}"
            return f"{is_other} or ({value}.tzinfo is not None and {value}.tzinfo is not {zone}) or {value}.fold"
    raise AssertionError(kind)


def is_its_own_key(kind: AttributeType) -> bool:
    return kind.kind in _KEYS_THEMSELVES


def key_of(schema: Schema, keys: tuple[str, ...], values: list[str], names: Names) -> str:
    """An expression for a key, from expressions for the attributes it consists of."""
    parts = []
    for name, value in zip(keys, values, strict=True):
        kind = schema[name]
        is_itself = is_its_own_key(kind)
        parts.append(value if is_itself else f"{names.constant(value_key(kind), f'{name}_key')}({value})")
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)}{',' if parts else ''})"
