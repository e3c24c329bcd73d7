"""The functions of `math` that compiled code may call: those shown to give the same bits as CPython's.

Left out: `math.gamma` and `math.lgamma`, which CPython computes by methods of its own; `math.dist`, `math.fsum` and
other functions of sequences; and what is about ints of any size.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NativeFunction:
    """A function of floats that gives a float; `runtime` is what compiled code calls, which gives (value, bad)."""

    runtime: str
    arguments: int = 1


_UNARY = """sqrt exp expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc
fabs degrees radians"""
_BINARY = "atan2 pow fmod hypot copysign"

NATIVE_FUNCTIONS: dict[str, NativeFunction] = {
    **{f"math.{name}": NativeFunction(f"math_{name}") for name in _UNARY.split()},
    **{f"math.{name}": NativeFunction(f"math_{name}", 2) for name in _BINARY.split()},
}
