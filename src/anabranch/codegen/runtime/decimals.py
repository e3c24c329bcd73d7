"""Decimal numbers to the nearest floats, as Python reads them.

Small ones need one exact operation (Clinger, "How to Read Floating Point Numbers Accurately", 1990). All others are
multiplied by a power of five of 128 bits, which is enough to know how to round (Lemire, "Number Parsing at a Gigabyte
per Second", 2021; Mushtak and Lemire, "Fast Number Parsing Without Fallback", 2023).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types

from anabranch.codegen.runtime.intrinsics import INT, Array, float_of, inlined, instruction, natural, separate

SMALLEST_POWER, LARGEST_POWER = -342, 308  # of ten: beyond them a float is 0 or infinite, whatever it is multiplied by
LARGEST_EXACT = 22  # the largest power of ten that is a float
_MOST_DIGITS = 2**53  # as a float, every int up to here is exact
_PRODUCT = ir.IntType(128)
_ONE_BIT = ir.IntType(1)
_MANTISSA = 52  # bits
_LEAST_EXPONENT = -1023
_LARGEST_EXPONENT = 0x7FF

POWERS = np.array([10.0**power for power in range(LARGEST_EXACT + 1)])


def _power_of_five(power: int) -> int:
    """The first 128 bits of 5 ** power; where it is a fraction, the next larger number of 128 bits."""
    if power >= 0:
        found = 5**power
        return found << (128 - found.bit_length()) if found < 2**128 else found >> (found.bit_length() - 128)
    divisor: int = 5**-power
    return (1 << (127 + divisor.bit_length())) // divisor + 1


def _words(numbers: list[int]) -> Array:
    return np.array(numbers, np.uint64).view(np.int64)


_FIVES = [_power_of_five(power) for power in range(SMALLEST_POWER, LARGEST_POWER + 1)]
_HIGH = _words([five >> 64 for five in _FIVES])
_LOW = _words([five & (2**64 - 1) for five in _FIVES])


@instruction(types.int64, types.int64)
def leading_zeros(builder: Any, x: Any) -> Any:
    return builder.ctlz(x, _ONE_BIT(0))


@instruction(types.int64, types.int64)
def trailing_zeros(builder: Any, x: Any) -> Any:
    return builder.cttz(x, _ONE_BIT(0))


@instruction(types.int64, types.int64, types.int64)
def shifted_right(builder: Any, x: Any, bits: Any) -> Any:
    """A word of bits, not a number with a sign."""
    return builder.lshr(x, bits)


@instruction((types.int64, types.int64), types.int64, types.int64, types.int64)
def _product(builder: Any, x: Any, high: Any, low: Any) -> Any:
    """The first two words of three: a word times two of them."""
    wide, high, low = (builder.zext(word, _PRODUCT) for word in (x, high, low))
    more = builder.lshr(builder.mul(wide, low), _PRODUCT(64))
    product = builder.add(builder.mul(wide, high), more)
    return [builder.trunc(builder.lshr(product, _PRODUCT(64)), INT), builder.trunc(product, INT)]


@inlined
def float_of_decimal(digits: int, power: int) -> float:
    """digits · 10 ** power, for digits from 0 to 10 ** 18; NaN where it is too small or too large to say."""
    if digits <= _MOST_DIGITS and -LARGEST_EXACT <= power <= LARGEST_EXACT:
        return digits / POWERS[natural(-power)] if power < 0 else digits * POWERS[natural(power)]
    return _rounded(digits, power)


@separate
def _rounded(digits: int, power: int) -> float:
    if digits == 0:
        return 0.0
    if power < SMALLEST_POWER or power > LARGEST_POWER:
        return np.nan
    zeros = leading_zeros(digits)
    at = natural(power - SMALLEST_POWER)
    high, low = _product(digits << zeros, _HIGH[at], _LOW[at])
    upper = shifted_right(high, 63)
    dropped = upper + 64 - _MANTISSA - 3
    mantissa = shifted_right(high, dropped)
    # log2(5) + 1 is 217706 / 65536, near enough for these powers
    exponent = ((217706 * power) >> 16) + 63 + upper - zeros - _LEAST_EXPONENT
    if exponent <= 0:
        return np.nan  # with fewer bits than others
    # Exactly between two floats: the even one. Only small powers can be.
    if 0 <= low <= 1 and -4 <= power <= 23 and mantissa & 3 == 1 and mantissa << dropped == high:
        mantissa &= ~1
    mantissa = (mantissa + (mantissa & 1)) >> 1
    if mantissa == 1 << (_MANTISSA + 1):
        mantissa, exponent = 1 << _MANTISSA, exponent + 1
    if exponent >= _LARGEST_EXPONENT:
        return np.nan
    return float_of((mantissa & ((1 << _MANTISSA) - 1)) | (exponent << _MANTISSA))
