"""Python's arithmetic on 64-bit ints and floats: each function gives (value, bad).

Where `bad` is set, Python would have raised, or the value does not fit 64 bits; the value then means nothing. Otherwise
it is exactly Python's. Nothing here raises or traps, so that a kernel may compute first and look at `bad` later.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types

from anabranch.codegen.runtime.intrinsics import (
    INT,
    bits_of,
    float_of,
    fused_multiply_add,
    inlined,
    instruction,
    round_half_even,
    separate,
)
from anabranch.codegen.runtime.libm import c_fmod, c_pow

MIN_INT = -(2**63)
END_OF_INT = 2.0**63  # the first float beyond 64 bits
EXACT_IN_FLOAT = 2**53
END_OF_FLOAT = np.inf
SMALLEST_NORMAL = 2.0**-1022
EXPONENT_BITS = 0x7FF0000000000000
LAST_PLACE = 2.0**-52  # of a float between 1 and 2
# Between these, squares and roots and the errors of both are normal floats.
SMALLEST_ROOT, LARGEST_ROOT, SMALLEST_SQUARE = 2.0**-400, 2.0**500, 2.0**-800

CHECKED_INT = (types.int64, types.boolean)


# Ints ---------------------------------------------------------------------------------------------------------------


def _unpacked(builder: Any, pair: Any) -> tuple[Any, Any]:
    return builder.extract_value(pair, 0), builder.extract_value(pair, 1)


@instruction(CHECKED_INT, types.int64, types.int64)
def add_int(builder: Any, a: Any, b: Any) -> Any:
    return _unpacked(builder, builder.sadd_with_overflow(a, b))


@instruction(CHECKED_INT, types.int64, types.int64)
def sub_int(builder: Any, a: Any, b: Any) -> Any:
    return _unpacked(builder, builder.ssub_with_overflow(a, b))


@instruction(CHECKED_INT, types.int64, types.int64)
def mul_int(builder: Any, a: Any, b: Any) -> Any:
    return _unpacked(builder, builder.smul_with_overflow(a, b))


@instruction(CHECKED_INT, types.int64)
def neg_int(builder: Any, a: Any) -> Any:
    return _unpacked(builder, builder.ssub_with_overflow(ir.Constant(INT, 0), a))


@inlined
def abs_int(a: int) -> tuple[int, bool]:
    return (a, False) if a >= 0 else neg_int(a)


@inlined
def floordiv_int(a: int, b: int) -> tuple[int, bool]:
    # Division by zero and -2**63 // -1 stop the processor, so both divide by 1 instead.
    bad = b == 0 or (a == MIN_INT and b == -1)
    return a // (1 if bad else b), bad


@inlined
def mod_int(a: int, b: int) -> tuple[int, bool]:
    # -1 gives 0 as 1 does, and never stops the processor.
    return a % (1 if b == 0 or b == -1 else b), b == 0


@inlined
def pow_int(a: int, b: int) -> tuple[int, bool]:
    """a ** b for b >= 0; a negative exponent makes a float of an int, which is not for here."""
    value, bad = 1, b < 0
    base, exponent = a, 0 if bad else b
    while True:
        if exponent & 1:
            value, overflow = mul_int(value, base)
            bad |= overflow
        exponent >>= 1
        if exponent == 0 or bad:
            return value, bad
        base, overflow = mul_int(base, base)
        bad |= overflow


@inlined
def truediv_int(a: int, b: int) -> tuple[float, bool]:
    """a / b, rounded once, as Python does, also where an operand is beyond 2**53."""
    if abs(a) <= EXACT_IN_FLOAT and abs(b) <= EXACT_IN_FLOAT and a != MIN_INT and b != MIN_INT:
        return float(a) / (1.0 if b == 0 else float(b)), b == 0
    return _truediv_large(a, b)


@separate
def _truediv_large(a: int, b: int) -> tuple[float, bool]:
    if b == 0:
        return 0.0, True
    # Unsigned, so that 2**63 has a magnitude. Long division goes on bit by bit until the quotient has more bits than
    # a float keeps; whether anything is left over then decides ties as the lowest bit.
    dividend, divisor = np.uint64(abs(a)), np.uint64(abs(b))
    one = np.uint64(1)
    quotient, rest = dividend // divisor, dividend % divisor
    scale = 1.0
    while quotient < np.uint64(2**55) and (quotient != np.uint64(0) or rest != np.uint64(0)):
        quotient, rest, scale = quotient << one, rest << one, scale * 0.5
        if rest >= divisor:
            quotient, rest = quotient | one, rest - divisor
    if rest != np.uint64(0):
        quotient |= one
    magnitude = float(quotient) * scale
    return (-magnitude if (a < 0) != (b < 0) else magnitude), False


@inlined
def lshift_int(a: int, count: int) -> tuple[int, bool]:
    if count < 0 or count > 63:
        return 0, count < 0 or a != 0
    value = a << count
    return value, value >> count != a


@inlined
def rshift_int(a: int, count: int) -> tuple[int, bool]:
    return a >> (0 if count < 0 else min(count, 63)), count < 0


# Floats -------------------------------------------------------------------------------------------------------------


@inlined
def truediv_float(a: float, b: float) -> tuple[float, bool]:
    return a / (1.0 if b == 0.0 else b), b == 0.0


@inlined
def mod_float(a: float, b: float) -> tuple[float, bool]:
    """As CPython's float_rem: the C library's fmod, moved to the sign of the divisor."""
    if b == 0.0:
        return 0.0, True
    rest = c_fmod(a, b)
    if rest == 0.0:
        return np.copysign(0.0, b), False
    if (b < 0.0) != (rest < 0.0):
        rest += b
    return rest, False


@inlined
def floordiv_float(a: float, b: float) -> tuple[float, bool]:
    """As CPython's float_floor_div."""
    if b == 0.0:
        return 0.0, True
    rest = c_fmod(a, b)
    quotient = (a - rest) / b
    if rest != 0.0 and (b < 0.0) != (rest < 0.0):
        quotient -= 1.0
    if quotient == 0.0:
        return np.copysign(0.0, a / b), False
    whole = np.floor(quotient)
    return (whole + 1.0 if quotient - whole > 0.5 else whole), False


