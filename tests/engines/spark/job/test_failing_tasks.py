"""Whatever fails while a job runs, the output is the oracle's: what was lost is done again, and nothing twice."""

from __future__ import annotations

import os
import random
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines.on_transport import run_on
from anabranch.engines.spark.job.exchange import SparkTransport
from anabranch.graph.model import Graph
from anabranch.run import as_program
from tests.dataflow.layout.test_rounds_exactly import pages
from tests.dataflow.outcomes import expected, outcome
from tests.engines.spark.conftest import OWNER
from tests.engines.spark.runs.test_engine import Item, Many, Running, numbers


def busy(item: Item) -> Item:
    """Some 50 µs of work."""
    total = 0
    for n in range(700):
        total += n & item.n
    return Item(item.n, item.s if total >= 0 else "")


def workers() -> list[int]:
    """The Python workers of this process's Spark, their daemon, and workers that have outlived theirs."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            is_worker = b"pyspark.daemon" in (folder / "cmdline").read_bytes()
            if is_worker and f"{OWNER}={os.getpid()}\0".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:  # it has ended
            continue
    return found


def killing(seed: int, kills: int, killed: list[int], stop: threading.Event) -> None:
    generator = random.Random(seed)
    while len(killed) < kills and not stop.wait(generator.uniform(0.2, 0.6)):
        found = workers()
        if found:
            victim = generator.choice(found)
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                continue
            killed.append(victim)


def check_with_kills(session: Any, seed: int, kills: int) -> None:
    stream = numbers(60_000).map(busy).process(Running, key="n").process(Many, key="s").map(busy)
    program = stream.collect("out")
    expected = ab.run(program, engine="fused").items("out")
    killed: list[int] = []
    stop = threading.Event()
    thread = threading.Thread(target=killing, args=(seed, kills, killed, stop))
    thread.start()
    try:
        result = ab.run(program, engine="spark", spark=session, channels=2)
    finally:
        stop.set()
        thread.join()
    assert killed, f"nobody was killed in time: {result.metrics.notes}"
    assert result.items("out") == expected


def test_workers_that_are_killed_are_replaced(session: Any) -> None:
    check_with_kills(session, seed=1, kills=2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_workers_that_are_killed_at_random_are_replaced(session: Any, seed: int) -> None:
    check_with_kills(session, seed=seed, kills=3)


def dying_once(marker: Path) -> Any:
    """An operator that ends its worker process at the first tuple of 7 that any of its channels sees."""

    @ab.declare(state="partitioned", because="the marker is only there to fail once")
    class Dying:
        def __init__(self) -> None:
            self.count = 0

        def process(self, item: Item) -> Item:
            self.count += 1
            if item.n == 7:
                try:
                    os.close(os.open(str(marker), os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    pass
                else:
                    os._exit(1)
            return Item(item.n * 10 + self.count, item.s)

    return Dying


def test_a_task_that_fails_at_its_first_attempt_is_done_again(session: Any, tmp_path: Path) -> None:
    marker = tmp_path / "failed"

    def graph() -> Graph:
        stream = numbers(5_000).process(dying_once(marker), key="n").process(Many, key="s")
        return as_program(stream.collect("out")).graph

    found = outcome(run_on, SparkTransport(session), compile(graph()), Metrics(), channels=2, stretch=500)
    assert marker.exists(), "nobody died"
    assert found == expected(graph())  # which would die of it, had nobody before


class Apart(SparkTransport):
    """A session whose workers are taken to be elsewhere: all rows are moved by Spark."""

    shares_files = False  # type: ignore[assignment]  # a property of the class


def test_rows_that_spark_moves_itself_arrive_as_they_were(session: Any) -> None:
    stream = numbers(20_000).process(Running, key="n").process(Many, key="s")
    graph = as_program(stream.collect("out"), stream.process(Running, key="s").collect("other")).graph
    found = outcome(run_on, Apart(session), compile(graph), Metrics(), channels=2, stretch=1_000)
    assert found == expected(graph)


def test_what_channels_keep_from_round_to_round_is_moved_by_spark_itself(session: Any) -> None:
    graph = pages().graph
    assert outcome(run_on, Apart(session), compile(graph), Metrics(), channels=2, stretch=7) == expected(graph)
