"""Compressed files: they cannot be cut, so one block of whole rows after the other is decompressed and read."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from anabranch.dataflow.sources.reading.chunks import Found
from anabranch.dataflow.sources.reading.cuts import end_of_rows
from anabranch.dataflow.sources.reading.slices import Slice, readable
from anabranch.dataflow.sources.reading.text_slices import TextSlice, must_be_as_found
from anabranch.errors import SourceError
from anabranch.operators.formats import text_lines as lines
from anabranch.operators.formats.compressed import Decompressed
from anabranch.operators.formats.csv_format import CsvOptions
from anabranch.operators.formats.stored_files import from_full_name
from anabranch.operators.sources.read_files import ReadFiles

_BLOCK = 4 * 2**20  # bytes


def read_compressed(definition: ReadFiles, part: Slice, chunk_size: int) -> Iterator[Found]:
    with lines.open_for_reading(from_full_name(part.path)) as stream, readable(part.name):
        must_be_as_found(stream, part)
        inner = getattr(stream, "raw", None)
        if not isinstance(inner, Decompressed):
            raise SourceError(
                f"{part.name}: it was compressed when it was found, and is not any more",
                hint="put it back as it was; move files in when they are complete, and leave them as they are",
            )
        yield from _Blocks(definition, part, inner, chunk_size).chunks()


class _Blocks:
    def __init__(self, definition: ReadFiles, part: Slice, inner: Decompressed, chunk_size: int) -> None:
        self._definition = definition
        self._part = part
        self._inner = inner
        self._chunk_size = chunk_size
        self._delimiter = CsvOptions(**definition.options).delimiter if definition.format == "csv" else ""
        self._pending = b""
        self._at = part.start  # of it, in the text
        self._before = 0  # lines that go before it

    def chunks(self) -> Iterator[Found]:
        self._pass_over(self._part.start)
        size = _BLOCK
        while True:
            has_more = self._fill(size)
            if has_more is False:
                if self._pending:
                    yield from self._block(len(self._pending))
                return
            end = self._end_of_rows() if has_more else 0
            if end:
                yield from self._block(end)
                size = _BLOCK
            elif has_more and len(self._pending) < lines.LONGEST_ROW:
                size = 2 * len(self._pending)
            else:  # damaged, or a row without an end: the row reader says what is wrong
                yield from self._rest()
                return

    def _pass_over(self, size: int) -> None:
        """The header, of which all could be read before."""
        while len(self._pending) < size and (piece := self._inner.pull()):
            self._pending += piece
        self._before = self._pending.count(b"\n", 0, size)
        self._pending = self._pending[size:]

    def _fill(self, size: int) -> bool | None:
        """Whether there may be more than is pending; None where nothing more can be decompressed."""
        pieces = [self._pending]
        have = len(self._pending)
        try:
            while have < size:
                piece = self._inner.pull()
                if not piece:
                    return False
                pieces.append(piece)
                have += len(piece)
        except OSError:
            return None
        finally:
            self._pending = b"".join(pieces)
        return True

    def _end_of_rows(self) -> int:
        if self._definition.format == "csv":
            return end_of_rows(self._pending, len(self._pending), self._delimiter)
        return self._pending.rfind(b"\n") + 1

    def _block(self, end: int) -> Iterator[Found]:
        data, self._pending = self._pending[:end], self._pending[end:]
        text = TextSlice(self._definition, self._part, cast(BinaryIO, _Window(data, self._at)), self._chunk_size)
        yield from text.chunks(self._at, self._at + end, self._before)
        self._at += end
        self._before += data.count(b"\n")

    def _rest(self) -> Iterator[Found]:
        text = TextSlice(self._definition, self._part, cast(BinaryIO, self._inner), self._chunk_size)
        rest = io.BufferedReader(_Rest(self._pending, self._inner))
        yield from text.chunks_of_lines(rest, self._before)


class _Window(io.BytesIO):
    """Some bytes of a text, at the places where they are in it."""

    def __init__(self, data: bytes, start: int) -> None:
        super().__init__(data)
        self._start = start

    def seek(self, place: int, whence: int = 0, /) -> int:
        return super().seek(place - self._start if whence == 0 else place, whence)


class _Rest(io.RawIOBase):
    """What is pending, and then what else can be decompressed."""

    def __init__(self, pending: bytes, inner: Decompressed) -> None:
        self._pending = io.BytesIO(pending)
        self._inner = inner

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        return self._pending.readinto(buffer) or self._inner.readinto(buffer)
