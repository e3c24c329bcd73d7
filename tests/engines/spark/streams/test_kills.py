"""Whoever is killed, and whenever: after a restart the output of a stream is the oracle's, nothing lost, nothing twice.

A stream runs in a process of its own (`killed_stream.py`), while files are moved into the folder that it reads.
"""

from __future__ import annotations

import json
import random
import signal
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import anabranch as ab
from tests.engines.spark.streams.killed_stream import POINTS, PROGRAMS
from tests.engines.spark.streams.running_streams import Feeder, Running, committed, killed, stream, wait_until

KILLED = -signal.SIGKILL
CLUSTER = "local-cluster[2,1,1024]"


@pytest.fixture
def feeder(tmp_path: Path) -> Feeder:
    return Feeder(tmp_path, seed=1)


def finish(folder: Path, program: str, *options: str) -> None:
    """Let the stream come to its end, and see that its output is the oracle's."""
    (folder / "finish").touch()
    with stream(folder, program, *options) as running:
        assert running.wait() == 0, running.said.read_text()
    check(folder, program)


def check(folder: Path, program: str) -> None:
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


def kill_java(running: Running) -> None:
    """The process that runs the stream says so, and ends."""
    assert all(map(killed, running.java()))
    assert running.wait() == 1
    assert "SparkError: Spark failed: its Java has ended, or was killed" in running.said.read_text()


def kill_workers(running: Running, folder: Path) -> None:
    """Their tasks are tried again by others, and the stream goes on."""
    wait_until(running.workers)
    assert True in list(map(killed, running.workers()))
    goes_on(running, folder)


def kill_executor(running: Running, folder: Path) -> None:
    assert killed(running.executors()[0])
    goes_on(running, folder)


def goes_on(running: Running, folder: Path) -> None:
    """Batches are committed that were not begun yet."""
    before = committed(folder)
    wait_until(lambda: committed(folder) > before + 1 or running.process.poll() is not None)
    assert running.process.poll() is None, running.said.read_text()


def test_workers_are_killed_and_then_the_driver_between_a_commit_of_ours_and_that_of_spark(
    tmp_path: Path, feeder: Feeder
) -> None:
    die = ("--die", "after", "commit", "6")  # the first call is that of the start
    with stream(tmp_path, "chained", "--master", "local[1,4]", *die) as running:
        with feeder.feeding(0.3):
            wait_until(lambda: committed(tmp_path) >= 0)
            assert True in list(map(killed, running.workers()))
            assert running.wait() == KILLED, "their tasks are tried again by others, up to the batch in which it dies"
        assert committed(tmp_path) == 4
        finish(tmp_path, "chained")  # at once, with the Java of the one before still there
    channels = json.loads((tmp_path / "state" / "stream.json").read_text())["channels"]
    assert channels == {"R1": 4, "R2": 4}, "those of one core, as at the first start"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_java_is_killed(tmp_path: Path, feeder: Feeder, seed: int) -> None:
    for _ in range(2):
        with stream(tmp_path, "chained") as running, feeder.feeding(0.3):
            goes_on(running, tmp_path)
            time.sleep(random.Random(seed).uniform(0, 2))
            kill_java(running)
    finish(tmp_path, "chained")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("program", ["chained", "branched"])
def test_kills_at_random_moments(tmp_path: Path, program: str, seed: int) -> None:
    """Three kills for each stream: 36 in all."""
    generator = random.Random(f"{program} {seed}")
    feeder = Feeder(tmp_path, seed)
    for _ in range(3):
        kind = generator.choice(["at a point", "at a moment", "while it starts", "java", "workers"])
        point = generator.choice([each for each in POINTS if each != "state" or program == "chained"])
        die = ("--die", generator.choice(["before", "after"]), point, str(generator.randint(1, 6)))
        options = ("--channels", "3", *(die if kind == "at a point" else ()))
        with stream(tmp_path, program, *options) as running, feeder.feeding(generator.uniform(0.2, 0.6)):
            if kind == "at a point":
                assert running.wait() == KILLED
                continue
            if kind == "while it starts":
                time.sleep(generator.uniform(0, 10))
            else:
                running.wait_for("started")
                time.sleep(generator.uniform(0, 6))
            if kind == "workers":
                kill_workers(running, tmp_path)
            if kind == "java":
                kill_java(running)
            else:
                running.kill()
    finish(tmp_path, program)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_executors_of_a_cluster_are_killed(tmp_path: Path, feeder: Feeder, seed: int) -> None:
    generator = random.Random(seed)
    with stream(tmp_path, "chained", "--master", CLUSTER) as running, feeder.feeding(0.4):
        goes_on(running, tmp_path)
        for _ in range(2):
            time.sleep(generator.uniform(0, 2))
            kill_executor(running, tmp_path)
        running.kill()
    finish(tmp_path, "chained", "--master", CLUSTER if seed == 0 else "local[2,4]")
