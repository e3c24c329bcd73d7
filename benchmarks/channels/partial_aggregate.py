"""What a second channel brings to a window aggregate without a key, of which parts are made where tuples are read.

The channels are those in which the only source is read, so there are as many as Spark has cores.
"""

from __future__ import annotations

from rich.console import Console

from benchmarks.channels.part import Part
from benchmarks.codegen.measure import Figure
from benchmarks.spark import report
from benchmarks.spark.figures import Asked
from benchmarks.spark.host import Host
from benchmarks.spark.race import Answer, Contestant, race, ratio

COUNT, FEW = 4_000_000, 200_000
ROUNDS = 3
ONE, TWO = "1 channel", "2 channels"


def measure(console: Console, is_quick: bool) -> Figure:
    count = FEW if is_quick else COUNT
    with Host("partial_1", master="local[1]") as one, Host("partial_2", master="local[2]") as two:
        function, arguments = "benchmarks.channels.bids:run", {"count": count}
        contestants = [Contestant(ONE, one, function, arguments), Contestant(TWO, two, function, arguments)]
        times = race(contestants, 1 if is_quick else ROUNDS, _must_agree)
    report.print_times(console, "a window aggregate without a key, in two steps", count, times)
    return ratio(times, ONE, TWO)


def _must_agree(answers: dict[str, Answer]) -> None:
    assert answers[ONE]["windows"], "no window closed"
    assert answers[ONE]["windows"] == answers[TWO]["windows"], "not the same windows in the same order"


PART = Part(Asked("an aggregate without a key in two steps: time with 1 channel over that with 2", least=1.6), measure)
