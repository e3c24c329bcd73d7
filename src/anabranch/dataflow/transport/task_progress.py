"""How far the tasks of a run are, while they run: each writes a small file, and the driver adds them up.

Only what is shown on a terminal depends on it: where workers see another file system than the driver, nothing is shown
until the end.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from anabranch.dataflow.result import Flow, Metrics

_EVERY = 0.25  # seconds


class Reporter:
    """In a task: says that it has begun, and now and then what has gone through it."""

    def __init__(self, folder: str, place: str, task: str | None = None) -> None:
        """`task` is the name of one that may be tried again: of all attempts at it, only the last counts."""
        self.flow = Flow()
        self._file = Path(folder) / f"{place}-{task or f'{os.getpid()}-{time.time_ns()}'}.json"
        self._is_seen = os.path.isdir(folder)
        self._place = place
        self._due = 0.0
        self.write()

    def add(self, received: int, emitted: int) -> None:
        self.flow.received += received
        self.flow.emitted += emitted
        if self._is_seen and time.monotonic() >= self._due:
            self.write()

    def write(self) -> None:
        if not self._is_seen:
            return
        self._due = time.monotonic() + _EVERY
        part = self._file.with_suffix(f".{os.getpid()}")
        try:
            part.write_text(json.dumps([self._place, self.flow.received, self.flow.emitted]))
            part.replace(self._file)
        except OSError:  # the run has ended, or the disk is full: either way it is not worth an error
            self._is_seen = False


@contextmanager
def watched(metrics: Metrics, folder: str) -> Iterator[None]:
    """While a job runs, what its reporters say in a folder is in the figures, by place; and at the end all of it."""
    stop = threading.Event()
    watcher = threading.Thread(target=_watch, args=(Path(folder), metrics, stop), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


def _watch(folder: Path, metrics: Metrics, stop: threading.Event) -> None:
    began: dict[str, float] = {}
    is_over = False
    while not is_over:
        is_over = stop.wait(_EVERY)
        metrics.flows = timed(reported(folder), metrics.flows, began, time.perf_counter())


def timed(flows: dict[str, Flow], known: dict[str, Flow], began: dict[str, float], now: float) -> dict[str, Flow]:
    """Flows with their seconds: from when a place was first heard of to when it last had something new to say."""
    found = {}
    for place, flow in flows.items():
        before, first = known.get(place, Flow()), began.setdefault(place, now)
        is_new = (flow.received, flow.emitted) != (before.received, before.emitted)
        found[place] = replace(flow, seconds=now - first if is_new else before.seconds)
    return found


def join_reports(folder: Path) -> None:
    """Between two jobs of a run: what all tasks have said so far in one file for each place. There may be many jobs."""
    files = list(folder.glob("*.json"))
    flows = reported(folder)
    for file in files:
        file.unlink(missing_ok=True)
    for number, (place, flow) in enumerate(flows.items()):
        with suppress(OSError):  # as above
            (folder / f"before-{number}.json").write_text(json.dumps([place, flow.received, flow.emitted]))


def reported(folder: Path) -> dict[str, Flow]:
    """What the tasks of each place have said last, added up."""
    flows: dict[str, Flow] = {}
    for file in folder.rglob("*.json"):
        try:
            place, received, emitted = json.loads(file.read_text())
        except (OSError, ValueError):
            continue
        flow = flows.setdefault(place, Flow())
        flow.received += received
        flow.emitted += emitted
    return dict(sorted(flows.items()))
