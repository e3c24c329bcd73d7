"""What it brings that channels are weighed: for light work the exchange before it costs more than they save."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from benchmarks.channels.part import Part
from benchmarks.channels.summing import sums
from benchmarks.codegen.measure import Figure
from benchmarks.spark import ours, report
from benchmarks.spark.figures import Asked
from benchmarks.spark.host import Host
from benchmarks.spark.inputs import pairs_file
from benchmarks.spark.race import Answer, Contestant, race, ratio

COUNT, FEW = 5_000_000, 1_000_000  # fewer would not be worth compiling
ROUNDS = 3
ASKED, WEIGHED = "2 channels asked for", "as weighed"


def measure(console: Console, is_quick: bool) -> Figure:
    count = FEW if is_quick else COUNT
    with Host("light") as host:
        contestants = [
            Contestant(name, host, "benchmarks.channels.light:run", {"count": count, "is_asked": name == ASKED})
            for name in (ASKED, WEIGHED)
        ]
        times = race(contestants, 1 if is_quick else ROUNDS, _must_agree)
    report.print_times(console, "a sum by key, in native code", count, times)
    return ratio(times, ASKED, WEIGHED)


def run(session: Any, count: int, is_asked: bool) -> dict[str, Any]:
    result = ours.run(session, sums(pairs_file(count)), channels=2 if is_asked else None)
    assert bool(result.plan.light) != is_asked, f"not as weighed: {dict(result.plan.light)}"
    return {"out": result.items("out")}


def _must_agree(answers: dict[str, Answer]) -> None:
    assert answers[ASKED]["out"] == answers[WEIGHED]["out"], "not the same tuples in the same order"
    assert answers[WEIGHED]["out"], "nothing came out"


PART = Part(Asked("a sum by key in native code: time with 2 channels asked for over that as weighed"), measure)
