"""Whether memory grows with the input: a shuffled program on ten times as many tuples of the same keys."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.spark.host import FOLDER, Host
from benchmarks.spark.inputs import pairs_file, pairs_repeated

TIMES = 10
_EVERY = 0.1  # seconds
_PAGE = os.sysconf("SC_PAGE_SIZE")
MEGABYTE = 1 << 20


@dataclass
class Peak:
    """In bytes, each its own largest; `workers` is all of Spark: the Python workers and the JVM at one moment."""

    workers: int = 0
    python: int = 0
    jvm: int = 0
    driver: int = 0

    def note(self, driver: int, sizes: dict[int, tuple[str, int]]) -> None:
        jvm = sum(size for name, size in sizes.values() if name == "java")
        python = sum(size for name, size in sizes.values() if name.startswith("python"))
        self.workers = max(self.workers, jvm + python)
        self.python, self.jvm, self.driver = max(self.python, python), max(self.jvm, jvm), max(self.driver, driver)


def peaks(count: int, rounds: int) -> list[tuple[Peak, Peak]]:
    """On `count` tuples and on ten times as many, each in a session of its own, in rounds."""
    few, many = pairs_file(count), pairs_repeated(count, TIMES)
    return [(_peak(few), _peak(many)) for _ in range(rounds)]


def _peak(pairs: str) -> Peak:
    with Host("memory") as host, _sampled(host.pid) as peak:
        host.do("benchmarks.spark.pairs:run_shuffled", pairs=pairs, out=str(FOLDER / "shuffled.csv"))
    return peak


@contextmanager
def _sampled(pid: int) -> Iterator[Peak]:
    peak, done = Peak(), threading.Event()

    def sample() -> None:
        while not done.wait(_EVERY):
            sizes = _resident_below(pid)
            peak.note(sizes.pop(pid)[1] if pid in sizes else 0, sizes)

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()


def _resident_below(root: int) -> dict[int, tuple[str, int]]:
    """The name and the resident bytes of a process and of all that it has started."""
    found = {}
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                head, _, rest = (folder / "stat").read_text().rpartition(")")
                pages = int((folder / "statm").read_text().split()[1])
            except OSError:  # it has just ended
                continue
            parents[int(folder.name)] = int(rest.split()[1])
            found[int(folder.name)] = head.partition("(")[2], pages * _PAGE
    return {pid: each for pid, each in found.items() if _is_below(pid, root, parents)}


def _is_below(pid: int, root: int, parents: dict[int, int]) -> bool:
    while pid != root and pid in parents:
        pid = parents[pid]
    return pid == root
