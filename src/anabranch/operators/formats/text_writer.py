"""Writes rows of text to a file so that every row in it is whole, whenever the run stops."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from anabranch.errors import SinkError
from anabranch.operators.formats.atomic_file import AtomicFile, unwritable
from anabranch.operators.formats.writer import Writer

_BUFFER = 2**18  # bytes


class TextWriter(Writer):
    """Rows gather in a buffer and are written at a known offset.

    A write that is interrupted is repeated there, and one that fails is cut off, so the file always ends with
    a whole row.
    """

    def __init__(self, encode: Callable[[Any], str], heading: str = "") -> None:
        self._encode = encode
        self._heading = heading
        self._file: AtomicFile | None = None
        self._descriptor = -1
        self._offset = 0
        self._pending = bytearray()

    def open(self, path: Path) -> None:
        self._file = AtomicFile(path)
        try:
            try:
                self._descriptor = os.open(self._file.place, os.O_WRONLY | os.O_CLOEXEC)
            except OSError as problem:
                raise unwritable(path, problem) from None
            self._pending += self._heading.encode()
            self._flush()
        except BaseException:
            self.discard()
            raise

    def write(self, item: Any) -> None:
        self._pending += self._encode(item).encode()
        if len(self._pending) >= _BUFFER:
            self._flush()

    def finish(self) -> None:
        if self._file is None:
            return
        failure: SinkError | None = None
        try:
            self._flush()
            self._close_descriptor()
        except SinkError as problem:
            failure = problem  # the rows before it are whole, and stay
            self._close_quietly()
        self._file.commit()
        self._file = None
        if failure is not None:
            raise failure

    def discard(self) -> None:
        if self._file is None:
            return
        file, self._file = self._file, None
        self._pending.clear()
        self._close_quietly()
        file.discard()

    def _flush(self) -> None:
        assert self._file is not None, "open before write"
        if not self._pending:
            return
        size = len(self._pending)
        try:
            if self._file.is_direct:
                self._write_direct()
            else:
                self._write_at_offset(size)
        except OSError as problem:
            self._pending = bytearray()
            if not self._file.is_direct:
                with suppress(OSError):
                    os.ftruncate(self._descriptor, self._offset)
            raise unwritable(self._file.path, problem) from None

    def _write_at_offset(self, size: int) -> None:
        done = 0
        with memoryview(self._pending) as rows:
            while done < size:
                done += os.pwrite(self._descriptor, rows[done:], self._offset + done)
        self._offset, self._pending = self._offset + size, bytearray()

    def _write_direct(self) -> None:
        while self._pending:
            written = os.write(self._descriptor, self._pending)
            del self._pending[:written]

    def _close_descriptor(self) -> None:
        assert self._file is not None
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            try:
                os.close(descriptor)
            except OSError as problem:  # some file systems say only now that the disk is full
                raise unwritable(self._file.path, problem) from None

    def _close_quietly(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            with suppress(OSError):
                os.close(descriptor)
