"""Writes rows of text to a file so that every row in it is whole, whenever the run stops."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.errors import SinkError
from anabranch.operators.formats.addresses import FilePath
from anabranch.operators.formats.atomic_file import unwritable
from anabranch.operators.formats.compressing import PART, Compress, compressor_of
from anabranch.operators.formats.output_file import OutputFile, output_file
from anabranch.operators.formats.writer import RowWriter, Writer

if TYPE_CHECKING:
    import pyarrow as pa

    from anabranch.operators.formats.encode_columns import EncodeColumns, EncodedRows

_BUFFER = 2**18  # bytes
_ENCODED_ROWS, _ENCODED_BYTES = 2**16, 2**26  # of a batch, at once


class TextRows(RowWriter):
    """Rows gather in a buffer and are written at a known offset.

    A write that is interrupted is repeated there, and one that fails is cut off, so the file always ends with
    a whole row.
    """

    def __init__(
        self,
        encode: Callable[[Any], str],
        heading: str = "",
        column_encoder: Callable[[], EncodeColumns | None] = lambda: None,
    ) -> None:
        self._encode = encode
        self._column_encoder = column_encoder
        self._heading = heading
        self._path: FilePath = Path()
        self._descriptor = -1
        self._offset = 0
        self._taken = 0  # bytes of text that are in the file
        self._pending = bytearray()
        self._compress: Compress | None = None
        self._most_pending = _BUFFER
        self._failure: SinkError | None = None  # met by a row of a batch, and not yet said

    def write(self, item: Any) -> None:
        if self._failure is not None:
            self._say_failure()
        self._pending += self._encode(item).encode()
        if len(self._pending) >= self._most_pending:
            self._flush()

    def write_batch(self, batch: pa.RecordBatch) -> int:
        if self._encode_columns is None or self._failure is not None:
            return 0
        taken = 0
        for encoded in encoded_parts(batch, self._encode_columns):
            taken += self._append(encoded)
            if self._failure is not None:
                break
        return taken

    def write_lines(self, lines: EncodedRows) -> int:
        return 0 if self._failure is not None else self._append(lines)

    def rows_to_flush(self, lines: EncodedRows) -> int | None:
        row = int(lines.ends.searchsorted(_BUFFER - len(self._pending)))
        return row + 1 if row < len(lines.ends) else None

    @cached_property
    def _encode_columns(self) -> EncodeColumns | None:
        return self._column_encoder()

    def _append(self, encoded: EncodedRows) -> int:
        """Add rows, with flushes behind the same rows as `write` has them; how many rows before a failure."""
        data, ends = encoded
        added, row = 0, 0
        while row < len(ends):
            row = min(int(ends.searchsorted(added + self._most_pending - len(self._pending))), len(ends) - 1)
            self._pending += data[added : ends[row]]
            added, row = int(ends[row]), row + 1
            if len(self._pending) >= self._most_pending:
                try:
                    self._flush()
                except SinkError as problem:
                    self._failure = problem
                    return row - 1
        return row

    def _say_failure(self) -> None:
        failure, self._failure = self._failure, None
        assert failure is not None
        raise failure

    def _flush(self) -> None:
        if not self._pending:
            return
        assert self._descriptor >= 0, "open before write"
        try:
            self._write_at_offset()
        except OSError as problem:
            self._pending = bytearray()
            with suppress(OSError):
                os.ftruncate(self._descriptor, self._offset)
            raise unwritable(self._path, problem) from None

    def _write_at_offset(self) -> None:
        done = 0
        with memoryview(self._as_written()) as rows:
            size = len(rows)
            while done < size:
                done += os.pwrite(self._descriptor, rows[done:], self._offset + done)
        self._taken += len(self._pending)
        self._offset, self._pending = self._offset + size, bytearray()

    def _as_written(self) -> bytes | bytearray:
        """What is pending, as it is in the file: the same each time that it is asked for."""
        return self._pending if self._compress is None else self._compress(bytes(self._pending))

    def _compress_as(self, name: str) -> None:
        """From now on write as the name of the file says."""
        self._compress = compressor_of(name)
        self._most_pending = _BUFFER if self._compress is None else PART

    def _close_quietly(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            with suppress(OSError):
                os.close(descriptor)


def encoded_parts(batch: pa.RecordBatch, encode: EncodeColumns) -> Iterator[EncodedRows]:
    """The lines of a batch, some rows at a time, up to where it must go row by row."""
    taken, rows = 0, batch.num_rows
    at_once = max(1, min(_ENCODED_ROWS, _ENCODED_BYTES * rows // max(1, batch.nbytes)))
    while taken < rows:
        encoded = encode(batch.slice(taken, at_once))
        if encoded is None:
            return
        yield encoded
        taken += len(encoded.ends)


class TextWriter(TextRows, Writer):
    """A file that appears when it is complete; what is no file (a device, a pipe) is written directly."""

    _file: OutputFile | None = None

    def open(self, path: FilePath, name: FilePath | None = None) -> None:
        self._file = output_file(path, name)
        self._path = self._file.name
        self._compress_as(path.name)
        if self._compress is not None and self._file.is_direct:
            self.discard()
            raise SinkError(
                f"{self._path}: is no file, and what is compressed is written to files only",
                hint="name a pipe or a device otherwise, and compress what comes out of it",
            )
        try:
            try:
                self._descriptor = self._file.open()
            except OSError as problem:
                raise unwritable(self._path, problem) from None
            self._pending += self._heading.encode()
            self._flush()
        except BaseException:
            self.discard()
            raise

    def finish(self) -> None:
        if self._file is None:
            return
        failure, self._failure = self._failure, None
        try:
            self._flush()
            self._end_compressed()
            self._close_descriptor()
        except SinkError as problem:
            failure = problem  # the rows before it are whole
            self._close_quietly()
        if failure is not None:
            raise failure

    def stage(self) -> None:
        if self._file is not None:
            self._file.stage()

    def commit(self) -> None:
        if self._file is not None:
            self._file.commit()
            self._file.forget_partial()
            self._file = None

    @property
    def is_empty(self) -> bool:  # type: ignore[override]  # here it follows from what was written
        return self._taken + len(self._pending) <= len(self._heading.encode())

    def keep(self) -> FilePath | None:
        if self._file is None:
            return None
        with suppress(SinkError):  # what stopped the run is said already
            self.complete()
        if self.is_empty:
            self.discard()
            return None
        file, self._file = self._file, None
        return file.keep()

    def discard(self) -> None:
        if self._file is None:
            return
        file, self._file = self._file, None
        self._pending.clear()
        self._close_quietly()
        file.discard()

    def _flush(self) -> None:
        assert self._file is not None, "open before write"
        if not self._file.is_direct:
            super()._flush()
            return
        try:
            while self._pending:
                written = os.write(self._descriptor, self._pending)
                del self._pending[:written]
        except OSError as problem:
            self._pending = bytearray()
            raise unwritable(self._path, problem) from None

    def _end_compressed(self) -> None:
        """A compressed file holds at least one part, and nothing behind the last: an interrupted write had more."""
        if self._compress is None or self._descriptor < 0:
            return
        try:
            if not self._offset:
                self._offset = os.pwrite(self._descriptor, self._compress(b""), 0)
            os.ftruncate(self._descriptor, self._offset)
        except OSError as problem:
            raise unwritable(self._path, problem) from None

    def _close_descriptor(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            try:
                os.close(descriptor)
            except OSError as problem:  # some file systems say only now that the disk is full
                raise unwritable(self._path, problem) from None
