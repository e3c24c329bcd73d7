"""Bytes to numbered lines of text; a line that is not valid UTF-8 or far too long spoils no other."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from anabranch.errors import SourceError
from anabranch.operators.formats.addresses import Address, FilePath
from anabranch.operators.formats.compressed import decompressed
from anabranch.operators.formats.failures import why
from anabranch.operators.formats.stored_files import open_bytes

LONGEST_ROW = 64 * 2**20  # bytes; what is longer is a broken file, and must not be held in memory
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SHOWN = 1000


class Line(NamedTuple):
    """One physical line without its newline. Where it is not valid, its bad bytes are surrogates."""

    number: int
    text: str
    problem: str | None = None


class LineReader(Protocol):
    """What lines are read from: a file, or a stretch of one."""

    def readline(self, limit: int, /) -> bytes: ...


def open_for_reading(path: FilePath) -> BinaryIO:
    """The file as a stream of bytes, decompressed where it is compressed, or a `SourceError` that says why not."""
    try:
        stream = open_bytes(path)
    except OSError as problem:
        hint = getattr(problem, "hint", None)  # of an address
        if isinstance(problem, FileNotFoundError) and isinstance(path, Address):
            hint = "check the address"
        elif isinstance(problem, FileNotFoundError):
            hint = f"check the path; relative paths start at the current folder, {Path.cwd()}"
        elif isinstance(problem, IsADirectoryError):
            hint = f"name the files in it: {path}/*"
        raise SourceError(f"{path}: {why(problem)}", hint=hint) from None
    try:
        inner = decompressed(stream, path)
    except SourceError:
        stream.close()
        raise
    except OSError as problem:  # of an address
        stream.close()
        raise SourceError(f"{path}: {why(problem)}", hint=getattr(problem, "hint", None)) from None
    return stream if inner is None else io.BufferedReader(inner)


def changed(name: str) -> SourceError:
    """At an address there is another file than was found: what was cut of one would go on in the other."""
    return SourceError(
        f"{name}: it has changed since it was found",
        hint="write files under new names, and leave them as they are",
    )


def text_lines(stream: LineReader, name: str, *, skip_mark: bool = True, before: int = 0) -> Iterator[Line]:
    """The lines of a stream, split at newlines only, without the byte order mark some files start with.

    Where the stream starts inside a file, `before` lines of it have gone before.
    """
    number = before
    is_first = True
    while True:
        try:
            raw = stream.readline(LONGEST_ROW + 1)
        except OSError as problem:
            hint = getattr(problem, "hint", None)
            raise SourceError(f"{name}: {why(problem)}", where=f"{name}:{number + 1}", hint=hint) from None
        if not raw:
            return
        number += 1
        if is_first and skip_mark and raw.startswith(BYTE_ORDER_MARK):
            raw = raw[len(BYTE_ORDER_MARK) :]
            if not raw:
                return
        is_first = False
        if raw.endswith(b"\n"):
            raw = raw[:-1]
        elif len(raw) > LONGEST_ROW:
            _skip_rest(stream, name, number)
            raw = raw[:_SHOWN]
            yield Line(number, raw.decode("utf-8", "surrogateescape") + "…", _too_long())
            continue
        try:
            yield Line(number, raw.decode())
        except UnicodeDecodeError as bad:
            problem_text = f"not valid UTF-8: byte 0x{raw[bad.start]:02x} at position {bad.start + 1} of line {number}"
            yield Line(number, raw.decode("utf-8", "surrogateescape"), problem_text)


def _skip_rest(stream: LineReader, name: str, number: int) -> None:
    try:
        while (piece := stream.readline(2**20)) and not piece.endswith(b"\n"):
            pass
    except OSError as problem:
        raise SourceError(f"{name}: {why(problem)}", where=f"{name}:{number}") from None


def _too_long() -> str:
    return f"the line is longer than {LONGEST_ROW // 2**20} MiB"


def printable(text: str) -> str:
    """The text with what was not valid UTF-8 replaced, so that it can be shown and written."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
