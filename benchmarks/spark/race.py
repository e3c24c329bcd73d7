"""Contestants take turns, round after round, so that what else happens on the machine happens to all of them.

What is counted is the time on the wall: a Spark job is many processes, and they wait for one another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.codegen.measure import Figure
from benchmarks.spark.host import Host

Answer = dict[str, Any]
Times = dict[str, list[float]]  # seconds, round by round


@dataclass(frozen=True)
class Contestant:
    """Something for a host to do: a function, `module:name`, and its arguments."""

    name: str
    host: Host
    function: str
    arguments: Mapping[str, Any]
    warming: Mapping[str, Any] = field(default_factory=dict)  # arguments of a small run before each that is timed

    def run(self) -> Answer:
        return self.host.do(self.function, **self.arguments)

    def timed(self) -> float:
        """The seconds of a run. Spark ends Python workers that were idle for a minute, while others had their turns."""
        if self.warming:
            self.host.do(self.function, **self.warming)
        seconds: float = self.run()["seconds"]
        return seconds


def race(
    contestants: Sequence[Contestant], rounds: int, check: Callable[[dict[str, Answer]], None] = lambda answers: None
) -> Times:
    """The times of all. Each runs once before, untimed, and what they gave is checked."""
    check({each.name: each.run() for each in contestants})
    times: Times = {each.name: [] for each in contestants}
    for number in range(rounds):
        for each in contestants if number % 2 == 0 else contestants[::-1]:
            times[each.name].append(each.timed())
    return times


def ratio(times: Times, one: str, other: str) -> Figure:
    """The time of one over that of the other, from rounds in which both ran on the same machine's mood."""
    return Figure.of([a / b for a, b in zip(times[one], times[other], strict=True)])
