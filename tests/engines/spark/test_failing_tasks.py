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
from tests.engines.spark.test_engine import Item, Many, Running, numbers


def busy(item: Item) -> Item:
    """Some 50 µs of work."""
    total = 0
    for n in range(700):
        total += n & item.n
    return Item(item.n, item.s if total >= 0 else "")


def workers() -> list[int]:
    """The Python workers of this process's Spark: children of a daemon, which is a grandchild of ours."""
    parents: dict[int, int] = {}
    daemons = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            pid, stat = int(folder.name), (folder / "stat").read_text()
            if b"pyspark" in (folder / "cmdline").read_bytes():
                daemons.append(pid)
        except OSError:
            continue
        parents[pid] = int(stat.rpartition(")")[2].split()[1])
    return [pid for pid in daemons if parents[pid] in daemons and _is_ours(pid, parents)]


def _is_ours(pid: int, parents: dict[int, int]) -> bool:
    while pid in parents:
        pid = parents[pid]
        if pid == os.getpid():
            return True
    return False


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
    assert killed, "nobody was killed in time"
    assert result.items("out") == expected


def test_workers_that_are_killed_are_replaced(session: Any) -> None:
    check_with_kills(session, seed=1, kills=2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_workers_that_are_killed_at_random_are_replaced(session: Any, seed: int) -> None:
    check_with_kills(session, seed=seed, kills=3)
