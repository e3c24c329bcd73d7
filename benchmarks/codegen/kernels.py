"""What the hand-written numba loops share: Arrow's buffers as arrays, and the hash of their tables.

Their state is a table of records with open addressing, so that finding a key costs one miss of the cache; its capacity
is a power of two. Columns for the output are kept from chunk to chunk, and what was written there is copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa

FIRST_CAPACITY = 1 << 10  # entries of a table
EMPTY = 4  # a table grows when more than one in so many entries is used

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@numba.njit(inline="always")
def home(key: int, shift: int) -> int:
    """Where to look for a key first: Fibonacci hashing, of which the high bits are the good ones."""
    return np.int64((np.uint64(key) * _GOLDEN) >> np.uint64(shift))


@numba.njit
def shift_of(table: npt.NDArray[Any]) -> int:
    """What leaves as many bits of a hash as the places of the table have."""
    shift = 64
    while 1 << (64 - shift) < len(table):
        shift -= 1
    return shift


@numba.njit(nogil=True)
def grown(table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A table of twice the size, of entries with a `key` that are `used`."""
    larger = np.zeros(2 * len(table), table.dtype)
    shift = shift_of(larger)
    for entry in table:
        if entry.used:
            slot = home(entry.key, shift)
            while larger[slot].used:
                slot = (slot + 1) & (len(larger) - 1)
            larger[slot] = entry
    return larger


class Columns:
    """Room for the output of a chunk."""

    def __init__(self, *types: str) -> None:
        self.arrays = tuple(np.empty(0, type) for type in types)

    def room_for(self, count: int) -> tuple[npt.NDArray[Any], ...]:
        if len(self.arrays[0]) < count:
            self.arrays = tuple(np.empty(2 * count, each.dtype) for each in self.arrays)
        return self.arrays

    def first(self, count: int) -> tuple[npt.NDArray[Any], ...]:
        return tuple(each[:count].copy() for each in self.arrays)


def batch_of(type: type[Any], columns: Sequence[npt.NDArray[Any] | pa.Array]) -> pa.RecordBatch:
    """The output of a chunk; numbers are not copied."""
    return pa.record_batch(list(map(pa.array, columns)), names=type._fields)


def numbers(batch: pa.RecordBatch, name: str) -> npt.NDArray[Any]:
    return batch.column(name).to_numpy()


def texts(batch: pa.RecordBatch, name: str) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """The offsets and the bytes of a string column."""
    column = batch.column(name)
    _, offsets, characters = column.buffers()
    first, count = column.offset, len(column)
    return (
        np.frombuffer(offsets, np.int32, count + 1, first * 4),
        np.frombuffer(characters, np.uint8) if characters else np.empty(0, np.uint8),
    )


@numba.njit(inline="always")
def packed_text(text: npt.NDArray[np.uint8], start: int, length: int) -> tuple[np.uint64, np.uint64]:
    """Up to 16 bytes as two words, so that two texts are compared with two instructions."""
    low = high = np.uint64(0)
    for at in range(min(length, 8)):
        low |= np.uint64(text[start + at]) << np.uint64(8 * at)
    for at in range(8, length):
        high |= np.uint64(text[start + at]) << np.uint64(8 * (at - 8))
    return low, high
