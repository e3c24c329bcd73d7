"""`anabranch run --stream` ends when it is told to, and a later start goes on from there."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

import anabranch as ab
from tests.engines.spark.streams.killed_stream import chained
from tests.engines.spark.streams.running_streams import Feeder, Running, committed, wait_until

APP = """
from pathlib import Path
import anabranch as ab
from tests.engines.spark.streams import killed_stream

@ab.app
def chained(folder: str):
    killed_stream.chained(Path(folder) / "in", Path(folder))
"""


@pytest.mark.slow
def test_signals_stop_a_stream_cleanly_and_it_goes_on_later(tmp_path: Path) -> None:
    feeder = Feeder(tmp_path, seed=3)
    feeder.feed(2)
    app = tmp_path / "app.py"
    app.write_text(APP)
    command = ("-m", "anabranch.cli", "run", str(app), "--folder", str(tmp_path), "--engine", "spark", "--stream")
    options = ("--checkpoint", str(tmp_path / "state"), "--batch-mb", "0.05", "--channels", "2")
    sizes: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        running = Running(tmp_path, *command, *options)
        try:
            before = committed(tmp_path)
            with feeder.feeding(0.5):
                wait_until(lambda: committed(tmp_path) > before + 1 or running.popen.poll() is not None)
                assert running.popen.poll() is None, running.said.read_text()
                # As terminals do, and `timeout`: all of its processes get it, and Java ends too at the second.
                os.killpg(running.popen.pid, number)
                assert running.wait() == 130, running.said.read_text()
            said = running.said.read_text()
            first, *meanwhile, last = said.splitlines()  # a line every ten seconds that it takes to start
            assert all(each.startswith(("chained: starting Spark · ", "chained: first batch · ")) for each in meanwhile)
            assert first == "chained: starting Spark; Ctrl-C stops the stream"
            assert last.startswith("stopped: "), said
            assert last.endswith("; start it again with the same --checkpoint to go on"), said
            assert (tmp_path / "state" / "lock").read_text() == ""
            sizes.append((tmp_path / "chained.csv").read_bytes().count(b"\n"))
        finally:
            running.end()
        assert list(running.scratch.iterdir()) == []
    expected = tmp_path / "expected"
    expected.mkdir()
    ab.run(*chained(tmp_path / "in", expected), engine="sequential")
    written = (tmp_path / "chained.csv").read_bytes()
    assert (expected / "chained.csv").read_bytes().startswith(written)
    assert written.count(b"\n") > sizes[0] > 100
