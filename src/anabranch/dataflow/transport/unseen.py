"""A file that a worker does not see, while the driver does: the error says which machine that is."""

from __future__ import annotations

import socket

from anabranch.errors import RunError, SourceError
from anabranch.operators.formats.stored_files import open_bytes
from anabranch.operators.sources.patterns import matching_files

_UNSEEN = (": no such file", ": no file matches", ": permission denied", ": a part of its path is not a directory")


def with_machine(error: RunError) -> RunError:
    """In a task: an error of reading knows where it happened."""
    if isinstance(error, SourceError) and error.machine is None:
        error.machine = socket.gethostname()
    return error


def seen_from_here(error: RunError) -> RunError:
    """In the driver: what is missing there and not here is said to be missing there."""
    if not isinstance(error, SourceError) or error.machine is None or not error.message.endswith(_UNSEEN):
        return error
    if not _is_here(error.message.rpartition(": ")[0]):
        return error
    return SourceError(
        f"{error.message} on {error.machine}, where a worker of Spark's has to read it",
        where=error.where,
        location=error.location,
        hint="all machines must see what is read under the same path: put it on a file system that they share",
    )


def _is_here(pattern: str) -> bool:
    try:
        for path in matching_files(pattern):
            open_bytes(path).close()
    except (OSError, SourceError):
        return False
    return True
