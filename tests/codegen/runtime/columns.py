"""Functions of compiled code, called for every row of some columns."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numba import njit

EDGE_INTS = [
    *(sign * (2**bits + off) for bits in (0, 1, 5, 31, 32, 52, 53, 54, 62) for off in (-1, 0, 1) for sign in (1, -1)),
    *(7, -7, 10, -10, 63, 64, 65, 3037000499, 3037000500, -3037000500, 10**18, -(10**18)),
    *(2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1),
]
EDGE_FLOATS = [
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 2.0, 3.0, -3.0, 0.1, 0.2, 0.3, 100.0, 1e16, 1e22, 1e100, -1e100),
    *(math.pi, math.pi / 2, 709.78, 709.79, 710.5, -745.2, 1 + 2**-52, 1 - 2**-53, 0.49999999999999994),
    *(
        2.0**52 + 0.5,
        2.0**53,
        2.0**62,
        2.0**63,
        -(2.0**63),
        math.nextafter(2.0**63, 0),
        math.nextafter(-(2.0**63), -1e30),
    ),
    *(5e-324, -5e-324, 2.2250738585072014e-308, 1e-308, 1e308, 1.7976931348623157e308, math.inf, -math.inf, math.nan),
]


def pairs(ones: Iterable[Any], others: Iterable[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Every one with every other, as two columns."""
    ones, others = np.array(list(ones)), np.array(list(others))
    return np.repeat(ones, len(others)), np.tile(others, len(ones))


def random_ints(count: int, seed: int) -> np.ndarray:
    """Ints of every magnitude."""
    generator = np.random.default_rng(seed)
    return generator.integers(-(2**63), 2**63 - 1, count, endpoint=True) >> generator.integers(0, 63, count)


def random_floats(count: int, seed: int) -> np.ndarray:
    """Floats of any bits, of usual magnitude, between 0 and 1, and of few decimals."""
    generator = np.random.default_rng(seed)
    quarter = count // 4
    return np.concatenate(
        [
            generator.integers(-(2**63), 2**63 - 1, quarter, endpoint=True).view(np.float64),
            generator.normal(size=quarter) * 100,
            generator.random(quarter),
            np.round(generator.normal(size=count - 3 * quarter) * 1000, 1),
        ]
    )


def checked(function: Any, *columns: np.ndarray, kind: type) -> list[tuple[Any, bool]]:
    """What a function gives as (value, bad), row by row."""
    values, bad = np.zeros(len(columns[0]), np.dtype(kind)), np.zeros(len(columns[0]), np.bool_)
    if len(columns) == 1:

        @njit(error_model="numpy")
        def run(a, values, bad):
            for row in range(len(a)):
                values[row], bad[row] = function(a[row])

    else:

        @njit(error_model="numpy")
        def run(a, b, values, bad):
            for row in range(len(a)):
                values[row], bad[row] = function(a[row], b[row])

    run(*columns, values, bad)
    return list(zip(values.tolist(), bad.tolist(), strict=True))


def plain(function: Any, *columns: np.ndarray, kind: type) -> list[Any]:
    """The same for a function that gives only a value."""

    @njit(error_model="numpy")
    def with_flag(*arguments):
        return function(*arguments), False

    return [value for value, _ in checked(with_flag, *columns, kind=kind)]


def is_same(one: Any, other: Any) -> bool:
    """The same type and bits; any NaN is the same."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return struct.pack("d", one) == struct.pack("d", other) or (one != one and other != other)
    return bool(one == other)


def differences(
    function: Any,
    python: Callable[..., Any],
    *columns: np.ndarray,
    kind: type,
    may_be_bad: Callable[..., bool] = lambda *_: False,
) -> list[Any]:
    """Rows where compiled code gives another value than Python, or one where Python gives none, or the other way round.

    `may_be_bad` names results that compiled code may leave to Python.
    """
    wrong = []
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for row, (value, bad) in zip(rows, checked(function, *columns, kind=kind), strict=True):
        try:
            expected = python(*row)
        except (ArithmeticError, ValueError):
            expected = None
        fits = type(expected) is kind and (kind is not int or -(2**63) <= expected < 2**63)
        if bad if fits else not bad:
            if not (fits and may_be_bad(expected)):
                wrong.append((row, expected, value, bad))
        elif fits and not is_same(value, expected):
            wrong.append((row, expected, value, bad))
    return wrong
