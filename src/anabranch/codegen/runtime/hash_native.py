"""The hash that routes keys to channels (hash.py), for compiled code: its 64 bits as an int64."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types

from anabranch.codegen.runtime import hash as rules
from anabranch.codegen.runtime.intrinsics import INT, Array, bits_of, inlined, instruction
from anabranch.codegen.runtime.memory import load1, load8

NONE, FLOAT, TEXT, TUPLE, NAN_BITS = rules.NONE, rules.FLOAT, rules.TEXT, rules.TUPLE, rules.NAN_BITS
END_OF_INT = 2.0**63


@instruction(types.int64, types.int64)
def mix(builder: Any, x: Any) -> Any:
    def folded(value: Any, count: int) -> Any:
        return builder.xor(value, builder.lshr(value, ir.Constant(INT, count)))

    z = builder.add(x, ir.Constant(INT, rules.GAMMA))
    z = builder.mul(folded(z, 30), ir.Constant(INT, rules.FIRST))
    z = builder.mul(folded(z, 27), ir.Constant(INT, rules.SECOND))
    return folded(z, 31)


hash_int = mix


@inlined
def hash_none() -> int:
    return mix(NONE)


@inlined
def hash_float(x: float) -> int:
    if -END_OF_INT <= x < END_OF_INT and x == np.trunc(x):
        return mix(int(x))
    return mix(FLOAT ^ (bits_of(x) if x == x else NAN_BITS))


@inlined
def hash_string(data: Array, start: int, stop: int) -> int:
    """Of a string or bytes, given as the buffer of an Arrow array and two of its offsets."""
    at: Any = np.int64(start)
    end: Any = np.int64(stop)
    combined = mix(TEXT ^ (end - at))
    while at + 8 <= end:
        combined = mix(combined ^ load8(data, at))
        at += 8
    if at == end:
        return combined
    word, shift = 0, 0
    while at < end:
        word |= load1(data, at) << shift
        at += 1
        shift += 8
    return mix(combined ^ word)


@inlined
def hash_tuple(elements: tuple[int, ...]) -> int:
    """Of a composite key, given as the tuple of its elements' hashes."""
    combined = mix(TUPLE ^ len(elements))
    for at in range(len(elements)):
        combined = mix(combined ^ elements[at])
    return combined
