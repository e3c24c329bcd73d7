"""`ab.std` of values whose distances have squares beyond the range of floats: on every engine, in both forms."""

from __future__ import annotations

import math
import random
import statistics
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from tests.engines.every_engine import assert_same_everywhere


class Value(NamedTuple):
    key: int
    at: int
    x: float
    maybe: float | None


class Spread(NamedTuple):
    sample: float
    population: float
    maybe: float | None


def spreads(values: list[float], window: Any, key: str | None = None) -> ab.Stream[Spread]:
    items = [Value(number % 2, number, x, None if number == 1 else x) for number, x in enumerate(values)]
    windows = ab.from_items(Value, items).window(window, key=key)
    return windows.aggregate(
        Spread, sample=ab.std("x"), population=ab.std("x", ddof=0), maybe=ab.std("maybe"),
    )  # fmt: skip


def found(values: list[float]) -> Spread:
    stream = spreads(values, ab.tumbling(count=len(values)))
    (spread,) = ab.run(stream.collect("out"), engine="sequential").items("out")
    return spread


LARGEST = 1.7976931348623157e308
CASES = [
    [1.7e308, -1.7e308],
    [1.7e308, -1.7e308, 1.0, 2.0],
    [-LARGEST, LARGEST, -LARGEST, LARGEST, 0.0],
    [1e200, -1e200, 3e200, 1.5],
    [1.0, 2.0, 1e160, 3.0],
    [LARGEST, LARGEST, LARGEST],
    [1e-200, 1e308, -1e308, 5e-324],
]


@pytest.mark.parametrize("values", CASES)
def test_the_spread_of_large_values_is_that_of_smaller_ones_times_a_power_of_two(values: list[float]) -> None:
    spread, smaller = found(values), found([math.ldexp(x, -700) for x in values])
    assert spread.population == _times_two_to_the_700(smaller.population)
    assert spread.sample == _times_two_to_the_700(smaller.sample)


def _times_two_to_the_700(x: float) -> float:
    try:
        return math.ldexp(x, 700)
    except OverflowError:
        return math.inf


def test_it_is_infinite_only_where_it_is_no_float_itself() -> None:
    spread = found([1.7e308, -1.7e308])
    assert (spread.population, spread.sample) == (1.7e308, math.inf)
    assert math.isclose(found([1e200, -1e200, 3e200]).sample, statistics.stdev([1e200, -1e200, 3e200]))


@pytest.mark.parametrize(
    "values", [[math.inf, 1.0], [1.0, -math.inf, 1e308], [1e308, -1e308, math.nan], [1e308, -1e308, math.inf]]
)
def test_with_nan_or_an_infinite_value_it_is_nan(values: list[float]) -> None:
    assert math.isnan(found(values).population)


def some_values() -> list[float]:
    choices = random.Random(3)
    calm = [choices.uniform(-10, 10) for _ in range(40)]
    wild = [choices.choice([1e308, -1e308, 1.5, 1e200, math.nan, math.inf, LARGEST, -1e160, 0.0]) for _ in range(80)]
    return calm + [x for case in CASES for x in case] + wild + calm  # native code begins


EVERY_SECOND = ab.sliding(seconds=6, slide=2, on="at")


@pytest.mark.parametrize(
    ("window", "key"),
    [
        (ab.tumbling(count=4), "key"),
        (EVERY_SECOND, None),
        pytest.param(ab.tumbling(count=4), None, marks=pytest.mark.slow),
        (ab.sliding(count=5, slide=2), "key"),
        pytest.param(ab.tumbling(seconds=5, on="at"), None, marks=pytest.mark.slow),
        pytest.param(ab.tumbling(seconds=5, on="at"), "key", marks=pytest.mark.slow),
        pytest.param(EVERY_SECOND, "key", marks=pytest.mark.slow),
        pytest.param(ab.sliding(seconds=6, slide=2, on="at", clock="key"), "key", marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_it_is_the_same_everywhere(window: Any, key: str | None) -> None:
    _, _, error = assert_same_everywhere(spreads(some_values(), window, key).collect("out"), native=True)
    assert error is None
