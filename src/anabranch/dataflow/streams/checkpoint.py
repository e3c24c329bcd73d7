"""The folder of a stream: which program it belongs to, who works in it, and what has been committed."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from anabranch.dataflow.streams.sealed_files import (
    DamagedCheckpoint,
    NotSealed,
    read_sealed,
    write_sealed,
    writing_to,
)
from anabranch.errors import UsageError, shown
from anabranch.operators.formats.addresses import scheme_of, without_secrets

FORMAT = 4  # of all that is written here
_SECONDS_OF_JAVA = 30.0  # that it may outlive the process which started it


class CheckpointError(UsageError):
    """A checkpoint cannot be used for what was asked."""


@dataclass(frozen=True)
class Commit:
    """What is true behind a batch: where the sinks are, and which files hold the state of the tail."""

    batch: int = -1
    entries: int = 0  # that have been processed
    sinks: Mapping[str, Any] = field(default_factory=dict)  # positions, by operator
    state: tuple[str, ...] = ()  # files: a whole, and the changes that followed


def folder_of(given: Any) -> Path:
    """The folder that was named for a checkpoint."""
    if not isinstance(given, str | os.PathLike) or not isinstance(os.fspath(given), str) or not os.fspath(given):
        raise UsageError(f"checkpoint={shown(given)} is no folder", hint="give its path")
    path = os.fspath(given)
    if scheme_of(path) is not None:
        raise CheckpointError(
            f"{without_secrets(path)}: a checkpoint is a folder of a file system, not an address",
            hint="name a folder; with several machines, one on a file system that all of them share",
        )
    if "\0" in path or os.fsencode(path).decode(errors="replace") != path:
        raise CheckpointError(f"{path!r}: Java cannot name this folder", hint="use a name that is text in UTF-8")
    return Path(path)


class Checkpoint:
    """A folder that one run at a time works in. Use as a context: it is locked meanwhile."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(os.path.abspath(folder))
        self._lock: Any = None

    @property
    def spark(self) -> Path:
        """What Spark itself keeps there: offsets, commits, the state of the channels."""
        return self.folder / "spark"

    @property
    def arrivals(self) -> Path:
        return self.folder / "arrivals.jsonl"

    def sink_folder(self, sink: str) -> Path:
        return self.folder / "sinks" / sink

    def told(self) -> AbstractContextManager[None]:
        return writing_to(self.folder)

    # Who works in it ----------------------------------------------------------------------------------------------

    def lock(self) -> None:
        """Take the folder; refused while another run has it, also from another process."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not (self.folder / "lock").exists() and any(self.folder.iterdir()):
                raise CheckpointError(
                    f"{self.folder}: this folder holds files that are not a checkpoint",
                    hint="name one that does not exist yet, or is empty",
                )
            lock = (self.folder / "lock").open("a+", errors="replace")
        except FileExistsError:
            raise CheckpointError(f"{self.folder}: this is a file", hint="name a folder for the checkpoint") from None
        except OSError as problem:
            raise CheckpointError(
                f"{self.folder}: {problem.strerror}", hint="name a folder that can be written"
            ) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            owner = lock.read().split()
            lock.close()
            who = f" (process {owner[0]})" if owner else ""
            raise CheckpointError(
                f"{self.folder}: another run{who} works with this checkpoint",
                hint="stop it first, or use another folder",
            ) from None
        except OSError as problem:
            lock.close()
            raise CheckpointError(
                f"{self.folder}: files cannot be locked there: {problem.strerror}",
                hint="name a folder on a file system that has locks",
            ) from None
        self._lock = lock
        try:
            self._wait_for_java()
            with self.told():
                self._sign(f"{os.getpid()}")
        except BaseException:
            self.unlock()
            raise

    def _wait_for_java(self) -> None:
        """A process that is killed is outlived by its Java for a moment, and that may still write here."""
        self._lock.seek(0)
        owner = self._lock.read().split()
        deadline = time.monotonic() + _SECONDS_OF_JAVA
        while len(owner) == 2 and owner[1].isdecimal() and _is_spark(int(owner[1])):
            if time.monotonic() > deadline:
                self._let_go()  # what it says stays, for the next who asks
                raise CheckpointError(
                    f"{self.folder}: the Java of a run that was killed still works with this checkpoint",
                    hint=f"end that process, whose number is {owner[1]}",
                )
            time.sleep(0.1)

    def java_is(self, process: int | None) -> None:
        """Note the process of Spark's Java, where this one has started it."""
        if process is not None:
            with self.told():
                self._sign(f"{os.getpid()} {process}")

    def _sign(self, text: str) -> None:
        self._lock.seek(0)
        self._lock.truncate()
        self._lock.write(text)
        self._lock.flush()

    def unlock(self) -> None:
        if self._lock is not None:
            with suppress(OSError):  # a disk that is full: then it says who had it, and is not locked
                self._sign("")
            self._let_go()

    def _let_go(self) -> None:
        lock, self._lock = self._lock, None
        with suppress(OSError):
            lock.close()

    # Whose it is --------------------------------------------------------------------------------------------------

    def identity(self) -> dict[str, Any] | None:
        """What was written at the first start; None where that has not come so far that there is anything to keep."""
        if not self._is_begun:
            return None
        path = self.folder / "stream.json"
        try:
            found: dict[str, Any] = json.loads(read_sealed(path))
        except FileNotFoundError:
            raise DamagedCheckpoint(path, "it is missing") from None
        except NotSealed:
            earlier = _without_checksum(path)
            if earlier is None:
                raise
            raise CheckpointError(
                f"{self.folder}: the checkpoint was written by another version of anabranch ({earlier}), without "
                "checksums",
                hint="begin with a new folder and new outputs, or use that version",
            ) from None
        if found["format"] != FORMAT:
            raise CheckpointError(
                f"{self.folder}: the checkpoint was written by another version of anabranch ({found.get('anabranch')})",
                hint="begin with a new folder and new outputs, or use that version",
            )
        return found

    @property
    def _is_begun(self) -> bool:
        has_arrivals = self.arrivals.exists() and self.arrivals.stat().st_size > 0
        return self.spark.exists() or has_arrivals or (self.folder / "commit.json").exists()

    def write_identity(self, identity: Mapping[str, Any]) -> None:
        text = json.dumps({"format": FORMAT, **identity}, indent=1)
        with self.told():
            write_sealed(self.folder / "stream.json", text.encode())

    # What is committed --------------------------------------------------------------------------------------------

    def commit(self) -> Commit | None:
        """The last; None before the first start has come so far."""
        try:
            fields = json.loads(read_sealed(self.folder / "commit.json"))
        except FileNotFoundError:
            return None
        return Commit(**{**fields, "state": tuple(fields["state"])})

    def mend(self) -> None:
        """Spark begins its first batch only where no offsets are, also none that it was stopped or killed writing."""
        found = list((self.spark / "offsets").glob("*")) + list((self.spark / "offsets").glob(".*"))
        if not any(path.name.isdigit() for path in found):
            with self.told():
                for path in found:
                    path.unlink(missing_ok=True)

    def write_commit(self, commit: Commit) -> None:
        """From here on the batch counts as done."""
        with self.told():
            write_sealed(self.folder / "commit.json", json.dumps(asdict(commit)).encode())

    def write_state(self, state: bytes) -> str:
        """A file of its own for some state; its name is for a commit."""
        name = f"{secrets.token_hex(8)}.state"
        folder = self.folder / "tail"
        with self.told():
            folder.mkdir(exist_ok=True)
            write_sealed(folder / name, state)
        return name

    def read_state(self, name: str) -> bytes:
        path = self.folder / "tail" / name
        try:
            return read_sealed(path)
        except FileNotFoundError:
            raise DamagedCheckpoint(path, "it is missing") from None

    def forget_states(self, kept: tuple[str, ...]) -> None:
        """Remove what no commit speaks of."""
        folder = self.folder / "tail"
        for file in folder.iterdir() if folder.exists() else ():
            if file.name not in kept:
                file.unlink(missing_ok=True)


def _is_spark(process: int) -> bool:
    """Whether there is such a process; its number may by now be that of another program."""
    try:
        return b"org.apache.spark" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


def _without_checksum(path: Path) -> str | None:
    """The version of anabranch that began a stream, if it was one that wrote no checksums."""
    try:
        found = json.loads(path.read_bytes())
        return str(found["anabranch"]) if found["format"] < FORMAT else None
    except (OSError, ValueError, TypeError, KeyError):
        return None
