"""Files that are compressed begin with bytes that no text and no Parquet file begins with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from anabranch.errors import SourceError

_KINDS = {  # how they begin, what they are, and what makes a plain file of one
    b"\x1f\x8b": ("gzip", "gunzip -k"),
    b"\x28\xb5\x2f\xfd": ("zstd", "unzstd"),
    b"\xfd7zXZ\x00": ("xz", "unxz -k"),
    b"PK\x03\x04": ("zip", "unzip"),
    **{b"BZh%d1AY&SY" % level: ("bzip2", "bunzip2 -k") for level in range(1, 10)},
}
_LONGEST = max(map(len, _KINDS))


def check_not_compressed(stream: BinaryIO, path: Path) -> None:
    """A `SourceError` for a compressed file. Nothing is taken from what can be read only once."""
    try:
        start = os.pread(stream.fileno(), _LONGEST, 0)
    except OSError:
        return
    for begins, (kind, command) in _KINDS.items():
        if start.startswith(begins):
            raise SourceError(
                f"{path}: is compressed ({kind}), and only plain files are read",
                hint=f"decompress it first: {command} {path}",
            )
