"""What it brings that neighbours by one key share their channels: nothing is exchanged between them."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from benchmarks.channels.neighbours import neighbours
from benchmarks.channels.part import Part
from benchmarks.codegen.measure import Figure
from benchmarks.spark import ours, report
from benchmarks.spark.figures import Asked
from benchmarks.spark.host import Host
from benchmarks.spark.inputs import pairs_file
from benchmarks.spark.race import Answer, Contestant, race, ratio

COUNT, FEW = 5_000_000, 200_000
ROUNDS = 3
EXCHANGED, STAYS = "exchanged before each", "in the same channels"


def measure(console: Console, is_quick: bool) -> Figure:
    count = FEW if is_quick else COUNT
    with Host("same_key") as host:
        contestants = [
            Contestant(name, host, "benchmarks.channels.same_key:run", {"count": count, "stays": name == STAYS})
            for name in (EXCHANGED, STAYS)
        ]
        times = race(contestants, 1 if is_quick else ROUNDS, _must_agree)
    report.print_times(console, "two operators and their meeting, by one key", count, times)
    return ratio(times, EXCHANGED, STAYS)


def run(session: Any, count: int, stays: bool) -> dict[str, Any]:
    result = ours.run(session, neighbours(pairs_file(count), is_seen=stays), channels=2)
    levels = len(result.plan.phases[0].layout.levels)
    assert levels == (1 if stays else 3), f"it has {levels} exchanges"
    return {"out": result.items("out")}


def _must_agree(answers: dict[str, Answer]) -> None:
    assert answers[EXCHANGED]["out"] == answers[STAYS]["out"], "not the same tuples in the same order"
    assert answers[STAYS]["out"], "nothing came out"


PART = Part(Asked("neighbours by one key: time with an exchange before each over that without", least=1.2), measure)
