"""The pool of interned strings, as the code around compiled code sees it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numba.core import types

from anabranch.codegen.runtime.intrinsics import READ_ROWS, WORDS, Array, array_of, callable_from_python
from anabranch.codegen.runtime.strings import COUNT, ENTRY, FACTOR, INLINE, intern, scatter_string
from anabranch.codegen.runtime.tables import ONE_MASK, OTHER_MASK

Numbers = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

FIRST_CAPACITY = 512  # strings
FIRST_SIZE = 16 * FIRST_CAPACITY  # bytes
WORD = 2**64


def prepare() -> None:
    """Before tuples come: what a pool needs that grows, or is filled with what was saved."""
    _place_all.prepare()
    _intern_column.prepare()


class StringPool:
    """Strings by their number, and numbers by their string.

    A kernel is called with `table`, `offsets` and `bytes`, and with `count` in its cell of `meta`; `count` is then set
    to what the kernel left there. Values of type `bytes` are interned as strings are.
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        """Without a string."""
        self.table: Numbers = np.zeros(2 * ENTRY * FIRST_CAPACITY, np.int64)
        self.offsets: Numbers = np.zeros(FIRST_CAPACITY + 1, np.int64)
        self.bytes: Bytes = np.zeros(FIRST_SIZE, np.uint8)
        self.count = 0

    def make_room(self, *, strings: int = 1, size: int = 0) -> None:
        """Sees to it that so many more strings, of so many bytes together, can be interned."""
        used = int(self.offsets[self.count])
        if used + size > len(self.bytes):
            self.bytes = _lengthened(self.bytes, used, used + size)
        needed = self.count + strings
        if needed + 1 > len(self.offsets):
            self.offsets = _lengthened(self.offsets, self.count + 1, needed + 1)
        if 2 * needed * ENTRY > len(self.table):
            self.table = _table_of(_entries(self.table), needed)

    # One by one -------------------------------------------------------------------------------------------------

    def add(self, value: str | bytes) -> int:
        """The number of a string, which becomes one of the pool's.

        Without compiled code: the few constants of a program should not wait for a compiler.
        """
        encoded = value.encode() if isinstance(value, str) else value
        self.make_room(size=len(encoded))
        first, second = _words_of(encoded)
        entry = [_signed(first), _signed(second), len(encoded)]
        at = (_scatter_string(first, second, len(encoded)) * ENTRY) & (len(self.table) - 1)
        while number_after := int(self.table[at + 3]):
            if self.table[at : at + 3].tolist() == entry and self.value(number_after - 1) == encoded:
                return number_after - 1
            at = (at + ENTRY) & (len(self.table) - 1)
        end = int(self.offsets[self.count])
        self.bytes[end : end + len(encoded)] = np.frombuffer(encoded, np.uint8)
        self.count += 1
        self.offsets[self.count] = end + len(encoded)
        self.table[at : at + ENTRY] = [*entry, self.count]
        return self.count - 1

    def value(self, number: int) -> bytes:
        """A string in UTF-8."""
        return self.bytes[self.offsets[number] : self.offsets[number + 1]].tobytes()

    # As columns -------------------------------------------------------------------------------------------------

    def add_all(self, values: pa.Array) -> Numbers:
        """The numbers of an Arrow array of strings or bytes; -1 where one is null."""
        if not len(values):
            return np.empty(0, np.int64)
        encoded = values.cast(pa.large_binary())
        starts, data = _buffers(encoded)
        valid = encoded.is_valid().to_numpy(zero_copy_only=False)
        numbers = np.full(len(encoded), -1, np.int64)
        meta = np.zeros(COUNT + 1, np.int64)
        row = 0
        while True:
            meta[COUNT] = self.count
            row = _intern_column(self.table, self.offsets, self.bytes, meta, data, starts, valid, numbers, row)
            self.count = int(meta[COUNT])
            if row == len(numbers):
                return numbers
            self.make_room(size=int(starts[row + 1] - starts[row]))

    def to_arrow(self, numbers: Numbers, has: npt.NDArray[np.bool_] | None = None) -> pa.Array:
        """The strings of these numbers, null where `has` denies."""
        wanted = pa.array(numbers, mask=None if has is None else ~has)
        return self.strings().take(wanted).cast(pa.string())

    def strings(self) -> pa.Array:
        """All strings in the order of their numbers, as bytes, without a copy."""
        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.bytes)]
        return pa.Array.from_buffers(pa.large_binary(), self.count, buffers)

    def extend(self, first: int, offsets: Numbers, data: Bytes) -> None:
        """Strings from number `first` on, as they were in another pool: their offsets and their bytes."""
        if first < self.count:
            self._begin()  # all of it is given anew
        base = int(offsets[0])
        column = pa.Array.from_buffers(
            pa.large_binary(), len(offsets) - 1, [None, pa.py_buffer(offsets - base), pa.py_buffer(data)]
        )
        self.add_all(column)

    def compact(self, live: Numbers) -> Numbers:
        """Forgets all strings but these; gives for every old number the new one, or -1. Their order stays."""
        kept = np.unique(live)
        renumbered = np.full(self.count, -1, np.int64)
        renumbered[kept] = np.arange(len(kept))
        entries = _entries(self.table)
        entries[:, 3] = renumbered[entries[:, 3] - 1] + 1
        self.table = _table_of(entries[entries[:, 3] != 0], max(len(kept), FIRST_CAPACITY))
        offsets, data = _buffers(self.strings().take(pa.array(kept)))
        self.offsets, self.bytes = offsets.copy(), data.copy()
        self.count = len(kept)
        self.make_room(size=FIRST_SIZE)
        return renumbered


