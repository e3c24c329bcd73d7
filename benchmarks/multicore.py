"""What more workers bring on one machine: `python -m benchmarks.multicore` (`--quick` for a short look).

The same program with one worker and with two, and on the fused engine, in turns; the tuples are compared before
anything is timed. Input is a table in memory, all code is native. The last line is one JSON object of ratios: medians
of rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from rich.console import Console

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics, Result
from anabranch.engines import fused
from anabranch.engines.multicore.transport import Multicore
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Graph
from anabranch.graph.settings import Settings, multicore
from anabranch.run import as_program
from benchmarks.machine import print_machine

ROWS, QUICK_ROWS = 8_000_000, 400_000
ROUNDS, QUICK_ROUNDS = 5, 1
STRETCH = 16_384
_BUSY = 0.5  # the load from which on figures say nothing


class Pair(NamedTuple):
    key: int
    other: int
    value: float


def worked(value: float) -> float:
    """Some 200 ns of native code."""
    for step in range(50):
        value = value * 0.999 + 1.0 / (value + step + 1.0)
    return value


def by_itself(pair: Pair) -> Pair:
    return Pair(pair.key, pair.other, worked(pair.value))


class Keyed:
    def __init__(self) -> None:
        self.sum = 0.0

    def process(self, pair: Pair) -> Any:
        self.sum = worked(self.sum * 0.5 + pair.value)
        yield Pair(pair.key, pair.other, self.sum)


def few(pair: Pair) -> bool:
    return pair.key < 10


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "stateless": lambda source: source.map(by_itself).filter(few),
    "keyed": lambda source: source.process(Keyed, key="key", out=Pair).filter(few),
    "shuffle": lambda source: (
        source.process(Keyed, key="key", out=Pair).process(Keyed, key="other", out=Pair).filter(few)
    ),
}


def graph_of(name: str, rows: int) -> Graph:
    draw = np.random.default_rng(3)
    columns = {
        "key": draw.integers(0, 1_000, rows),
        "other": draw.integers(0, 1_000, rows),
        "value": draw.random(rows),
    }
    return as_program(PROGRAMS[name](ab.from_arrow(pa.table(columns), Pair)).collect("out")).graph


def by_workers(graph: Graph, workers: int) -> Result:
    plan = compile(graph, Settings(multicore(workers)))
    return run_on(Multicore(workers), plan, Metrics(), "native", channels=2, stretch=STRETCH)


def race(name: str, rows: int, rounds: int) -> dict[str, list[float]]:
    graph = graph_of(name, rows)
    ways: dict[str, Callable[[], Result]] = {
        "1 worker": lambda: by_workers(graph, 1),
        "2 workers": lambda: by_workers(graph, 2),
        "fused": lambda: fused.run(graph, form="native"),
    }
    answers = {way: run().to_arrow("out") for way, run in ways.items()}
    wanted = answers["fused"]
    assert len(wanted), "nothing came out"
    assert all(each.equals(wanted) for each in answers.values()), "not the same tuples in the same order"
    times: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(rounds):
        for way in ways if number % 2 == 0 else reversed(ways):
            began = time.perf_counter()
            ways[way]()
            times[way].append(time.perf_counter() - began)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.multicore", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few tuples, one round: a look, not a measurement")
    chosen = parser.parse_args()
    console = Console(width=120, highlight=False)
    print_machine(console, ("pyarrow", "numba"))
    if not chosen.quick and os.getloadavg()[0] > _BUSY:
        sys.exit(f"the machine is busy (load {os.getloadavg()[0]:.1f}): what would be measured is what else runs")
    rows, rounds = (QUICK_ROWS, QUICK_ROUNDS) if chosen.quick else (ROWS, ROUNDS)
    figures: dict[str, float] = {}
    for name in PROGRAMS:
        times = race(name, rows, rounds)
        for way, seconds in times.items():
            rate = rows / statistics.median(seconds) / 1e6
            spread = f"{min(seconds):.2f} – {max(seconds):.2f}"
            console.print(f"{name:10} {way:10} {statistics.median(seconds):6.2f} s ({spread}) {rate:6.2f} M tuples/s")
        medians = {way: statistics.median(seconds) for way, seconds in times.items()}
        figures[f"two_workers_{name}"] = round(medians["1 worker"] / medians["2 workers"], 2)
        figures[f"vs_fused_{name}"] = round(medians["fused"] / medians["2 workers"], 2)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
