"""Where a text may be cut so that no row is cut: at newlines, but in CSV not at those inside quotes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, BinaryIO

import numpy as np

from anabranch.operators.formats import text_lines as lines
from anabranch.operators.formats.csv_records import NEVER_CLOSED, csv_records

_WINDOW = 4 * 2**20  # bytes looked at in one go
_MARGINS = (2**16, 2**22)  # bytes looked at beyond them for the end of a row, before rows are read one by one
_NEWLINE, _RETURN, _QUOTE = b'\n\r"'

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Places = np.ndarray[Any, np.dtype[np.int64]]


class Shorter(Exception):
    """A file ends before a place that was in it when it was cut."""


class ByteRange:
    """The bytes of a file from one place to another, read line by line."""

    def __init__(self, stream: BinaryIO, start: int, stop: int) -> None:
        stream.seek(start)
        self._stream = stream
        self._stop = stop
        self.at = start

    def readline(self, limit: int, /) -> bytes:
        most = min(limit, self._stop - self.at)
        line = self._stream.readline(most)
        if len(line) < most and not line.endswith(b"\n"):  # half a row may look like a whole one
            raise Shorter
        self.at += len(line)
        return line


def line_cuts(stream: BinaryIO, start: int, stop: int, size: int) -> Iterator[int]:
    """The ends of ranges of whole lines, each the shortest of at least `size` bytes; the last is `stop`."""
    at = start
    while at < stop:
        at = _line_end(stream, at + size, stop)
        yield at


def _line_end(stream: BinaryIO, least: int, stop: int) -> int:
    at = least - 1  # a line that ends right there needs no more
    while at < stop:
        stream.seek(at)
        piece = stream.read(min(_MARGINS[0], stop - at))
        found = piece.find(b"\n")
        if found >= 0:
            return at + found + 1
        if not piece:  # the file has become shorter
            break
        at += len(piece)
    return stop


def csv_cuts(stream: BinaryIO, start: int, stop: int, size: int, delimiter: str) -> Iterator[int]:
    """The same for the rows of a CSV text; a row must start at `start`."""
    at = start
    while at < stop:
        least = at + size
        while at < least and at < stop:
            at = _row_end(stream, at, min(least, at + _WINDOW), stop, delimiter)
        yield at


def _row_end(stream: BinaryIO, start: int, least: int, stop: int, delimiter: str) -> int:
    """The end of the first row that ends at `least` or later."""
    if least >= stop:
        return stop
    for margin in _MARGINS:
        stream.seek(start)
        window = stream.read(min(least + margin, stop) - start)
        if len(window) >= lines.LONGEST_ROW:  # what is longer is not read to its end
            break
        skipped = mark_size(window, start)
        end = row_end_in(window[skipped:], least - start - skipped, delimiter)
        if end is not None:
            return start + skipped + end
    return _row_end_by_rows(stream, start, least, stop, delimiter)


def _row_end_by_rows(stream: BinaryIO, start: int, least: int, stop: int, delimiter: str) -> int:
    within = ByteRange(stream, start, stop)
    with suppress(Shorter):  # whoever reads the rows will say so
        for _ in csv_records(lines.text_lines(within, "", skip_mark=start == 0), delimiter):
            if within.at >= least:
                return within.at
    return stop


def mark_size(data: bytes, start: int) -> int:
    """How many bytes the byte order mark takes; only the start of a file has one."""
    return len(lines.BYTE_ORDER_MARK) if start == 0 and data.startswith(lines.BYTE_ORDER_MARK) else 0


def row_end_in(data: bytes, least: int, delimiter: str) -> int | None:
    """The end of the first row of `data` that ends at `least` or later, where quotes leave no doubt about it."""
    first = max(least - 1, 0)
    if b'"' not in data:
        return data.find(b"\n", first) + 1 or None
    array = np.frombuffer(data, np.uint8)
    quotes: Places = np.flatnonzero(array == _QUOTE)
    newlines: Places = np.flatnonzero(array[first:] == _NEWLINE) + first
    before = np.searchsorted(quotes, newlines)  # how many quotes stand before each newline
    outside = np.flatnonzero(before % 2 == 0)
    if not len(outside):
        return None
    found = outside[0]
    return int(newlines[found]) + 1 if are_plain_quotes(array, quotes[: before[found]], delimiter) else None


def end_of_rows(data: bytes, most: int, delimiter: str) -> int:
    """The end of the last row within `most` bytes of `data`, or of the first one if it is longer; 0 if none ends.

    Where quotes are odd it may be the end of an earlier row.
    """
    if b'"' not in data:
        return data.rfind(b"\n", 0, most) + 1 or data.find(b"\n", most) + 1
    array = np.frombuffer(data, np.uint8)
    quotes: Places = np.flatnonzero(array == _QUOTE)
    newlines: Places = np.flatnonzero(array == _NEWLINE)
    before = np.searchsorted(quotes, newlines)
    outside = np.flatnonzero(before % 2 == 0)
    if len(outside):
        found = outside[max(int(np.searchsorted(newlines[outside], most)) - 1, 0)]
        if are_plain_quotes(array, quotes[: before[found]], delimiter):
            return int(newlines[found]) + 1
    return _end_of_rows_by_rows(data, most, delimiter)


def _end_of_rows_by_rows(data: bytes, most: int, delimiter: str) -> int:
    stream = io.BytesIO(data[: data.rfind(b"\n") + 1])
    end = 0
    for record in csv_records(lines.text_lines(stream, ""), delimiter):
        if record.problem == NEVER_CLOSED or (end and stream.tell() > most):
            break
        end = stream.tell()
    return end


def are_plain_quotes(array: Bytes, quotes: Places, delimiter: str) -> bool:
    """Whether every second quote opens a cell and the others close it, two in a row inside a cell included.

    Two that stand for one look like the end of a cell and the start of the next. If this holds, a place is inside
    quotes exactly if an odd number of quotes stands before it. It does not hold where a quote stands in the middle of a
    cell that is not quoted, or where something follows a closing quote.
    """
    if len(quotes) % 2:
        return False
    opening, closing = quotes[0::2], quotes[1::2]
    before = np.where(opening > 0, array[opening - 1], _NEWLINE)
    after = np.where(closing + 1 < len(array), array[np.minimum(closing + 1, len(array) - 1)], _NEWLINE)
    cell = ord(delimiter)
    opens = (before == cell) | (before == _NEWLINE) | (before == _QUOTE)
    closes = (after == cell) | (after == _NEWLINE) | (after == _RETURN) | (after == _QUOTE)
    return bool(opens.all() and closes.all())
