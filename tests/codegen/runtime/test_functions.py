"""The functions of `math` in compiled code give CPython's bits, and are bad exactly where Python raises."""

from __future__ import annotations

import math

import numpy as np
import pytest

from anabranch.codegen import runtime
from anabranch.codegen.runtime import NATIVE_FUNCTIONS
from tests.codegen.runtime.columns import EDGE_FLOATS, differences, pairs, random_floats

ONE = np.concatenate([np.array(EDGE_FLOATS), random_floats(100_000, 11)])
TWO = [
    np.concatenate([edge, random_floats(100_000, seed)])
    for edge, seed in zip(pairs(EDGE_FLOATS, EDGE_FLOATS), (12, 13), strict=True)
]


@pytest.mark.parametrize("name", NATIVE_FUNCTIONS)
def test_a_native_function_gives_the_bits_of_pythons(name: str) -> None:
    function = NATIVE_FUNCTIONS[name]
    columns = [ONE] if function.arguments == 1 else TWO
    python = getattr(math, name.removeprefix("math."))
    # Python's hypot treats subnormal numbers in a way of its own, which is left to it.
    may_be_bad = (lambda value: value < 2.0**-1021) if name == "math.hypot" else (lambda _: False)
    if name == "math.copysign":  # the NaN of a tuple has no sign of its own in Python, and may have one in a column
        columns = [column[~np.isnan(TWO[1])] for column in TWO]
    assert differences(getattr(runtime, function.runtime), python, *columns, kind=float, may_be_bad=may_be_bad) == []
