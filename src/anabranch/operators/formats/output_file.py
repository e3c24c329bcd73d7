"""Where an output is written until it is complete: beside its path, or for an address on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from anabranch.operators.formats.addresses import Address, FilePath
from anabranch.operators.formats.atomic_file import AtomicFile

if TYPE_CHECKING:
    from anabranch.operators.formats.uploaded_file import UploadedFile

OutputFile: TypeAlias = "AtomicFile | UploadedFile"


def output_file(path: FilePath, name: FilePath | None = None) -> OutputFile:
    """Reserve the place of an output. In messages it has another name where it is a part of something."""
    if isinstance(path, Address):
        from anabranch.operators.formats.uploaded_file import UploadedFile

        return UploadedFile(path, name)
    return AtomicFile(path, name)
