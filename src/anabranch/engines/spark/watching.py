"""How far the tasks of a run are, while they run: each writes a small file, and the driver adds them up.

Only what is shown on a terminal depends on it: where workers see another file system than the driver, nothing is shown
until the end.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anabranch.engines.base import Flow, Metrics
from anabranch.errors import RunError

_EVERY = 0.25  # seconds
_MOST_TRIES = 20


class Reporter:
    """In a task: says now and then what has gone through it."""

    def __init__(self, folder: str, place: str) -> None:
        self.flow = Flow()
        self._file = Path(folder) / f"{place}-{os.getpid()}-{time.time_ns()}.json"
        self._is_seen = os.path.isdir(folder)
        self._place = place
        self._due = 0.0

    def add(self, received: int, emitted: int) -> None:
        self.flow.received += received
        self.flow.emitted += emitted
        if self._is_seen and time.monotonic() >= self._due:
            self.write()

    def write(self) -> None:
        if not self._is_seen:
            return
        self._due = time.monotonic() + _EVERY
        part = self._file.with_suffix(".part")
        try:
            part.write_text(json.dumps([self._place, self.flow.received, self.flow.emitted]))
            part.replace(self._file)
        except OSError:  # the run has ended, or the disk is full: either way it is not worth an error
            self._is_seen = False


@contextmanager
def watched(metrics: Metrics) -> Iterator[str]:
    """While a job runs: a folder for its reporters, and the flows of its places in the figures."""
    try:
        folder = tempfile.mkdtemp(prefix="anabranch-")
    except OSError as problem:
        raise RunError(f"there is no room for temporary files: {problem}", hint="set TMPDIR to a folder") from None
    stop = threading.Event()
    watcher = threading.Thread(target=_watch, args=(Path(folder), metrics, stop), daemon=True)
    watcher.start()
    try:
        yield folder
    finally:
        stop.set()
        watcher.join()
        _remove(folder)


def _remove(folder: str) -> None:
    """Tasks of a run that was broken off go on for a moment, and may write while the folder is being removed."""
    for _ in range(_MOST_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.exists(folder):
            return
        time.sleep(_EVERY)


def _watch(folder: Path, metrics: Metrics, stop: threading.Event) -> None:
    while not stop.wait(_EVERY):
        flows: dict[str, Flow] = {}
        for file in folder.rglob("*.json"):
            try:
                place, received, emitted = json.loads(file.read_text())
            except (OSError, ValueError):
                continue
            flow = flows.setdefault(place, Flow())
            flow.received += received
            flow.emitted += emitted
        metrics.flows = dict(sorted(flows.items()))
