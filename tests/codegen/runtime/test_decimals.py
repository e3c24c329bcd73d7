"""Decimal numbers become the floats that Python reads, to the last bit."""

from __future__ import annotations

import random
import sys
from fractions import Fraction

import numpy as np
import pytest

from anabranch.codegen.runtime.decimals import float_of_decimal
from tests.codegen.runtime.columns import is_same, plain

Decimal = tuple[int, int]  # digits, and the power of ten


def any_decimals(chance: random.Random) -> Decimal:
    return chance.randrange(10 ** chance.randint(1, 18)), chance.randint(-345, 310)


def usual_decimals(chance: random.Random) -> Decimal:
    return chance.randrange(10 ** chance.randint(1, 18)), chance.randint(-25, 25)


def shortest_decimals_of_floats(chance: random.Random) -> Decimal:
    """As Python writes floats, and so most files do."""
    digits, _, power = f"{chance.random() * 10 ** chance.randint(-300, 300):.16e}".replace(".", "").partition("e")
    return int(digits), int(power) - 16


def decimals_next_to_the_middle_of_two_floats(chance: random.Random) -> Decimal:
    """And some that are exactly there: with few digits they must be halves of small numbers."""
    value = chance.getrandbits(chance.choice([53, 54])) * Fraction(2) ** chance.randint(-60, 60)
    power = chance.randint(-4, 23)
    middle = (value + Fraction(2) ** -1) / Fraction(10) ** power
    digits = int(middle) + chance.randint(-1, 1)
    return (digits, power) if 0 <= digits <= 10**18 else (2 * chance.getrandbits(53) + 1, chance.choice([0, 1, 2]))


@pytest.mark.parametrize(
    "drawn",
    [any_decimals, usual_decimals, shortest_decimals_of_floats, decimals_next_to_the_middle_of_two_floats],
)
def test_floats_are_those_that_python_reads(drawn: object) -> None:
    chance = random.Random(7)
    decimals = [drawn(chance) for _ in range(50_000)]  # type: ignore[operator]
    digits, powers = (np.array(column, np.int64) for column in zip(*decimals, strict=True))
    wrong = []
    for (number, power), found in zip(decimals, plain(float_of_decimal, digits, powers, kind=float), strict=True):
        expected = float(f"{number}e{power}")
        is_unsaid = found != found and not sys.float_info.min <= expected <= sys.float_info.max
        if not is_unsaid and not is_same(found, expected):
            wrong.append((number, power, found, expected))
    assert wrong == []


def test_what_is_too_small_or_too_large_is_not_said() -> None:
    powers = np.array([308, 309, 400, -308, -309, -330, -400, -5000])
    found = plain(float_of_decimal, np.full(len(powers), 9), powers, kind=float)
    assert [value != value for value in found] == [True, True, True, False, True, True, True, True]
    assert plain(float_of_decimal, np.zeros(2, np.int64), np.array([400, -400]), kind=float) == [0.0, 0.0]
