"""Rows of plain CSV text to columns, in one pass over the bytes.

Only what leaves no doubt is read: numbers in their usual form, text with or without quotes around it. At everything
else this stops, and who called it has the text read in another way.
"""

from __future__ import annotations

import numpy as np
from numba.core import types

from anabranch.codegen.runtime.decimals import float_of_decimal, shifted_right, trailing_zeros
from anabranch.codegen.runtime.intrinsics import (
    ROWS,
    Array,
    array_of,
    bits_of,
    callable_from_python,
    inlined,
    natural,
    separate,
)
from anabranch.codegen.runtime.memory import load1, load8

SKIPPED, INT, FLOAT, TEXT = range(4)  # what a column is read as
PADDING = 8  # bytes behind the text that may be looked at

_MOST_DIGITS = 18  # a number of so many fits into a word
_RETURN, _NEWLINE, _QUOTE, _MINUS, _POINT, _E = b'\r\n"-.e'
_CASE = 0x20  # the bit that a small letter has and a large one has not

_TENS = np.array([10**power for power in range(9)])


def _repeated(byte: int) -> int:
    return int.from_bytes([byte] * 8, "little", signed=True)


_ZEROS = _repeated(ord("0"))
_TO_HIGH_BIT = _repeated(0x80 - 10)  # what added to a byte from 10 on sets its highest bit
_HIGH_BITS = _repeated(0x80)


@inlined
def _digits(data: Array, at: int) -> tuple[int, int]:
    """How many of the next eight bytes are digits, before anything else, and their number.

    All eight at once: digits are the bytes below 10, moved to the end of the word behind zeros; then neighbours are put
    together, two by two, and the four pairs by two multiplications.
    """
    word = load8(data, at) ^ _ZEROS
    others = ((word + _TO_HIGH_BIT) | word) & _HIGH_BITS
    count = trailing_zeros(others) >> 3
    word = word if count == 8 else (word << 1) << (63 - 8 * count)
    pairs = word * 10 + shifted_right(word, 8)
    ones = (pairs & 0x000000FF000000FF) * 0x000F424000000064
    others = (shifted_right(pairs, 16) & 0x000000FF000000FF) * 0x0000271000000001
    return count, shifted_right(ones + others, 32)


@inlined
def _number(data: Array, at: int, number: int) -> tuple[int, int]:
    """The number with all digits that follow, as long as it fits, and where they end."""
    count, found = _digits(data, at)
    number = number * _TENS[natural(count)] + found
    at += count
    while count == 8:
        count, found = _digits(data, at)
        number = number * _TENS[natural(count)] + found
        at += count
    return at, number


@separate
def _significant(data: Array, start: int, stop: int) -> int:
    """How many digits there are behind leading zeros."""
    while start < stop and (load1(data, start) == ord("0") or load1(data, start) == _POINT):
        start += 1
    count = 0
    while start < stop:
        count += load1(data, start) != _POINT
        start += 1
    return count


@separate
def _exponent(data: Array, at: int) -> tuple[int, int]:
    """The exponent behind an `e`, and where it ends; 0 where there is none."""
    is_negative = load1(data, at) == _MINUS
    at += is_negative or load1(data, at) == ord("+")
    end, number = _number(data, at, 0)
    if end == at or end - at > 4:
        return 0, 0
    return end, -number if is_negative else number


@inlined
def _text(data: Array, at: int, size: int, delimiter: int) -> tuple[int, int, int]:
    """Where a text starts and stops, and where its cell does.

    After two quotes that stand for one, or a quote in the middle, the cell does not stop where it should.
    """
    stop = at
    if load1(data, at) == _QUOTE:
        stop = at = at + 1
        while stop < size and load1(data, stop) != _QUOTE:
            stop += 1
        return at, stop, stop + 1
    byte = load1(data, stop)
    while byte != delimiter and byte != _NEWLINE and byte != _RETURN and byte != _QUOTE:
        stop += 1
        byte = load1(data, stop)
    return at, stop, stop


_FLAGS, _TABLE = array_of(types.boolean, is_written=False), array_of(types.int64, is_written=False)


@callable_from_python(
    array_of(types.uint8, is_written=False),
    types.int64,
    types.int64,
    _TABLE,
    _FLAGS,
    _TABLE,
    ROWS,
    array_of(types.boolean, 2),
    array_of(types.uint8, 2),
    array_of(types.int32, 2),
)
def read_rows(
    data: Array,  # of bytes, with PADDING behind the text
    size: int,  # of the text, which ends with a newline
    delimiter: int,
    kinds: Array,  # of each column, what it is read as,
    optional: Array,  # whether a number may be missing,
    places: Array,  # and which row of the arrays below it is for
    words: Array,  # columns of numbers; floats as their bits,
    missing: Array,  # and which of them are missing
    texts: Array,  # the bytes of columns of text,
    ends: Array,  # and for each row where they end; the first is 0
) -> int:
    """How many rows there are, all of them read; or -1."""
    at = row = 0
    width = len(kinds)
    while at < size:
        for column in range(width):
            kind, place = kinds[natural(column)], natural(places[natural(column)])
            if INT <= kind <= FLOAT:
                is_negative = load1(data, at) == _MINUS
                start = at + is_negative
                at, number = _number(data, start, 0)
                word = -number if is_negative else number
                stop = at
                if kind == FLOAT:
                    power = 0
                    if load1(data, at) == _POINT:
                        at, number = _number(data, at + 1, number)
                        power = stop + 1 - at
                        if power == 0:
                            return -1
                        stop = at
                    if load1(data, at) | _CASE == _E and stop > start:
                        at, exponent = _exponent(data, at + 1)
                        if at == 0:
                            return -1
                        power += exponent
                    found = float_of_decimal(number, power)
                    if found != found:
                        return -1
                    word = bits_of(-found if is_negative else found)
                if stop - start > _MOST_DIGITS and _significant(data, start, stop) > _MOST_DIGITS:
                    return -1
                if stop == start:
                    if is_negative or not optional[natural(column)]:
                        return -1
                    missing[place, natural(row)] = True
                words[place, natural(row)] = word
            else:
                start, stop, at = _text(data, at, size, delimiter)
                if kind == TEXT:
                    filled = ends[place, natural(row)]
                    while start < stop:
                        texts[place, natural(filled)] = load1(data, start)
                        filled += 1
                        start += 1
                    ends[place, natural(row + 1)] = filled
            byte = load1(data, at)
            if column + 1 < width:
                if byte != delimiter:
                    return -1
            else:
                if byte == _RETURN:
                    at += 1
                    byte = load1(data, at)
                if byte != _NEWLINE:
                    return -1
            at += 1
        row += 1
    return row if at == size else -1
