"""What a second channel brings where operators are busy: 50 µs of Python for each tuple, and nobody sleeps."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import anabranch as ab
from benchmarks.spark import ours
from benchmarks.spark.host import Host
from benchmarks.spark.race import Answer, Contestant, Times, race

MICROSECONDS = 50
ONE, TWO = "1 channel", "2 channels"


class Task(NamedTuple):
    """It says itself how much work it is, so that programs are the same on a fast machine and on a slow one."""

    a: int
    b: int
    steps: int
    value: int


def mixed(value: int, steps: int) -> int:
    for step in range(steps):
        value = (value * 31 + step) % 1_000_003
    return value


class Worker:
    def __init__(self) -> None:
        self.value = 0

    def process(self, task: Task) -> Iterator[Task]:
        self.value = mixed(self.value + task.value, task.steps)
        yield Task(task.a, task.b, task.steps, self.value)


class Checksum:
    """Nothing but the last sum leaves, so that there is something to compare and nothing to write."""

    def __init__(self) -> None:
        self.value = 0

    def process(self, task: Task) -> None:
        self.value = (self.value * 31 + task.value) % 1_000_003

    def finish(self) -> Iterator[Task]:
        yield Task(0, 0, 0, self.value)


def tasks(count: int, steps: int) -> ab.Stream[Task]:
    return ab.beacon(
        Task, lambda number: Task(number * 7919 % 10_007, number * 104_729 % 1_009, steps, number), count=count
    )


def run_one_region(session: Any, count: int, steps: int, channels: int) -> Answer:
    return _sum(session, tasks(count, steps).process(Worker, key="a"), channels)


def run_two_regions(session: Any, count: int, steps: int, channels: int) -> Answer:
    return _sum(session, tasks(count, steps).process(Worker, key="a").process(Worker, key="b"), channels)


def _sum(session: Any, stream: ab.Stream[Task], channels: int) -> Answer:
    # Native code would be done in a moment.
    result = ours.run(session, stream.process(Checksum).collect("sum"), channels=channels, form="python")
    return {"sum": result.items("sum")[0].value}


def contest(count: int, rounds: int, *, has_shuffle: bool) -> Times:
    function = f"benchmarks.spark.busy:run_{'two_regions' if has_shuffle else 'one_region'}"
    with Host("busy") as host:
        steps = host.do("benchmarks.spark.busy:calibrate")["steps"]
        contestants = [
            Contestant(name, host, function, {"count": count, "steps": steps, "channels": channels})
            for channels, name in enumerate((ONE, TWO), 1)
        ]
        return race(contestants, rounds, _must_agree)


def _must_agree(answers: dict[str, Answer]) -> None:
    sums = {name: answer["sum"] for name, answer in answers.items()}
    assert len(set(sums.values())) == 1, f"not the same tuples in the same order: {sums}"


def calibrate(session: Any) -> Answer:
    """How many steps are 50 µs on one core of this machine."""
    steps, fastest = 1_000, float("inf")
    for _ in range(200):
        start = time.perf_counter()
        mixed(1, steps)
        fastest = min(fastest, time.perf_counter() - start)
    return {"steps": max(1, round(steps * MICROSECONDS * 1e-6 / fastest))}
