"""Arithmetic of compiled code gives Python's values, or says that it cannot."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest
from numba import njit

from anabranch.codegen import runtime
from tests.codegen.runtime.columns import (
    EDGE_FLOATS,
    EDGE_INTS,
    differences,
    pairs,
    plain,
    random_floats,
    random_ints,
)

EDGE_PAIRS = pairs(EDGE_INTS, EDGE_INTS)
INTS = [np.concatenate([edge, random_ints(100_000, seed)]) for edge, seed in zip(EDGE_PAIRS, (1, 2), strict=True)]
EDGE_FLOAT_PAIRS = pairs(EDGE_FLOATS, EDGE_FLOATS)
FLOATS = [
    np.concatenate([edge, random_floats(100_000, seed)]) for edge, seed in zip(EDGE_FLOAT_PAIRS, (3, 4), strict=True)
]
ONE_FLOAT = np.concatenate([np.array(EDGE_FLOATS), random_floats(80_000, 5), random_ints(20_000, 6) / 2.0])


def power(base: int, exponent: int) -> Any:
    """Python's, where it ends."""
    if exponent > 64 and abs(base) > 1:
        raise OverflowError
    return base ** (exponent % 2 + 2 if exponent > 64 else exponent)


def shifted(value: int, count: int) -> int:
    if count > 64 and value != 0:
        raise OverflowError
    return value << min(count, 64)


def is_tiny(value: float) -> bool:
    return 0.0 < abs(value) < 2.0**-1022


@pytest.mark.parametrize(
    ("name", "python", "kind"),
    [
        ("add_int", operator.add, int),
        ("sub_int", operator.sub, int),
        ("mul_int", operator.mul, int),
        ("floordiv_int", operator.floordiv, int),
        ("mod_int", operator.mod, int),
        ("truediv_int", operator.truediv, float),
    ],
)
def test_arithmetic_of_ints_is_pythons_or_bad(name: str, python: Any, kind: type) -> None:
    assert differences(getattr(runtime, name), python, *INTS, kind=kind) == []


@pytest.mark.parametrize(
    ("name", "python"), [("pow_int", power), ("lshift_int", shifted), ("rshift_int", operator.rshift)]
)
def test_powers_and_shifts_of_ints_are_pythons_or_bad(name: str, python: Any) -> None:
    values = np.concatenate([EDGE_PAIRS[0], random_ints(100_000, 7)])
    counts = np.concatenate([EDGE_PAIRS[1], np.random.default_rng(8).integers(-3, 70, 100_000)])
    assert differences(getattr(runtime, name), python, values, counts, kind=int) == []


@pytest.mark.parametrize(("name", "python"), [("neg_int", operator.neg), ("abs_int", abs)])
def test_the_smallest_int_has_no_opposite(name: str, python: Any) -> None:
    assert differences(getattr(runtime, name), python, INTS[0], kind=int) == []


@pytest.mark.parametrize(
    ("name", "python"),
    [
        ("truediv_float", operator.truediv),
        ("floordiv_float", operator.floordiv),
        ("mod_float", operator.mod),
        ("pow_float", operator.pow),
    ],
)
def test_arithmetic_of_floats_is_pythons_or_bad(name: str, python: Any) -> None:
    # Of a power that is hardly more than nothing, the C library may report an error that Python passes on.
    may_be_bad = is_tiny if name == "pow_float" else lambda _: False
    assert differences(getattr(runtime, name), python, *FLOATS, kind=float, may_be_bad=may_be_bad) == []


@pytest.mark.parametrize("exponent", [2.0, 0.5, 3.0, -1.0, 1.0, 0.0, -0.5])
def test_powers_with_a_constant_exponent_are_pythons(exponent: float) -> None:
    """x ** 2 and x ** 0.5 have ways of their own."""

    @njit(error_model="numpy")
    def compiled(x):
        return runtime.pow_float(x, exponent)

    found = differences(compiled, lambda x: x**exponent, ONE_FLOAT, kind=float, may_be_bad=is_tiny)
    assert found == []


@pytest.mark.parametrize(
    ("name", "python"),
    [
        ("int_of_float", int),
        ("trunc_float", math.trunc),
        ("floor_float", math.floor),
        ("ceil_float", math.ceil),
        ("round_float", round),
    ],
)
def test_floats_become_ints_as_in_python_or_bad(name: str, python: Any) -> None:
    assert differences(getattr(runtime, name), python, ONE_FLOAT, kind=int) == []


@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "eq", "ne"])
def test_ints_are_compared_with_floats_exactly(name: str) -> None:
    """Beyond 2**53 an int may lie between two floats."""
    ints = EDGE_INTS + random_ints(30_000, 9).tolist()
    near = [
        [float(each), math.nextafter(float(each), math.inf), math.nextafter(float(each), -math.inf)] for each in ints
    ]
    ones = np.repeat(np.array(ints), 3)
    others = np.array([each for group in near for each in group])
    edge_ones, edge_others = pairs(EDGE_INTS, EDGE_FLOATS)
    ones, others = np.concatenate([ones, edge_ones]), np.concatenate([others, edge_others])
    found = plain(getattr(runtime, f"{name}_int_float"), ones, others, kind=bool)
    compare = getattr(operator, name)
    assert found == [compare(one, other) for one, other in zip(ones.tolist(), others.tolist(), strict=True)]


def test_the_bits_of_a_float_give_the_float_again() -> None:
    bits = plain(runtime.bits_of, ONE_FLOAT, kind=int)
    assert bits == ONE_FLOAT.view(np.int64).tolist()
    assert np.array_equal(np.array(plain(runtime.float_of, np.array(bits), kind=float)), ONE_FLOAT, equal_nan=True)
