"""The quoting rules of CSV: physical lines to records of cells, and cells to a line.

A cell that starts with a quote ends at the next single quote; two quotes inside stand for one, and newlines
inside belong to the cell. Quotes elsewhere are plain characters. The standard module is not used: it limits
the size of cells by a setting shared with the whole process, and it ends records at carriage returns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from anabranch.operators.formats.text_lines import LONGEST_ROW, Line, printable

NEVER_CLOSED = "a quote is opened and never closed"
_SHOWN = 1000


class CsvRecord(NamedTuple):
    """A row: where it starts, its cells, and what is wrong with it as a row."""

    number: int
    cells: list[str]
    raw: str
    problem: str | None = None


def csv_records(lines: Iterable[Line], delimiter: str) -> Iterator[CsvRecord]:
    """The rows of a CSV text without blank lines. A quote that is never closed makes the rest one bad row."""
    quoted = _QuotedRecord(delimiter)
    for number, text, problem in lines:
        if quoted.is_open or '"' in text:
            if quoted.take(Line(number, text, problem)):
                yield quoted.record()
                quoted = _QuotedRecord(delimiter)
            continue
        row = text[:-1] if text.endswith("\r") else text
        if not row and problem is None:
            continue
        if problem is None and "\r" in row:
            problem = "a carriage return outside quotes"
        yield CsvRecord(number, row.split(delimiter), row if problem is None else printable(row), problem)
    if quoted.is_open:
        yield quoted.record(unfinished=True)


def csv_line(cells: list[str], delimiter: str) -> str:
    """The cells as one line, quoted where they must be."""
    line = delimiter.join(cells)
    if line.count(delimiter) != len(cells) - 1 or _has_special(line):
        line = delimiter.join([_quote(cell) if delimiter in cell or _has_special(cell) else cell for cell in cells])
    return f"{line}\n" if line else '""\n'  # a line with nothing in it would be skipped as blank


def _has_special(text: str) -> bool:
    """Whether it has what means something outside quotes; a byte order mark does at the start of a file."""
    return '"' in text or "\n" in text or "\r" in text or "\ufeff" in text


def _quote(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


class _QuotedRecord:
    """A row with quotes in it, taken line by line; each character is looked at once."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter
        self._number = 0
        self._cells: list[str] = []
        self._lines: list[str] = []
        self._pieces: list[str] = []  # of the quoted cell that is open
        self._size = 0
        self._problem: str | None = None
        self.is_open = False

    def take(self, line: Line) -> bool:
        """Take the next line; True when the row is complete."""
        text = line.text
        if not self._lines:
            self._number = line.number
        self._problem = self._problem or line.problem
        self._remember(text)
        at = 0
        if self.is_open:
            self._pieces.append("\n")
            at = self._inside_quotes(text, 0)
        while at >= 0:
            quoted = text.startswith('"', at)
            at = self._inside_quotes(text, at + 1) if quoted else self._outside_quotes(text, at)
        return not self.is_open

    def record(self, *, unfinished: bool = False) -> CsvRecord:
        if unfinished:
            self._problem = NEVER_CLOSED
        raw = "\n".join(self._lines)
        raw = raw[:-1] if raw.endswith("\r") else raw
        if unfinished and len(raw) > _SHOWN:
            raw = raw[:_SHOWN] + "…"
        return CsvRecord(self._number, self._cells, printable(raw) if self._problem else raw, self._problem)

    def _remember(self, text: str) -> None:
        self._size += len(text) + 1
        if self._size <= LONGEST_ROW:
            self._lines.append(text)
        elif self._problem is None:
            self._problem = f"the row is longer than {LONGEST_ROW // 2**20} MiB"
            self._lines = ["\n".join(self._lines)[:_SHOWN] + "…"]

    def _inside_quotes(self, text: str, at: int) -> int:
        """Read on in a quoted cell; where the next cell starts, or -1 at the end of the line."""
        self.is_open = True
        while True:
            end = text.find('"', at)
            if end < 0:
                self._pieces.append(text[at:])
                if self._size > LONGEST_ROW:
                    self._pieces.clear()
                return -1
            self._pieces.append(text[at:end])
            if not text.startswith('"', end + 1):
                break
            self._pieces.append('"')
            at = end + 2
        self.is_open = False
        self._cells.append("".join(self._pieces))
        self._pieces.clear()
        return self._after_quotes(text, end + 1)

    def _after_quotes(self, text: str, at: int) -> int:
        if at == len(text) or (text[at] == "\r" and at + 1 == len(text)):
            return -1
        if text.startswith(self._delimiter, at):
            return at + 1
        self._problem = self._problem or f"{text[at]!r} follows a closing quote; a delimiter or the end of the row must"
        following = text.find(self._delimiter, at)
        return following + 1 if following >= 0 else -1

    def _outside_quotes(self, text: str, at: int) -> int:
        end = text.find(self._delimiter, at)
        cell = text[at:end] if end >= 0 else text[at:]
        if end < 0 and cell.endswith("\r"):
            cell = cell[:-1]
        if "\r" in cell:
            self._problem = self._problem or "a carriage return outside quotes"
        self._cells.append(cell)
        return end + 1 if end >= 0 else -1