@inlined
def pow_float(x: float, y: float) -> tuple[float, bool]:
    """x ** y, which in CPython is the C library's pow.

    Squares and roots avoid that call where x * x or sqrt(x) is surely the same: pow is within 0.6 of the last place of
    the exact result, so where rounding was off by less than 0.4, pow rounds to the same float. Which of the cases it is
    costs nothing if y is a constant.
    """
    if y == 2.0 and SMALLEST_ROOT < abs(x) < LARGEST_ROOT:
        square = x * x
        if is_surely_nearest(square, fused_multiply_add(x, x, -square)):
            return square, False
    elif y == 0.5 and SMALLEST_SQUARE < x < END_OF_FLOAT:
        root = np.sqrt(x)
        if is_surely_nearest(root, fused_multiply_add(-root, root, x) / (2.0 * root)):
            return root, False
    return checked_pow(x, y)


@inlined
def is_surely_nearest(value: float, error: float) -> bool:
    """Whether the exact result, `error` away from a positive float, is closer to it than 0.4 of its last place.

    Below a power of two floats are twice as dense, so these count only if they are the result itself.
    """
    power = float_of(bits_of(value) & EXPONENT_BITS)
    return error == 0.0 or (abs(error) < LAST_PLACE * 0.4 * power and value != power)


@inlined
def plain_pow(x: float, y: float) -> float:
    """The C library's pow, but that 1.0 ** y and x ** 0.0 are 1.0 even of NaNs that signal."""
    return 1.0 if x == 1.0 or y == 0.0 else c_pow(x, y)


@separate
def checked_pow(x: float, y: float) -> tuple[float, bool]:
    value = plain_pow(x, y)
    # 0.0 ** -1.0, a root of a negative number and what is too large are errors; with operands that are infinite or NaN
    # they are not. At the lower end of floats the C library reports some results, and Python makes errors of them.
    is_tiny = 0.0 < abs(value) < SMALLEST_NORMAL
    return value, np.isfinite(x) and np.isfinite(y) and (is_tiny or not np.isfinite(value))


# From floats to ints ------------------------------------------------------------------------------------------------


@inlined
def trunc_float(x: float) -> tuple[int, bool]:
    """`int(x)` and `math.trunc(x)`: NaN, infinities and what is beyond 64 bits are bad."""
    fits = -END_OF_INT <= x < END_OF_INT
    return int(x if fits else 0.0), not fits


@inlined
def floor_float(x: float) -> tuple[int, bool]:
    return trunc_float(np.floor(x))


@inlined
def ceil_float(x: float) -> tuple[int, bool]:
    return trunc_float(np.ceil(x))


@inlined
def round_float(x: float) -> tuple[int, bool]:
    """`round(x)`: halves go to the even neighbour."""
    return trunc_float(round_half_even(x))


int_of_float = trunc_float


# Ints compared with floats ------------------------------------------------------------------------------------------
# A conversion rounds, but never past a float: where the rounded int differs from the float, it lies on the right side.
# Where both are the same, the int is compared with the float's whole value.


@inlined
def lt_int_float(i: int, f: float) -> bool:
    rounded = float(i)
    if rounded != f:
        return rounded < f
    return f >= END_OF_INT or i < int(f)


@inlined
def gt_int_float(i: int, f: float) -> bool:
    rounded = float(i)
    if rounded != f:
        return rounded > f
    return f < END_OF_INT and i > int(f)


@inlined
def eq_int_float(i: int, f: float) -> bool:
    return float(i) == f and f < END_OF_INT and i == int(f)


@inlined
def ne_int_float(i: int, f: float) -> bool:
    return not eq_int_float(i, f)


@inlined
def le_int_float(i: int, f: float) -> bool:
    return lt_int_float(i, f) or eq_int_float(i, f)


@inlined
def ge_int_float(i: int, f: float) -> bool:
    return gt_int_float(i, f) or eq_int_float(i, f)
