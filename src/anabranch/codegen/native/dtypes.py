"""The types of the elements of a kernel's arrays, as numba calls them."""

from __future__ import annotations

from anabranch.codegen.native.kernel import Argument
from anabranch.codegen.part import Part


def dtype_of(part: Part, argument: Argument) -> str:
    match argument.role, argument.of:
        case "column", (_, _, "has" | "offsets" | "data" as what):
            return {"has": "boolean", "offsets": "int32", "data": "uint8"}[what]
        case "column", (number, attribute, _):
            return _of_kind(part.schema(part.inputs[number])[attribute].kind)
        case "pool", ("bytes",):
            return "uint8"
        case "state", (_, what):
            return {"floats": "float64", "changed": "uint8"}.get(what, "int64")
        case "output", (number, attribute, "values"):
            return _of_kind(part.schema(part.outputs[number])[attribute].kind)
        case "output", (_, _, "has"):
            return "boolean"
    return "int64"


def _of_kind(kind: str) -> str:
    return {"float": "float64", "bool": "boolean"}.get(kind, "int64")


def numpy_dtype(part: Part, argument: Argument) -> str:
    found = dtype_of(part, argument)
    return "bool" if found == "boolean" else found
