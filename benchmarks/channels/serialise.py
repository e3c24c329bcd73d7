"""What it brings that channels make the lines of an ordered file, of many columns: the driver only writes bytes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rich.console import Console

from anabranch.compiler import compile, this_machine
from anabranch.dataflow.result import Metrics
from anabranch.engines.on_transport import run_on
from anabranch.engines.spark.job.exchange import SparkTransport
from anabranch.graph.settings import Settings
from anabranch.run import as_program
from benchmarks.channels.part import Part
from benchmarks.channels.wide import wide_file
from benchmarks.codegen.measure import Figure
from benchmarks.spark import report
from benchmarks.spark.batches import new_folder
from benchmarks.spark.figures import Asked
from benchmarks.spark.host import Host
from benchmarks.spark.race import Answer, Contestant, race, ratio

COUNT, FEW = 2_000_000, 100_000
ROUNDS = 3
DRIVER, CHANNELS = "lines made by the driver", "lines made in 2 channels"


def measure(console: Console, is_quick: bool) -> Figure:
    count = FEW if is_quick else COUNT
    with Host("serialise") as host:
        contestants = [
            Contestant(
                name, host, "benchmarks.channels.serialise:run", {"count": count, "makes_lines": name == CHANNELS}
            )
            for name in (DRIVER, CHANNELS)
        ]
        times = race(contestants, 1 if is_quick else ROUNDS, _must_agree)
    report.print_times(console, "an ordered CSV file with 12 columns", count, times)
    return ratio(times, DRIVER, CHANNELS)


def run(session: Any, count: int, makes_lines: bool) -> dict[str, Any]:
    out = new_folder("wide") / "out.csv"
    target = replace(this_machine(), makes_lines=makes_lines)
    plan = compile(as_program(wide_file(count, str(out))).graph, Settings(target, channels=2))
    result = run_on(SparkTransport(session), plan, Metrics(), channels=2)
    lines = [arrival.lines for arrival in result.plan.phases[0].layout.arriving("tail")]
    assert all(lines) == makes_lines, "the lines were not made where they were to be"
    return {"bytes": out.stat().st_size, "received": result.metrics["write_csv"].received}


def _must_agree(answers: dict[str, Answer]) -> None:
    one, two = answers[DRIVER], answers[CHANNELS]
    assert (one["bytes"], one["received"]) == (two["bytes"], two["received"]), "not the same file"


PART = Part(Asked("a wide ordered CSV: time with lines made by the driver over that with channels", least=1.3), measure)
