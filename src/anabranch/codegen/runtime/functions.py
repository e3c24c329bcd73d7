"""Python's `math` for compiled code: each function gives (value, bad), bad where Python raises.

Values come from the C library's functions that CPython calls too, with CPython's rules around them (mathmodule.c): of
finite operands, NaN is a domain error and infinity an overflow or a pole.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anabranch.codegen.runtime import libm
from anabranch.codegen.runtime.arithmetic import plain_pow
from anabranch.codegen.runtime.intrinsics import bits_of, float_of, fused_multiply_add, inlined

EXPONENT_BITS = 0x7FF0000000000000
SMALLEST_NORMAL = 2.0**-1022
PER_DEGREE, PER_RADIAN = np.pi / 180.0, 180.0 / np.pi


def _checked(function: Any) -> Any:
    """A function of one float, where NaN out of anything else, and infinity out of finite operands, are errors."""

    @inlined
    def checked(x: float) -> tuple[float, bool]:
        value = function(x)
        return value, not np.isfinite(value) and (np.isfinite(x) or (np.isnan(value) and not np.isnan(x)))

    return checked


def _never_bad(function: Any) -> Any:
    @inlined
    def unchecked(x: float) -> tuple[float, bool]:
        return function(x), False

    return unchecked


math_exp = _checked(libm.c_exp)
math_expm1 = _checked(libm.c_expm1)
math_log = _checked(libm.c_log)
math_log2 = _checked(libm.c_log2)
math_log10 = _checked(libm.c_log10)
math_log1p = _checked(libm.c_log1p)
math_sin = _checked(libm.c_sin)
math_cos = _checked(libm.c_cos)
math_tan = _checked(libm.c_tan)
math_asin = _checked(libm.c_asin)
math_acos = _checked(libm.c_acos)
math_sinh = _checked(libm.c_sinh)
math_cosh = _checked(libm.c_cosh)
math_acosh = _checked(libm.c_acosh)
math_atanh = _checked(libm.c_atanh)
math_atan = _never_bad(libm.c_atan)
math_tanh = _never_bad(libm.c_tanh)
math_asinh = _never_bad(libm.c_asinh)
math_erf = _never_bad(libm.c_erf)
math_erfc = _never_bad(libm.c_erfc)


@inlined
def math_sqrt(x: float) -> tuple[float, bool]:
    return np.sqrt(x), x < 0.0


@inlined
def math_fabs(x: float) -> tuple[float, bool]:
    return abs(x), False


@inlined
def math_degrees(x: float) -> tuple[float, bool]:
    return x * PER_RADIAN, False


@inlined
def math_radians(x: float) -> tuple[float, bool]:
    return x * PER_DEGREE, False


@inlined
def math_copysign(x: float, y: float) -> tuple[float, bool]:
    return np.copysign(x, y), np.isnan(y)  # the sign of a NaN is not that of the one in a tuple


@inlined
def math_atan2(y: float, x: float) -> tuple[float, bool]:
    return libm.c_atan2(y, x), False


@inlined
def math_fmod(x: float, y: float) -> tuple[float, bool]:
    value = libm.c_fmod(x, y)
    return value, np.isnan(value) and not np.isnan(x) and not np.isnan(y)


@inlined
def math_pow(x: float, y: float) -> tuple[float, bool]:
    value = plain_pow(x, y)
    return value, np.isfinite(x) and np.isfinite(y) and not np.isfinite(value)


@inlined
def math_hypot(x: float, y: float) -> tuple[float, bool]:
    """As CPython's vector_norm for two coordinates: the sum of squares in two floats, then one step of Newton's.

    Everything is scaled by a power of two first, so that no square overflows or loses bits.
    """
    largest = max(abs(x), abs(y))
    if np.isinf(x) or np.isinf(y):
        return np.inf, False
    if np.isnan(x) or np.isnan(y):
        return np.nan, False
    if largest < SMALLEST_NORMAL:
        return 0.0, largest != 0.0  # CPython scales such numbers twice
    scale = 0.5 / float_of(bits_of(largest) & EXPONENT_BITS)
    a, b = abs(x) * scale, abs(y) * scale
    total, lost = _add_square(1.0, a, a)
    total, lost_too = _add_square(total, b, b)
    products = fused_multiply_add(a, a, -(a * a)) + fused_multiply_add(b, b, -(b * b))
    sums = lost + lost_too
    root = np.sqrt(total - 1.0 + (products + sums))
    total, lost = _add_square(total, -root, root)
    products += fused_multiply_add(-root, root, root * root)
    sums += lost
    return (root + (total - 1.0 + (products + sums)) / (2.0 * root)) / scale, False


@inlined
def _add_square(total: float, x: float, y: float) -> tuple[float, float]:
    """total + x·y, and what was lost of the product's nearest float (Dekker's sum: |total| is not smaller)."""
    product = x * y
    result = total + product
    return result, (total - result) + product
