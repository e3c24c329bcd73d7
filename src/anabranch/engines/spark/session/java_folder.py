"""The folder for the temporary files of a Spark that this process starts: libraries, blocks, state that is in use.

Java removes what it wrote when it ends. A Java that is killed cannot, so whoever starts the next one does.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import signal
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from anabranch.errors import RunError

_PREFIX = "anabranch-spark-"
_LOCK = "lock"  # held by the process whose folder it is, for as long as that lives
_SECONDS_TO_LOCK = 3_600.0  # that a folder without one is left alone: its owner may be about to make it

_SECONDS_TO_END = 5.0

_held: list[int] = []  # locks, which end with this process


def make_java_folder() -> Path:
    """A new folder, which is removed when this process ends; those of processes that were killed are removed now."""
    _remove_abandoned()
    try:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        lock = os.open(folder / f".{_LOCK}", os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        with suppress(OSError):  # a file system without locks: then it is removed when this process ends, or never
            fcntl.flock(lock, fcntl.LOCK_EX)
            _held.append(lock)
            (folder / f".{_LOCK}").rename(folder / _LOCK)
    except OSError as problem:
        raise RunError(f"there is no room for temporary files: {problem}", hint="set TMPDIR to a folder") from None
    atexit.register(_remove_own, folder, os.getpid())
    return folder


def _remove_own(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # and not a copy of this process
        remove_java_folder(folder)


def remove_java_folder(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def end_starting_java(folder: Path) -> None:
    """End a Java that was told of a folder and that nobody has met yet.

    Where pyspark is interrupted while it waits for its Java, that would find nobody to tell its address, and stay.
    """
    deadline = time.monotonic() + _SECONDS_TO_END
    while (starting := _starting(folder)) and time.monotonic() < deadline:
        for number in starting:
            with suppress(OSError):  # it has ended
                os.kill(number, signal.SIGKILL)
        time.sleep(0.02)


def _starting(folder: Path) -> list[int]:
    """Numbers of processes: scripts of Spark's, and the Java that they become. Only pyspark gives them such a name."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            given = (process / "environ").read_bytes()
            if os.fsencode(folder) in given and b"_PYSPARK_DRIVER_CONN_INFO_PATH=" in given:
                found.append(int(process.name))
    return found


def _remove_abandoned() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if _is_abandoned(folder):
            remove_java_folder(folder)


def _is_abandoned(folder: Path) -> bool:
    """Whether the process has ended that made a folder, and its Java as well, which may live a moment longer."""
    try:
        if folder.lstat().st_uid != os.getuid() or not folder.is_dir() or folder.is_symlink():
            return False
        try:
            with (folder / _LOCK).open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            if time.time() - folder.stat().st_mtime < _SECONDS_TO_LOCK:
                return False
        return not _is_used(folder)
    except OSError:  # it is locked, or gone meanwhile
        return False


def _is_used(folder: Path) -> bool:
    """Whether there is a process that was told of a folder."""
    name = os.fsencode(folder)
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is not ours
            if name in (process / "cmdline").read_bytes():
                return True
    return False
