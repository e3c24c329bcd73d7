"""Whether a module's file may have been edited since it was imported.

Functions are compared with the text one by one; this is about statements of the module, which leave no code behind.
"""

from __future__ import annotations

import importlib.util
import os
import time
from pathlib import Path
from types import ModuleType

_HEADER = 16  # bytes of a .pyc before its code: magic, flags, and the time and size (or the hash) of its source
_HASHED = 1
_TICK = 0.01  # seconds: how exactly the system knows when a process began


def _began() -> float:
    """When this process began, so that nothing was imported before; at the latest now, when this is imported."""
    try:
        after_name = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - int(after_name[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, ValueError, IndexError):  # only Linux tells
        age = 0.0
    return time.time() - age


_BEGAN = _began()


def is_plainly_edited(module: ModuleType, file: str) -> bool:
    """Whether the file has changed in the lifetime of this process, and is not what was compiled last."""
    try:
        now = os.stat(file)
        if max(now.st_mtime, now.st_ctime) <= _BEGAN + _TICK:
            return False
        compiled = getattr(module.__spec__, "cached", None)
        header = Path(compiled).read_bytes()[:_HEADER] if compiled else b""
        if len(header) < _HEADER or header[:4] != importlib.util.MAGIC_NUMBER:
            return False
        if int.from_bytes(header[4:8], "little") & _HASHED:
            return header[8:] != importlib.util.source_hash(Path(file).read_bytes())
        when, size = int.from_bytes(header[8:12], "little"), int.from_bytes(header[12:], "little")
        return (when, size) != (int(now.st_mtime) & 0xFFFFFFFF, now.st_size & 0xFFFFFFFF)
    except OSError:
        return False  # compiled code that was never kept says nothing
