"""Boundaries of windows in compiled code are those of the sequential engine."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba import njit

from anabranch.codegen import runtime
from anabranch.graph.schema import schema_of
from anabranch.graph.windows import Window
from anabranch.operators.windows import Axis


class Reading(NamedTuple):
    ts: float


AMOUNTS = [
    Fraction(text) for text in ("0.1", "0.01", "0.3", "1/3", "0.001", "0.25", "1", "7", "600", "86400", "1e6", "1e-9")
]


@njit(error_model="numpy")
def boundary(time, p, q):
    return runtime.boundary_float(time, p, q)


@njit(error_model="numpy")
def edge(j, p, q, before=0):
    return runtime.edge_float(j, p, q, before)


def axis_of(length: Fraction) -> Axis:
    return Axis(Window("tumbling", "delta", length, None, "ts"), schema_of(Reading))


def next_to(time: float, steps: int) -> float:
    for _ in range(abs(steps)):
        time = math.nextafter(time, math.copysign(math.inf, steps))
    return time


def assert_same(length: Fraction, time: float, *, surely: bool) -> None:
    axis, p, q = axis_of(length), length.numerator, length.denominator
    expected = axis.boundary(time)
    index, bad = boundary(time, p, q)
    assert not (surely and bad)
    assert bad or index == expected
    for each in (expected, expected + 1):
        if abs(each) < 2**62:
            place, bad = edge(each, p, q)
            assert not (surely and bad)
            assert bad or place == axis.end_of(each, time)


@settings(max_examples=500, deadline=None)
@given(length=st.sampled_from(AMOUNTS), index=st.integers(-(2**31), 2**31), steps=st.integers(-2, 2))
@example(length=Fraction(1, 10), index=3, steps=0)  # 0.3 // 0.1 is 2.0
@example(length=Fraction(1, 100), index=29, steps=0)  # 0.29 * 100 is less than 29
def test_times_at_and_next_to_boundaries_fall_into_the_same_windows(length: Fraction, index: int, steps: int) -> None:
    assert_same(length, next_to(axis_of(length).end_of(index, 0.0), steps), surely=True)


@settings(max_examples=500, deadline=None)
@given(length=st.sampled_from(AMOUNTS), time=st.floats(allow_nan=False, allow_infinity=False))
def test_any_time_falls_into_the_same_windows_or_is_left_to_python(length: Fraction, time: float) -> None:
    assert_same(length, time, surely=False)


def test_times_that_are_in_no_window_are_left_to_python() -> None:
    outcome: list[Any] = [boundary(time, 1, 10)[1] for time in (math.nan, math.inf, -math.inf, 1e300)]
    assert outcome == [True] * 4


@settings(max_examples=300, deadline=None)
@given(length=st.sampled_from(AMOUNTS), slide=st.sampled_from(AMOUNTS), index=st.integers(-(2**31), 2**31))
@example(length=Fraction(1), slide=Fraction(3, 10), index=3)
def test_windows_begin_where_the_sequential_engine_has_them_begin(
    length: Fraction, slide: Fraction, index: int
) -> None:
    axis = Axis(Window("sliding", "delta", length, slide, "ts"), schema_of(Reading))
    q = math.lcm(length.denominator, slide.denominator)
    place, bad = edge(index, int(slide * q), q, int(length * q))
    assert bad or place == axis.start_of(index, 0.0)
    assert not bad or abs(index * slide * q) > 2**62
