"""Hash tables from keys to slots: the dense numbers under which compiled code keeps the state of a key.

A table is one int64 array of entries [key, before + slot + 1], with open addressing. `before` is how many slots were
given away until the table was last emptied: entries that hold no more than that are free, so that emptying a table only
means counting on. Keys of several words are kept by slot in an array of their own, `keys`; an entry then holds their
hash in place of the key.

    slot = find1(table, key)
    if slot < 0:
        slot = count                      # at most half as many as the table has entries
        insert1(table, key, slot)
        count += 1

Compiled code never makes an array: where there is no room it stops, and a larger table is made from outside.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types

from anabranch.codegen.runtime.intrinsics import (
    INT,
    READ_ROWS,
    WORDS,
    Array,
    bits_of,
    callable_from_python,
    inlined,
    instruction,
    natural,
)

Words = npt.NDArray[np.int64]
Key = tuple[int, ...]  # of one length in each place it is used

FIRST_CAPACITY = 2048  # entries; half of them are used before a table grows
# Any numbers of about as many ones as zeros.
ONE_MASK, OTHER_MASK = 0xA0761D6478BD642F, 0xE7037ED1A0B428DB
LONG = ir.IntType(128)
CANONICAL_NAN = 0x7FF8000000000000


# Hashing ------------------------------------------------------------------------------------------------------------


@instruction(types.int64, types.int64)
def scatter(builder: Any, word: Any) -> Any:
    """A hash of a word: its low bits depend on all bits of the word.

    On purpose not the hash that routes keys to channels (hash.py): the keys of one channel have much of that in common.
    """
    return folded_product(builder, word, word)


def folded_product(builder: Any, one: Any, other: Any) -> Any:
    """The lower and the upper half of a product of 128 bits, laid over each other.

    Both operands vary: a product with a constant would leave regular keys regular.
    """
    one = builder.xor(one, ir.Constant(INT, ONE_MASK))
    other = builder.xor(other, ir.Constant(INT, OTHER_MASK))
    product = builder.mul(builder.zext(one, LONG), builder.zext(other, LONG))
    upper = builder.lshr(product, ir.Constant(LONG, 64))
    return builder.trunc(builder.xor(product, upper), INT)


@inlined
def scatter_words(words: Key) -> int:
    """The same for the words of a composite key."""
    combined = 0
    for at in range(len(words)):
        combined = scatter(combined + words[at]) + at
    return combined


@inlined
def float_key(x: float) -> int:
    """The word that stands for a float key: -0.0 is 0.0, and every NaN is the same."""
    return bits_of(x + 0.0) if x == x else CANONICAL_NAN


# Keys of one word ---------------------------------------------------------------------------------------------------


@inlined
def find1(table: Array, key: int, before: int = 0) -> int:
    """The slot of a key, or a negative number."""
    last = len(table) - 1
    at = natural((scatter(key) << 1) & last)
    while True:
        slot = table[at + 1] - 1 - before
        if slot < 0 or table[at] == key:
            return slot
        at = natural((at + 2) & last)


@inlined
def insert1(table: Array, key: int, slot: int, before: int = 0) -> None:
    """Adds a key that is not there."""
    place_entry(table, scatter(key), key, slot, before)


@inlined
def place_entry(table: Array, hash: int, word: int, slot: int, before: int) -> None:
    last = len(table) - 1
    at = natural((hash << 1) & last)
    while table[at + 1] > before:
        at = natural((at + 2) & last)
    table[at] = word
    table[at + 1] = before + slot + 1


# Keys of several words ----------------------------------------------------------------------------------------------


@inlined
def findw(table: Array, keys: Array, words: Key, before: int = 0) -> int:
    """The slot of a key given as a tuple of ints, or a negative number."""
    hash = scatter_words(words)
    last = len(table) - 1
    at = natural((hash << 1) & last)
    while True:
        slot = table[at + 1] - 1 - before
        if slot < 0 or (table[at] == hash and is_key(keys, slot, words)):
            return slot
        at = natural((at + 2) & last)


@inlined
def is_key(keys: Array, slot: int, words: Key) -> bool:
    base = natural(slot * len(words))
    same = True
    for at in range(len(words)):
        same &= keys[base + at] == words[at]
    return same


@inlined
def insertw(table: Array, keys: Array, words: Key, slot: int, before: int = 0) -> None:
    """Adds a key that is not there."""
    hash = scatter_words(words)
    place_entry(table, hash, hash, slot, before)
    for at in range(len(words)):
        keys[slot * len(words) + at] = words[at]


# From outside -------------------------------------------------------------------------------------------------------


def new_table(capacity: int = FIRST_CAPACITY) -> Words:
    """An empty table of a power of two of entries."""
    return np.zeros(2 * capacity, np.int64)


def new_keys(table: Words, width: int) -> Words:
    """Room for the words of as many keys as a table has room for."""
    return np.zeros(len(table) // 4 * width, np.int64)


def prepare(widths: Iterable[int]) -> None:
    """Before tuples come: what `insert_all` needs for keys of so many words."""
    for many in sorted({width > 1 for width in widths}):
        (_insert_allw if many else _insert_all1).prepare()


def insert_all(table: Words, keys: Words | None, rows: Words, width: int) -> None:
    """Puts the keys of records, which are the first words of each row, into an empty table."""
    if keys is None:
        _insert_all1(table, np.ascontiguousarray(rows))
        return
    keys[: len(rows) * width] = rows[:, :width].ravel()
    _insert_allw(table, keys, len(rows), width)


@callable_from_python(WORDS, READ_ROWS)
def _insert_all1(table: Array, rows: Array) -> None:
    for slot in range(len(rows)):
        insert1(table, rows[slot, 0], slot)


@callable_from_python(WORDS, WORDS, types.int64, types.int64)
def _insert_allw(table: Array, keys: Array, count: int, width: int) -> None:
    for slot in range(count):
        combined = 0
        for at in range(width):  # as scatter_words does for tuples
            combined = scatter(combined + keys[slot * width + at]) + at
        place_entry(table, combined, combined, slot, 0)


# One key, from outside: without compiled code, for which the few that the oracle touches should not wait --------------

_WORD = 2**64


def find(table: Words, keys: Words | None, words: Key, before: int = 0) -> int:
    """The same as `find1` and `findw`."""
    hash, word = _hash_and_word(words)
    last = len(table) - 1
    at = (hash << 1) & last
    while True:
        slot = int(table[at + 1]) - 1 - before
        if slot < 0 or (table[at] == word and (keys is None or _is_key(keys, slot, words))):
            return slot
        at = (at + 2) & last


def insert(table: Words, keys: Words | None, words: Key, slot: int, before: int = 0) -> None:
    """The same as `insert1` and `insertw`."""
    hash, word = _hash_and_word(words)
    last = len(table) - 1
    at = (hash << 1) & last
    while table[at + 1] > before:
        at = (at + 2) & last
    table[at : at + 2] = word, before + slot + 1
    if keys is not None:
        keys[slot * len(words) : (slot + 1) * len(words)] = words


def _is_key(keys: Words, slot: int, words: Key) -> bool:
    return tuple(keys[slot * len(words) : (slot + 1) * len(words)].tolist()) == words


def _hash_and_word(words: Key) -> tuple[int, int]:
    """Where an entry may stand, and its first word."""
    if len(words) == 1:
        return _scatter(words[0]), words[0]
    combined = 0
    for at, word in enumerate(words):
        combined = (_scatter(combined + word) + at) % _WORD
    return combined, combined - _WORD if combined >= _WORD // 2 else combined


def _scatter(word: int) -> int:
    word %= _WORD
    product = (word ^ ONE_MASK) * (word ^ OTHER_MASK)
    return (product ^ product >> 64) % _WORD
