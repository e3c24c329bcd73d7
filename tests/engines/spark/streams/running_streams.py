"""Processes of their own that run streams, and those that Spark starts for them: to be found, and to be killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq

import anabranch as ab
from anabranch.dataflow.streams.checkpoint import Checkpoint, Commit
from tests.engines.spark.session.test_kinds_of_sessions import ROOT
from tests.engines.spark.streams.killed_stream import PROGRAMS, Item

ROWS = 600  # of a file
MOST_WAITING = 12  # files that have not been processed yet


class Running:
    """A process in a session and with a folder for temporary files of its own, by which all its children are known."""

    def __init__(self, folder: Path, *command: str) -> None:
        self.scratch = Path(tempfile.mkdtemp(prefix="scratch-", dir=folder))
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("SPARK", "PYSPARK"))},
            "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
            "TMPDIR": str(self.scratch),
            "JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={self.scratch}",
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
        }
        self.said = self.scratch.with_suffix(".txt")
        with self.said.open("w") as said:
            self.popen = subprocess.Popen(
                [sys.executable, *command], cwd=ROOT, env=environment, stdout=said, stderr=said, start_new_session=True
            )

    def wait(self, seconds: float = 400) -> int:
        return self.popen.wait(seconds)

    def wait_for(self, text: str) -> None:
        wait_until(lambda: text in self.said.read_text() or self.popen.poll() is not None)
        assert text in self.said.read_text(), self.said.read_text()

    def kill(self) -> None:
        self.popen.kill()
        self.wait()

    # Its children -------------------------------------------------------------------------------------------------

    def children(self, *words: str) -> list[int]:
        """Processes of Spark's with these words in their commands."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                environment = (folder / "environ").read_bytes()
                command = (folder / "cmdline").read_bytes().decode(errors="replace")
            except OSError:  # it has ended, or is not ours
                continue
            is_ours = f"TMPDIR={self.scratch}\0".encode() in environment and int(folder.name) != self.popen.pid
            if is_ours and all(word in command for word in words):
                found.append(int(folder.name))
        return found

    def java(self) -> list[int]:
        return self.children("org.apache.spark.deploy.SparkSubmit")

    def workers(self) -> list[int]:
        """Those who run tasks: children of a daemon, which is a child of Java."""
        daemons = self.children("pyspark.daemon\0pyspark.worker")
        return [pid for pid in daemons if _parent(pid) in daemons]

    def executors(self) -> list[int]:
        return self.children("CoarseGrainedExecutorBackend")

    def end(self) -> None:
        """Nobody stays behind: those that were left alone end by themselves, within a moment."""
        if self.popen.poll() is None:
            self.kill()
        try:
            wait_until(lambda: not self.children(), 120)
        except TimeoutError:
            for pid in self.children():
                killed(pid)
            raise


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def killed(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def wait_until(is_so: object, seconds: float = 400) -> None:
    assert callable(is_so)
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {seconds} s")
        time.sleep(0.05)


@contextmanager
def stream(folder: Path, program: str, *options: str) -> Iterator[Running]:
    """A process that runs a program on the files in a folder."""
    module = "dying" if "--die" in options else "killed_stream"
    running = Running(folder, "-m", f"tests.engines.spark.streams.{module}", program, str(folder), *options)
    try:
        yield running
    finally:
        running.end()


def committed(folder: Path) -> int:
    """The last batch that was committed."""
    return _commit(folder).batch


def _commit(folder: Path) -> Commit:
    return Checkpoint(folder / "state").commit() or Commit()


def check(folder: Path, program: str) -> None:
    """The output of a stream that has come to its end is the oracle's."""
    expected = folder / "expected"
    expected.mkdir()
    result = ab.run(*PROGRAMS[program](folder / "in", expected), engine="sequential")
    for name, items in result.collected.items():
        assert (folder / f"{name}.collected").read_text() == repr(items)
    for path in expected.iterdir():
        if path.name == "pairs":
            assert pq.read_table(folder / "pairs").to_pylist() == pq.read_table(path).to_pylist()
        else:
            assert (folder / path.name).read_bytes() == path.read_bytes()
        assert path.stat().st_size > 1_000, "there is little to compare"


class Feeder:
    """Moves files into a folder, named in the order in which they arrive."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.stream = folder
        self.folder = folder / "in"
        self.folder.mkdir()
        self.random = random.Random(seed)
        self.count = 0

    def feed(self, files: int = 1) -> None:
        for _ in range(files):
            name = f"{self.count:05}.csv"
            part = self.folder / f".{name}"
            part.write_text("n,s,ts\n" + "".join(map(self._row, range(self.count * ROWS, (self.count + 1) * ROWS))))
            part.rename(self.folder / name)
            self.count += 1

    def _row(self, number: int) -> str:
        item = Item(self.random.randrange(200), self.random.choice("abcdefghij"), number / 10)
        return f"{item.n},{item.s},{item.ts}\n"

    @contextmanager
    def feeding(self, every: float) -> Iterator[None]:
        """Move files in all the while, as long as the stream keeps up with them."""
        over = threading.Event()

        def work() -> None:
            while not over.wait(every):
                if self.count < _commit(self.stream).entries + MOST_WAITING:
                    self.feed()

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
