"""Boundaries of windows over floats, exactly as `operators/windows.py` has them (class Axis).

Windows end at the multiples of their slide p/q: boundary j is the float nearest to (j·p)/q. Whole times need nothing
from here: their boundaries are floor divisions.
"""

from __future__ import annotations

import numpy as np

from anabranch.codegen.runtime.arithmetic import mul_int, sub_int, truediv_int
from anabranch.codegen.runtime.intrinsics import inlined, separate

# Up to here a quotient of floats is off by less than a half, and boundaries are several floats apart.
MOST_WINDOWS = 2.0**49


@inlined
def edge_float(j: int, p: int, q: int, before: int = 0) -> tuple[float, bool]:
    """(boundary j, or the place that is before/q in front of it, bad)"""
    multiple, too_far = mul_int(j, p)
    place, is_beyond = sub_int(multiple, before)
    edge, _ = truediv_int(place, q)
    return edge, too_far | is_beyond


@separate
def boundary_float(time: float, p: int, q: int) -> tuple[int, bool]:
    """(the index of the last boundary at or before a time, bad): Axis.boundary."""
    quotient = time * float(q) / float(p)
    bad = not abs(quotient) < MOST_WINDOWS
    j = int(0.0 if bad else np.floor(quotient))
    edge, is_bad = edge_float(j, p, q)
    bad |= is_bad
    while not bad and edge > time:
        j -= 1
        edge, bad = edge_float(j, p, q)
    while not bad:
        edge, bad = edge_float(j + 1, p, q)
        if edge > time:
            break
        j += 1
    return j, bad
