"""What the operating system says went wrong, in plain words."""

from __future__ import annotations

import errno
import os

_WORDS = {
    errno.ENOENT: "no such file",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EISDIR: "is a directory",
    errno.ENOTDIR: "a part of its path is not a directory",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.EFBIG: "the file is too large",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ECONNREFUSED: "the connection was refused",
    errno.ECONNRESET: "the connection was broken by the other side",
    errno.EPIPE: "the connection was closed by the other side",
}


def why(problem: OSError) -> str:
    """The reason of an `OSError` without numbers and without the path."""
    if isinstance(problem, TimeoutError):
        return "no answer in time"
    if problem.errno in _WORDS:
        return _WORDS[problem.errno]
    if problem.strerror:
        return problem.strerror[0].lower() + problem.strerror[1:]
    if problem.errno:
        return os.strerror(problem.errno).lower()
    return str(problem)
