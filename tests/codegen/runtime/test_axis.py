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
from anabranch.operators.windows import Axis, Window


class Reading(NamedTuple):
    ts: float


AMOUNTS = [
    Fraction(text) for text in ("0.1", "0.01", "0.3", "1/3", "0.001", "0.25", "1", "7", "600", "86400", "1e6", "1e-9")
]


@njit(error_model="numpy")
def last_at(time, p, q, length):
    return runtime.last_at_float(time, p, q, length)


@njit(error_model="numpy")
def boundary(time, p, q):
    return runtime.boundary_float(time, p, q)


@njit(error_model="numpy")
def points(j, p, q, length):
    return runtime.edge_float(j, p, q), runtime.point_float(j, p, q, length)


def window_of(length: Fraction, slide: Fraction | None) -> tuple[Axis, tuple[int, int, int]]:
    window = Window("sliding", "delta", length, slide, "ts")
    grid = runtime.grid_of(window)
    assert grid is not None
    return Axis(window, schema_of(Reading)), grid


def next_to(time: float, steps: int) -> float:
    for _ in range(abs(steps)):
        time = math.nextafter(time, math.copysign(math.inf, steps))
    return time


def assert_same(axis: Axis, grid: tuple[int, int, int], time: float, *, surely: bool) -> None:
    for (index, bad), expected in [
        (boundary(time, *grid[:2]), axis.boundary(time)),
        (last_at(time, *grid), axis.windows(time).stop - 1),
    ]:
        assert not (surely and bad)
        assert bad or index == expected
    for index in {axis.boundary(time), axis.windows(time).stop}:
        if abs(index) < 2**62:
            for (point, bad), expected in zip(
                points(index, *grid), (axis.end_of(index, time), axis.start_of(index, time)), strict=True
            ):
                assert not (surely and bad)
                assert bad or point == expected


@settings(max_examples=500, deadline=None)
@given(
    length=st.sampled_from(AMOUNTS),
    slide=st.none() | st.sampled_from(AMOUNTS),
    index=st.integers(-(2**31), 2**31),
    steps=st.integers(-2, 2),
)
@example(length=Fraction(1, 10), slide=None, index=3, steps=0)  # 0.3 // 0.1 is 2.0
@example(length=Fraction(1, 100), slide=None, index=29, steps=0)  # 0.29 * 100 is less than 29
def test_times_at_and_next_to_boundaries_fall_into_the_same_windows(
    length: Fraction, slide: Fraction | None, index: int, steps: int
) -> None:
    axis, grid = window_of(length, slide)
    for point in (axis.end_of(index, 0.0), axis.start_of(index, 0.0)):
        is_usual = abs(point) / float(min(slide or length, length)) < 2**40 and max(grid) < 2**31
        assert_same(axis, grid, next_to(point, steps), surely=is_usual)


@settings(max_examples=500, deadline=None)
@given(
    length=st.sampled_from(AMOUNTS),
    slide=st.none() | st.sampled_from(AMOUNTS),
    time=st.floats(allow_nan=False, allow_infinity=False),
)
def test_any_time_falls_into_the_same_windows_or_is_left_to_python(
    length: Fraction, slide: Fraction | None, time: float
) -> None:
    axis, grid = window_of(length, slide)
    assert_same(axis, grid, time, surely=False)


def test_times_that_are_in_no_window_are_left_to_python() -> None:
    outcome: list[Any] = [boundary(time, 1, 10)[1] for time in (math.nan, math.inf, -math.inf, 1e300)]
    assert outcome == [True] * 4


def test_a_window_of_numbers_too_large_for_compiled_code_has_no_grid() -> None:
    assert runtime.grid_of(Window("tumbling", "delta", Fraction(1, 10**17), None, "ts")) is None
    assert runtime.grid_of(Window("sliding", "delta", Fraction(3, 2), Fraction(1, 10), "ts")) == (1, 10, 15)
