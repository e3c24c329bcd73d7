"""Boundaries of windows over floats, exactly as `operators/windows.py` has them (class Axis).

A grid (p, q, length) of ints describes windows that end at multiples of p/q and are length/q long. Boundary j, and the
start of the window that ends there, are the floats nearest to (j·p)/q and (j·p - length)/q. Whole times need nothing
from here: their boundaries are floor divisions.
"""

from __future__ import annotations

import math

import numpy as np

from anabranch.codegen.runtime.arithmetic import mul_int, sub_int, truediv_int
from anabranch.codegen.runtime.intrinsics import inlined, separate
from anabranch.operators.windows import Window

# Up to here a quotient of floats is off by less than a half, and boundaries are several floats apart.
MOST_WINDOWS = 2.0**49
LARGEST_IN_GRID = 2**53


def grid_of(window: Window) -> tuple[int, int, int] | None:
    """The grid of a window by time or delta over floats; None if its numbers are too large for compiled code."""
    slide = window.slide if window.slide is not None else window.length
    q = math.lcm(slide.denominator, window.length.denominator)
    grid = (int(slide * q), q, int(window.length * q))
    return grid if max(grid) <= LARGEST_IN_GRID else None


@inlined
def point_float(j: int, p: int, q: int, length: int) -> tuple[float, bool]:
    """(the float nearest to (j·p - length)/q, bad)"""
    multiple, too_far = mul_int(j, p)
    numerator, too_low = sub_int(multiple, length)
    point, _ = truediv_int(numerator, q)
    return point, too_far or too_low


@inlined
def edge_float(j: int, p: int, q: int) -> tuple[float, bool]:
    """(boundary j, bad)"""
    return point_float(j, p, q, 0)


@separate
def last_at_float(time: float, p: int, q: int, length: int) -> tuple[int, bool]:
    """(the largest j for which the point j is at or before a time, bad): Axis._last_at."""
    quotient = time * float(q) / float(p)
    before = float(length) / float(p)
    bad = not (abs(quotient) < MOST_WINDOWS and abs(before) < MOST_WINDOWS)
    j = int(0.0 if bad else np.floor(quotient + before))
    point, is_bad = point_float(j, p, q, length)
    bad |= is_bad
    while not bad and point > time:
        j -= 1
        point, bad = point_float(j, p, q, length)
    while not bad:
        point, bad = point_float(j + 1, p, q, length)
        if point > time:
            break
        j += 1
    return j, bad


@inlined
def boundary_float(time: float, p: int, q: int) -> tuple[int, bool]:
    """(the index of the last boundary at or before a time, bad): Axis.boundary."""
    return last_at_float(time, p, q, 0)
