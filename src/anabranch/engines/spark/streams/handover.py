"""How the batches of a stream come from a Spark Connect server to this process: through a folder that both see.

Over Connect, Spark calls the function for its batches in a process of the server, and the sinks are in this one. So the
function puts the rows of a batch into a file, and returns when it is told that they were committed, as if it had done
it itself. Each side holds a file locked for as long as it lives, by which the other knows when it has ended.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from anabranch.dataflow.streams.checkpoint import Checkpoint, CheckpointError
from anabranch.dataflow.streams.sealed_files import read_sealed, write_sealed
from anabranch.errors import in_words

_OFTEN = 0.01  # seconds
_SECONDS_TO_END = 60.0  # that a query may outlive the process which started it
_CLIENT, _SERVER = "client", "server"


@dataclass(frozen=True)
class Handover:
    """The folder of one run, within its checkpoint. It travels to the server."""

    folder: Path

    @property
    def has_client(self) -> bool:
        """Whether the process lives that takes the batches, as far as can be seen from here."""
        return _is_held(self.folder / _CLIENT)

    @property
    def has_server(self) -> bool:
        """Whether the process lives that gives them, which is as long as Spark's query."""
        return _is_held(self.folder / _SERVER)

    def must_have_client(self) -> None:
        if not self.has_client:
            raise RuntimeError("nobody takes the batches of this stream any more")


def _is_held(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False


def _held(path: Path) -> BinaryIO:
    file = path.open("ab")
    fcntl.flock(file, fcntl.LOCK_EX)  # whoever looks whether it is held has it for a moment
    return file


def _place(checkpoint: Checkpoint) -> Path:
    return checkpoint.folder / "connect"


def await_servers(checkpoint: Checkpoint) -> None:
    """See that no query is left of a run that was killed: it ends by itself, and could still write until then."""
    place = _place(checkpoint)
    deadline = time.monotonic() + _SECONDS_TO_END
    for folder in place.iterdir() if place.exists() else ():
        while Handover(folder).has_server:
            if time.monotonic() > deadline:
                raise CheckpointError(
                    f"{checkpoint.folder}: the query of a run that was killed still works with this checkpoint, on a "
                    "Spark Connect server",
                    hint="stop that query, or end the server",
                )
            time.sleep(_OFTEN)
        shutil.rmtree(folder, ignore_errors=True)


class Giver:
    """In the server: what Spark calls with each batch."""

    def __init__(self, handover: Handover) -> None:
        self._handover = handover

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Made again in the process that Spark starts for a query, which ends when the query has."""
        vars(self).update(state)
        self._held = _held(self._handover.folder / _SERVER)
        self._handover.must_have_client()

    def __call__(self, frame: Any, number: int) -> None:
        folder = self._handover.folder
        _write(frame.toArrow(), folder / f"{number}.arrow")
        answer = folder / f"{number}.answer"
        while not answer.exists():
            self._handover.must_have_client()
            time.sleep(_OFTEN)
        said = read_sealed(answer).decode()
        answer.unlink()
        if said:
            raise RuntimeError(said)


def _write(table: pa.Table, path: Path) -> None:
    into = pa.BufferOutputStream()
    with pa.ipc.new_file(into, table.schema) as writer:
        writer.write_table(table)
    write_sealed(path, into.getvalue().to_pybytes())


class Taker:
    """In this process: a thread that takes the batches, in the place of the one in which Spark would call."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.handover = Handover(_place(checkpoint) / secrets.token_hex(8))
        self.handover.folder.mkdir(parents=True)
        self._held = _held(self.handover.folder / _CLIENT)
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def is_taking(self) -> bool:
        return self._thread is not None

    def start(self, batch: Callable[[Any, int], None]) -> None:
        self._thread = threading.Thread(target=self._work, args=(batch,), daemon=True)
        self._thread.start()

    def _work(self, batch: Callable[[Any, int], None]) -> None:
        try:
            while not self._over.wait(_OFTEN):
                for name in os.listdir(self.handover.folder):
                    if name.endswith(".arrow"):
                        self._take(self.handover.folder / name, batch)
        except OSError:  # the folder has gone, or the disk is full
            return
        finally:
            self._held.close()  # the other side does not wait for an answer that will not come

    def _take(self, path: Path, batch: Callable[[Any, int], None]) -> None:
        said = ""
        try:
            batch(_Given(path), int(path.stem))
        except BaseException as problem:  # Spark is told, and ends the query
            said = in_words(problem) or "failed"
        path.unlink()
        write_sealed(path.with_suffix(".answer"), said.encode(errors="replace"))

    def close(self) -> None:
        """Nothing more is taken. Where the other side has not ended yet, the next start waits for that."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        self._held.close()
        if not self.handover.has_server:
            shutil.rmtree(self.handover.folder, ignore_errors=True)


class _Given:
    """The rows of a batch, as Spark's own frame would give them."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def toArrow(self) -> pa.Table:
        return pa.ipc.open_file(pa.py_buffer(read_sealed(self._path))).read_all()
