"""Calls of builtins and of `math`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from anabranch.codegen.native import expressions
from anabranch.codegen.native.operators_on_numbers import as_float, as_int, checked
from anabranch.codegen.native.values import NotNative, Value
from anabranch.codegen.runtime.native_functions import NATIVE_FUNCTIONS
from anabranch.codegen.types import BOOL, FLOAT, INT

if TYPE_CHECKING:
    from anabranch.codegen.native.bodies import Body

_TO_INT = {"round": "round_float", "math.floor": "floor_float", "math.ceil": "ceil_float", "math.trunc": "trunc_float"}
_PREDICATES = ("math.isnan", "math.isinf", "math.isfinite")


def builtin(body: Body, name: str, arguments: list[Value], node: ast.Call) -> Value:
    """A builtin on numbers, exactly as Python computes it."""
    if name == "bool":
        return Value(BOOL, expressions.truth(body, arguments[0], node) if arguments else "False")
    values = [body.there(argument, node) for argument in arguments]
    if not all(value.type.is_number for value in values):
        kinds = ", ".join(str(value.type) for value in values)
        raise NotNative(f"calls {name} on {kinds}", body.location(node))
    if name in ("min", "max"):
        return _extreme(body, name, values, node)
    first = values[0] if values else None
    match name:
        case "int" if first is None:
            return body.constant(0, node)
        case "float" if first is None:
            return body.constant(0.0, node)
        case "int" | "round" | "math.floor" | "math.ceil" | "math.trunc":
            assert first is not None
            if first.type.kind != "float":
                return Value(INT, as_int(first), is_stable=first.is_stable)
            return checked(body, INT, _TO_INT.get(name, "int_of_float"), first.code)
        case "float":
            assert first is not None
            return Value(FLOAT, as_float(first), is_stable=first.is_stable)
        case "abs":
            assert first is not None
            if first.type.kind == "float":
                return Value(FLOAT, f"abs({first.code})")
            return checked(body, INT, "abs_int", as_int(first))
        case _ if name in _PREDICATES:
            assert first is not None
            return Value(BOOL, f"{name}({as_float(first)})")
        case _:
            return _function(body, name, values, node)


def _function(body: Body, name: str, values: list[Value], node: ast.Call) -> Value:
    if name not in NATIVE_FUNCTIONS:
        raise NotNative(f"calls {name}", body.location(node))
    return checked(body, FLOAT, "math_" + name.removeprefix("math."), *[as_float(value) for value in values])


def _extreme(body: Body, name: str, values: list[Value], node: ast.Call) -> Value:
    """The first of the smallest or largest: Python keeps the earlier one unless the later compares smaller."""
    kinds = [value.type.kind for value in values]
    if "float" in kinds:  # literals among floats are typed as floats; the inference allows no other ints there
        values = [Value(FLOAT, as_float(v)) if v.type.constant is not None else v for v in values]
        kinds = [value.type.kind for value in values]
    if any(kind != kinds[0] for kind in kinds):
        raise NotNative(f"calls {name} on ints and floats together", body.location(node))
    symbol = "<" if name == "min" else ">"
    best = values[0]
    for value in values[1:]:
        best_code, code = body.kernel.named(best, name), body.kernel.named(value, name)
        best = Value(best.type.varying(), f"({code} if {code} {symbol} {best_code} else {best_code})")
    return best
