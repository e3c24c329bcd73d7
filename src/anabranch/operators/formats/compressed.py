"""Files that are compressed: told by how they begin, as no text does, and read as the text that is in them."""

from __future__ import annotations

import io
import shlex
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from anabranch.errors import SourceError
from anabranch.operators.formats.addresses import FilePath
from anabranch.operators.formats.stored_files import first_bytes, open_bytes

PIECE = 2**16  # bytes that are decompressed at a time: before damage, what was is the same for everybody


def _gzip(file: BinaryIO) -> Any:
    import gzip

    return gzip.GzipFile(fileobj=file)


def _bzip2(file: BinaryIO) -> Any:
    import bz2

    return bz2.BZ2File(file)


def _xz(file: BinaryIO) -> Any:
    import lzma

    return lzma.LZMAFile(file)


def _zstd(file: BinaryIO) -> Any:
    import pyarrow as pa  # slow to import

    return pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd")


class _Kind(NamedTuple):
    read: Callable[[BinaryIO], Any]
    command: str  # what makes a plain file of one
    suffix: str  # of the names for which it does


_KINDS: dict[bytes, _Kind] = {  # by how they begin
    b"\x1f\x8b": _Kind(_gzip, "gunzip -k", ".gz"),
    b"\x28\xb5\x2f\xfd": _Kind(_zstd, "unzstd", ".zst"),
    b"\xfd7zXZ\x00": _Kind(_xz, "unxz -k", ".xz"),
    **{b"BZh%d1AY&SY" % level: _Kind(_bzip2, "bunzip2 -k", ".bz2") for level in range(1, 10)},
}
_ARCHIVE = b"PK\x03\x04"
_LONGEST = max(map(len, _KINDS))


class Decompressed(io.RawIOBase):
    """What is in a compressed file, from its beginning on. Damage is an `OSError` at its place."""

    def __init__(self, file: BinaryIO, kind: Callable[[BinaryIO], Any]) -> None:
        self.file = file
        stream = kind(file)
        # Not `read`, which goes on until it has so much, and forgets it all at damage.
        self._read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
        self._rest = b""
        self._at = 0
        self._problem: OSError | None = None

    def pull(self) -> bytes:
        """The next bytes, as many as come; none at the end."""
        if self._rest:
            piece, self._rest = self._rest, b""
        else:
            piece = self._decompressed()
        self._at += len(piece)
        return piece

    def _decompressed(self) -> bytes:
        if self._problem is not None:
            raise self._problem
        try:
            return self._read(PIECE)
        except Exception as problem:  # each library has errors of its own
            if isinstance(problem, OSError) and hasattr(problem, "hint"):  # of a server, in plain words
                self._problem = problem
            else:
                self._problem = OSError(_in_words(problem))
        raise self._problem

    def readinto(self, buffer: Any, /) -> int:
        piece = self._rest or self._decompressed()
        count = min(len(buffer), len(piece))
        buffer[:count] = piece[:count]
        self._rest = piece[count:]
        self._at += count
        return count

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def fileno(self) -> int:
        return self.file.fileno()

    def close(self) -> None:
        super().close()
        self.file.close()


def _in_words(problem: Exception) -> str:
    text = str(problem)
    if isinstance(problem, EOFError) or "runcated" in text:
        return "the compressed file is cut off: it ends before what is in it does"
    if isinstance(problem, OSError) and problem.errno is not None:
        return text
    what = "data" if isinstance(problem, zlib.error) else f"data ({text})"
    return f"the compressed file is damaged: its {what} cannot be decompressed from here on"


def decompressed(file: BinaryIO, path: FilePath) -> Decompressed | None:
    """What is in a file that is compressed. Nothing is taken from what can be read only once."""
    start = first_bytes(file, _LONGEST)
    if start.startswith(_ARCHIVE):
        raise SourceError(
            f"{path}: is an archive (zip), and files are read that are plain, or compressed one by one",
            hint=f"unpack it first: unzip {shlex.quote(str(path))}",
        )
    for begins, kind in _KINDS.items():
        if start.startswith(begins):
            return Decompressed(file, kind.read)
    return None


def how_to_decompress(path: FilePath) -> str | None:
    """The command for a file that `decompressed` reads; None for any other, and for what cannot be opened."""
    try:
        if isinstance(path, Path) and not path.is_file():
            return None
        with open_bytes(path) as file:
            start = file.read(_LONGEST)
    except OSError:
        return None
    for begins, (_, command, suffix) in _KINDS.items():
        if start.startswith(begins):
            name = shlex.quote(str(path))
            if path.name.endswith(suffix):
                return f"{command} {name}"
            return f"{command.removesuffix(' -k')} < {name} > {shlex.quote(f'{path}.plain')}"
    return None
