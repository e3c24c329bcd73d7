"""The types of a kernel's arrays: compiled once, for arrays that may be read-only or not."""

from __future__ import annotations

from typing import Any

from anabranch.codegen.native.kernel import Argument
from anabranch.codegen.part import Part


def signature(part: Part, arguments: tuple[Argument, ...], last: str | None) -> tuple[Any, ...]:
    """What numba is asked to compile a kernel for; `last` is the type of an array behind the others."""
    from numba.core import types

    def array(dtype: str, is_written: bool) -> Any:
        return types.Array(getattr(types, dtype), 1, "C", readonly=not is_written)

    kinds = [array("int64", True), *(array(*dtype_of(part, argument)) for argument in arguments)]
    return tuple([*kinds, array(last, False)] if last else kinds)


def dtype_of(part: Part, argument: Argument) -> tuple[str, bool]:
    """The type of an array's elements, and whether it is written."""
    match argument.role, argument.of:
        case "column", (number, attribute, what):
            return _column_dtype(part, number, attribute, what), False
        case "pool", (what,):
            return ("uint8" if what == "bytes" else "int64"), True
        case "state", (_, what):
            return {"floats": "float64", "changed": "uint8"}.get(what, "int64"), True
        case "output", (number, attribute, "values"):
            kind = part.schema(part.outputs[number])[attribute].kind
            return {"float": "float64", "bool": "boolean"}.get(kind, "int64"), True
        case "output", (_, _, "has"):
            return "boolean", True
    return "int64", True


def _column_dtype(part: Part, number: int, attribute: str, what: str) -> str:
    if what in ("has", "offsets", "data"):
        return {"has": "boolean", "offsets": "int32", "data": "uint8"}[what]
    kind = part.schema(part.inputs[number])[attribute].kind
    return {"float": "float64", "bool": "boolean"}.get(kind, "int64")