def _lengthened(array: npt.NDArray[Any], used: int, needed: int) -> npt.NDArray[Any]:
    longer = np.zeros(max(2 * len(array), needed), array.dtype)
    longer[:used] = array[:used]
    return longer


def _buffers(encoded: pa.Array) -> tuple[Numbers, Bytes]:
    """The offsets and the values of an array of `large_binary`."""
    _, offsets, data = encoded.buffers()
    starts = np.frombuffer(offsets, np.int64)[encoded.offset : encoded.offset + len(encoded) + 1]
    return starts, np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)


# The table, from outside --------------------------------------------------------------------------------------------


def _entries(table: Numbers) -> Numbers:
    """The entries that are in use."""
    entries = table.reshape(-1, ENTRY)
    used: Numbers = entries[entries[:, 3] != 0]
    return used


def _table_of(entries: Numbers, strings: int) -> Numbers:
    """A table with these entries and room for so many."""
    capacity = 2 * FIRST_CAPACITY
    while capacity < 2 * strings:
        capacity *= 2
    table = np.zeros(ENTRY * capacity, np.int64)
    _place_all(entries, table)
    return table


@callable_from_python(READ_ROWS, WORDS)
def _place_all(entries: Array, table: Array) -> None:
    last = len(table) - 1
    for row in range(len(entries)):
        at = (scatter_string(entries[row, 0], entries[row, 1], entries[row, 2]) * ENTRY) & last
        while table[at + 3] != 0:
            at = (at + ENTRY) & last
        for word in range(ENTRY):
            table[at + word] = entries[row, word]


@callable_from_python(
    WORDS,
    WORDS,
    array_of(types.uint8),
    WORDS,
    array_of(types.uint8, is_written=False),
    array_of(types.int64, is_written=False),
    array_of(types.boolean, is_written=False),
    WORDS,
    types.int64,
)
def _intern_column(
    table: Array,
    offsets: Array,
    bytes: Array,
    meta: Array,
    data: Array,
    starts: Array,
    valid: Array,
    numbers: Array,
    row: int,
) -> int:
    """Interns from a row on; gives the row it stopped at for want of room, or the number of rows."""
    while row < len(numbers):
        if valid[row]:
            number = intern(table, offsets, bytes, meta, data, starts[row], starts[row + 1])
            if number < 0:
                return row
            numbers[row] = number
        row += 1
    return row


# The same hash as in strings.py, in Python --------------------------------------------------------------------------


def _words_of(value: bytes) -> tuple[int, int]:
    length = len(value)
    if length > INLINE:
        first = second = 0
        for start in [*range(0, length - 8, 8), length - 8]:
            word = int.from_bytes(value[start : start + 8], "little")
            first = _scatter_string(first, word, 0)
            second = (second ^ word) * FACTOR % WORD
        return first, second
    if length >= 4:
        size = 8 if length >= 8 else 4
        return int.from_bytes(value[:size], "little"), int.from_bytes(value[-size:], "little")
    return (value[0], value[length >> 1] << 8 | value[-1]) if value else (0, 0)


def _scatter_string(first: int, second: int, length: int) -> int:
    product = (first ^ ONE_MASK) * ((second + length) % WORD ^ OTHER_MASK)
    return (product ^ product >> 64) % WORD


def _signed(word: int) -> int:
    return word - WORD if word >= WORD // 2 else word
