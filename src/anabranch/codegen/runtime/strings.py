"""A pool of interned strings: each distinct string has a dense number, under which compiled code handles it.

Equal strings have equal numbers, so compiled code compares, groups and keys by them. The pool is three arrays:

- `bytes` holds the strings one after the other, in UTF-8, and `offsets` where each begins: string n is
  bytes[offsets[n]:offsets[n + 1]];
- `table` finds the number of a string, by open addressing over entries [first, second, length, number + 1]. A string of
  up to 16 bytes is `first` and `second` itself, which saves a look into `bytes`; of a longer one they are two hashes.

Compiled code never makes an array: `intern` gives -1 where there is no room, which string_pool.py makes from outside.
A string is given as the buffer of an Arrow array and two of its offsets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types

from anabranch.codegen.runtime.intrinsics import Array, inlined, instruction, natural, separate
from anabranch.codegen.runtime.memory import borrowed, copy, load1, load4, load8
from anabranch.codegen.runtime.tables import folded_product

INLINE = 16  # bytes that two words hold
ENTRY = 4  # words
COUNT = 3  # the cell of a kernel's `meta` that holds the number of strings in the pool
FACTOR = 0x2545F4914F6CDD1D


@instruction(types.int64, types.int64, types.int64, types.int64)
def scatter_string(builder: Any, first: Any, second: Any, length: Any) -> Any:
    """Where a string belongs in the table: the low bits of this depend on all bits of its words."""
    return folded_product(builder, first, builder.add(second, length))


@inlined
def words_of(data: Array, start: int, stop: int) -> tuple[int, int]:
    """The two words of a string: up to 16 bytes themselves, the same only for the same bytes of the same length.

    Loads overlap in the middle of a string rather than going past its end, where the buffer may end too.
    """
    length = stop - start
    if length > INLINE:
        return hashes_of(data, start, stop)
    if length >= 8:
        return load8(data, start), load8(data, stop - 8)
    if length >= 4:
        return load4(data, start), load4(data, stop - 4)
    if length > 0:
        return load1(data, start), load1(data, start + (length >> 1)) << 8 | load1(data, stop - 1)
    return 0, 0


@inlined
def hashes_of(data: Array, start: int, stop: int) -> tuple[int, int]:
    """Two hashes of more than 16 bytes."""
    first, second = 0, 0
    at = start
    while at < stop - 8:
        word = load8(data, at)
        first = scatter_string(first, word, 0)
        second = (second ^ word) * FACTOR
        at += 8
    word = load8(data, stop - 8)
    return scatter_string(first, word, 0), (second ^ word) * FACTOR


@inlined
def is_same(one: Array, at: int, other: Array, start: int, length: int) -> bool:
    """Whether 8 or more bytes are the same."""
    step = 0
    while step < length - 8:
        if load8(one, at + step) != load8(other, start + step):
            return False
        step += 8
    return load8(one, at + length - 8) == load8(other, start + length - 8)


@inlined
def intern(table: Array, offsets: Array, bytes: Array, meta: Array, data: Array, start: int, stop: int) -> int:
    """The number of a string, which becomes one of the pool's; -1 where there is no room for it."""
    table, offsets, bytes = borrowed(table), borrowed(offsets), borrowed(bytes)
    meta, data = borrowed(meta), borrowed(data)
    begin: Any = np.int64(start)
    length = np.int64(stop) - begin
    first, second = words_of(data, begin, begin + length)
    last = len(table) - 1
    at = natural((scatter_string(first, second, length) << 2) & last)
    while True:
        number = table[at + 3] - 1
        if number < 0:
            return add_string(table, at, offsets, bytes, meta, first, second, data, begin, length)
        is_it = table[at] == first and table[at + 1] == second and table[at + 2] == length
        if is_it and (length <= INLINE or is_same(bytes, offsets[number], data, begin, length)):
            return number
        at = natural((at + ENTRY) & last)


@separate
def add_string(
    table: Array,
    at: int,
    offsets: Array,
    bytes: Array,
    meta: Array,
    first: int,
    second: int,
    data: Array,
    start: int,
    length: int,
) -> int:
    """Puts a string into the pool, into the free entry `at` of its table."""
    number = meta[COUNT]
    end = offsets[number]
    if 2 * ENTRY * (number + 1) > len(table) or number + 2 > len(offsets) or end + length > len(bytes):
        return -1
    copy(bytes, end, data, start, length)
    offsets[number + 1] = end + length
    meta[COUNT] = number + 1
    table[at] = first
    table[at + 1] = second
    table[at + 2] = length
    table[at + 3] = number + 1
    return number


@inlined
def equals(data: Array, start: int, stop: int, constant: Array) -> bool:
    """Whether a string is that of `constant`, an array of bytes that is a global of the kernel."""
    length = len(constant)
    begin: Any = np.int64(start)
    if np.int64(stop) - begin != length:
        return False
    if length >= 8:
        return is_same(data, begin, constant, 0, length)
    if length >= 4:
        return load4(data, begin) == load4(constant, 0) and load4(data, begin + length - 4) == load4(
            constant, length - 4
        )
    same = True
    for at in range(length):
        same &= load1(data, begin + at) == load1(constant, at)
    return same
