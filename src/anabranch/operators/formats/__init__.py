"""How tuples look outside the program: CSV, JSON lines, Parquet and plain lines, read and written."""

from __future__ import annotations

from anabranch.errors import BuildError
from anabranch.operators.formats.base import Format, TextFormat
from anabranch.operators.formats.writer import RowWriter, StreamWriter, Writer

FILE_FORMATS = ("csv", "jsonl", "parquet", "lines")
TEXT_FORMATS = ("csv", "jsonl", "lines")

__all__ = [
    "FILE_FORMATS",
    "TEXT_FORMATS",
    "Format",
    "RowWriter",
    "StreamWriter",
    "TextFormat",
    "Writer",
    "file_format",
    "text_format",
]


def file_format(name: str) -> Format:
    """The format of that name; Parquet's is loaded only when asked for, because Arrow is slow to import."""
    if name == "parquet":
        from anabranch.operators.formats.parquet_format import PARQUET

        return PARQUET
    if name not in TEXT_FORMATS:
        raise BuildError(f"there is no file format '{name}'", hint=f"use one of {', '.join(FILE_FORMATS)}")
    return text_format(name)


def text_format(name: str) -> TextFormat:
    """A format made of lines of text, which can also be read from and written to a connection."""
    from anabranch.operators.formats.csv_format import CSV
    from anabranch.operators.formats.jsonl_format import JSONL
    from anabranch.operators.formats.lines_format import LINES

    for known in (CSV, JSONL, LINES):
        if known.name == name:
            return known
    raise BuildError(f"there is no text format '{name}'", hint=f"use one of {', '.join(TEXT_FORMATS)}")
