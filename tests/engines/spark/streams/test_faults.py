"""Whoever is killed, and whenever: after a restart the output of a stream is the oracle's, nothing lost, nothing twice.

A stream runs in a process of its own (`killed_stream.py`), while files are moved into the folder that it reads.
"""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from anabranch.dataflow.streams.checkpoint import Checkpoint
from tests.engines.spark.streams.running_streams import Feeder, Running, check, committed, killed, stream, wait_until

KILLED = -signal.SIGKILL
CLUSTER = "local-cluster[2,1,1024]"
POINTS = ("arrival", "stretch", "sync", "state", "commit")  # of `dying.py`


@pytest.fixture
def feeder(tmp_path: Path) -> Feeder:
    return Feeder(tmp_path, seed=1)


def finish(folder: Path, program: str, *options: str) -> None:
    """Let the stream come to its end, and see that its output is the oracle's."""
    (folder / "finish").touch()
    with stream(folder, program, *options) as running:
        assert running.wait() == 0, running.said.read_text()
    check(folder, program)


def kill_java(running: Running) -> None:
    """The process that runs the stream says so, and ends."""
    assert all(map(killed, running.java()))
    assert running.wait() == 1
    said = running.said.read_text()
    assert "SparkError: Spark failed: its Java has ended, or was killed" in said
    assert said.count("Traceback") == 1, "of the program itself, which does not catch the error"


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
    wait_until(lambda: committed(folder) > before + 1 or running.popen.poll() is not None)
    assert running.popen.poll() is None, running.said.read_text()


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
    identity = Checkpoint(tmp_path / "state").identity() or {}
    assert identity["channels"] == {"R1": 4, "R2": 4}, "those of one core, as at the first start"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_java_is_killed(tmp_path: Path, feeder: Feeder, seed: int) -> None:
    for _ in range(2):
        with stream(tmp_path, "chained") as running, feeder.feeding(0.3):
            goes_on(running, tmp_path)
            time.sleep(random.Random(seed).uniform(0, 2))
            kill_java(running)
    finish(tmp_path, "chained")


# At random moments ----------------------------------------------------------------------------------------------------


class Kill(NamedTuple):
    """Who is killed, and when: seconds after the start of a process, or of its stream; or it dies at a point itself."""

    whom: str
    seconds: float
    point: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.whom} {' '.join(self.point)}" if self.point else f"{self.whom} after {self.seconds:.1f} s"


def drawn(program: str, seed: int) -> list[Kill]:
    generator = random.Random(f"{program} {seed}")
    kills = []
    for _ in range(3):
        whom = generator.choice(["the driver", "the driver at", "the driver while it starts", "java", "workers"])
        point: tuple[str, ...] = ()
        if whom == "the driver at":
            name = generator.choice([each for each in POINTS if each != "state" or program == "chained"])
            point = (generator.choice(["before", "after"]), name, str(generator.randint(1, 6)))
        kills.append(Kill(whom, generator.uniform(0, 10 if whom == "the driver while it starts" else 6), point))
    return kills


RANDOM = [(program, seed) for program in ("chained", "branched") for seed in range(6)]


def test_there_are_enough_random_kills_of_every_kind() -> None:
    kills = [kill for program, seed in RANDOM for kill in drawn(program, seed)]
    assert len(kills) == 36
    assert {kill.whom for kill in kills} == {
        "the driver",
        "the driver at",
        "the driver while it starts",
        "java",
        "workers",
    }


@pytest.mark.slow
@pytest.mark.parametrize(("program", "seed"), RANDOM, ids=str)
def test_kills_at_random_moments(tmp_path: Path, program: str, seed: int) -> None:
    feeder = Feeder(tmp_path, seed)
    for number, kill in enumerate(drawn(program, seed)):
        print(f"{number}: {kill}")  # shown where the test fails
        options = ("--channels", "3", *(("--die", *kill.point) if kill.point else ()))
        every = random.Random(f"{program} {seed} {number}").uniform(0.2, 0.6)
        with stream(tmp_path, program, *options) as running, feeder.feeding(every):
            if kill.point:
                assert running.wait() == KILLED
                continue
            if kill.whom != "the driver while it starts":
                running.wait_for("started")
            time.sleep(kill.seconds)
            if kill.whom == "workers":
                kill_workers(running, tmp_path)
            if kill.whom == "java":
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
