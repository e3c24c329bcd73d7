"""What a second channel brings to an operator with dead letters: 20 µs of Python for each tuple, and a few that fail.

Both what it gives and its dead letters leave the region, each in the order of the program.
"""

from __future__ import annotations

from rich.console import Console

from benchmarks.channels.part import Part
from benchmarks.codegen.measure import Figure
from benchmarks.spark import report
from benchmarks.spark.figures import Asked
from benchmarks.spark.host import Host
from benchmarks.spark.race import Answer, Contestant, race, ratio

MICROSECONDS = 20
COUNT, FEW = 800_000, 40_000
ROUNDS = 3
ONE, TWO = "1 channel", "2 channels"


def measure(console: Console, is_quick: bool) -> Figure:
    count = FEW if is_quick else COUNT
    with Host("dead_letter") as host:
        steps = host.do("benchmarks.channels.work:calibrate", microseconds=MICROSECONDS)["steps"]
        contestants = [
            Contestant(
                name, host, "benchmarks.channels.failing:run", {"count": count, "steps": steps, "channels": number}
            )
            for number, name in enumerate((ONE, TWO), 1)
        ]
        times = race(contestants, 1 if is_quick else ROUNDS, _must_agree)
    report.print_times(console, f"{MICROSECONDS} µs of Python per tuple, with dead letters", count, times)
    return ratio(times, ONE, TWO)


def _must_agree(answers: dict[str, Answer]) -> None:
    one, two = answers[ONE], answers[TWO]
    assert one["letters"], "no tuple failed"
    assert (one["kept"], one["letters"]) == (two["kept"], two["letters"]), "not the same tuples in the same order"


PART = Part(
    Asked(f"dead letters, {MICROSECONDS} µs per tuple: time with 1 channel over that with 2", least=1.7), measure
)
