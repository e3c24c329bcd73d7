"""Outputs whose names say that they are compressed: which way, and what is written.

Each part of the text is compressed by itself, and the parts follow one another, which all these formats allow. So what
is written up to a place does not depend on what comes behind it: an output can be cut off there, and go on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from anabranch.errors import BuildError

Compress = Callable[[bytes], bytes]

PART = 2**20  # bytes of text that are compressed together
_OTHERS = (".7z", ".br", ".lz", ".lz4", ".lzma", ".lzo", ".rar", ".snappy", ".sz", ".tar", ".tgz", ".z", ".zip")


def _gzip(text: bytes) -> bytes:
    import gzip

    return gzip.compress(text, 6, mtime=0)  # the same bytes at every time


def _bzip2(text: bytes) -> bytes:
    import bz2

    return bz2.compress(text)


def _xz(text: bytes) -> bytes:
    import lzma

    return lzma.compress(text)


def _zstd(text: bytes) -> bytes:
    import pyarrow as pa  # slow to import

    return bytes(pa.Codec("zstd").compress(text, asbytes=True))


_KINDS: Mapping[str, Compress] = {".gz": _gzip, ".bz2": _bzip2, ".xz": _xz, ".zst": _zstd}


def suffix_of(name: str) -> str:
    """The end of a name that says how the file is compressed, or an empty text."""
    return next((suffix for suffix in _KINDS if name.endswith(suffix)), "")


def compressor_of(name: str) -> Compress | None:
    """What compresses the parts of a file of that name; None where it is not compressed."""
    return _KINDS.get(suffix_of(name))


def check_name(name: str, format: str) -> None:
    """A `BuildError` where a name promises what is not written."""
    suffix = suffix_of(name)
    if suffix and format == "parquet":
        raise BuildError(
            f"{name}: a Parquet file compresses its columns itself, and is not compressed as a whole",
            hint=f"leave {suffix} out",
        )
    for other in _OTHERS:
        if name.lower().endswith(other):
            raise BuildError(
                f"{name}: the name says that it is compressed in a way that is not written",
                hint=f"use a name that ends in one of {', '.join(_KINDS)}, or in none of them",
            )
