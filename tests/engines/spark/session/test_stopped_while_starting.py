"""Ctrl-C and SIGTERM end a run alike from its first second, and leave no Java, no folder of the run's and no output."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engines.spark.session.test_kinds_of_sessions import ROOT

APP = """
import time
from typing import Iterator, NamedTuple
import anabranch as ab

{first}

class Number(NamedTuple):
    n: int

class Sums:
    def __init__(self) -> None:
        self.total = 0

    def process(self, number: Number) -> Iterator[Number]:
        self.total += number.n
        yield Number(self.total % 100)

def numbered(n: int) -> Number:
    return Number(n % 7)

@ab.app
def app(*, out: str = "out.csv") -> None:
    ab.beacon(Number, numbered, count=50_000_000).process(Sums, key="n").write_csv(out)

if __name__ == "__main__":
    try:
        ab.run(app(), engine="spark")
    except KeyboardInterrupt:
        print("as the program likes it")
"""
COMMANDS = {
    "a run": ["-m", "anabranch", "run", "app.py", "--engine", "spark"],
    "a stream": ["-m", "anabranch", "run", "app.py", "--engine", "spark", "--stream", "--checkpoint", "state"],
    "a program": ["app.py"],
}
SAID = {"a run": "stopped ", "a stream": "stopped before it began", "a program": "as the program likes it"}
signals = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)


def stopped(folder: Path, what: str, number: int, is_time: Callable[[Path], bool]) -> str:
    """What a run says that gets a signal at that time."""
    temporary = folder / "tmp"
    temporary.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TMPDIR": str(temporary)}
    process = subprocess.Popen(
        [sys.executable, *COMMANDS[what]],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not is_time(temporary) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    text, _ = process.communicate(timeout=60)
    assert process.returncode == (0 if what == "a program" else 130), text
    deadline = time.monotonic() + 10  # a Java that has been met ends by itself
    while (javas(temporary) or own_folders(temporary)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert javas(temporary) == []
    assert own_folders(temporary) == []
    assert not (folder / "out.csv").exists()
    return text


def own_folders(temporary: Path) -> list[Path]:
    """What the run has not removed. A Java that ends behind it may write once more, which a later start removes."""
    return [each for each in temporary.iterdir() if (each / "lock").exists()]


def javas(folder: Path) -> list[str]:
    """Processes that were told of the folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.fsencode(folder) in (process / "cmdline").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


@signals
@pytest.mark.parametrize("what", COMMANDS)
def test_while_java_starts(tmp_path: Path, what: str, number: int) -> None:
    """It has been told of its folder, and has not told anybody yet where it is."""
    (tmp_path / "app.py").write_text(APP.format(first=""))
    text = stopped(tmp_path, what, number, lambda temporary: bool(javas(temporary)))
    assert SAID[what] in text
    assert "Traceback" not in text


@signals
def test_while_spark_starts_in_java(tmp_path: Path, number: int) -> None:
    (tmp_path / "app.py").write_text(APP.format(first=""))
    text = stopped(tmp_path, "a run", number, lambda temporary: any(temporary.glob("anabranch-spark-*/*")) and _later())
    assert "stopped after" in text
    assert "Traceback" not in text


def _later() -> bool:
    time.sleep(2.5)
    return True


@signals
def test_while_the_app_is_loaded(tmp_path: Path, number: int) -> None:
    (tmp_path / "app.py").write_text(APP.format(first="open('loading', 'w').close()\ntime.sleep(30)"))
    text = stopped(tmp_path, "a run", number, lambda _: (tmp_path / "loading").exists())
    assert text == "stopped before it began\n"
