"""Contestants take turns, round after round, so that what else happens on the machine happens to all of them.

All of them work on one thread and never wait, so what is counted is the time this process spends on a processor. On a
machine of its own that is the time on the wall; on one that is shared, it is what the work costs.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Speeds = list[float]  # tuples per second, round by round


def _nothing() -> None:
    pass


@dataclass(frozen=True)
class Contestant:
    """`run` does the whole work on input that is ready; `rewind` makes it start from the beginning, untimed."""

    name: str
    tuples: int
    run: Callable[[], Any]
    rewind: Callable[[], None] = _nothing


def race(contestants: Sequence[Contestant], rounds: int) -> dict[str, Speeds]:
    """The speeds of all, in rounds. Each must have run before: what happens only once is measured elsewhere.

    In a round everyone runs twice and is timed the second time: contestants share their input, and whoever comes first
    would otherwise fetch it into the processor's caches for the next.
    """
    speeds: dict[str, Speeds] = {each.name: [] for each in contestants}
    gc.collect()
    gc.freeze()  # the inputs, which no contestant should have to walk through
    for number in range(rounds):
        order = contestants if number % 2 == 0 else contestants[::-1]
        for each in order:
            each.rewind()
            each.run()
            each.rewind()
            start = time.process_time()
            result = each.run()
            speeds[each.name].append(each.tuples / (time.process_time() - start))
            del result
    gc.unfreeze()
    return speeds


@dataclass(frozen=True)
class Figure:
    """A median and, as its spread, the smallest and the largest of all rounds."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Figure:
        return cls(statistics.median(values), min(values), max(values))


def ratio(speeds: Mapping[str, Speeds], one: str, other: str) -> Figure | None:
    """How many times as fast one is as the other, from rounds in which both ran on the same machine's mood."""
    if one not in speeds or other not in speeds:
        return None
    return Figure.of([a / b for a, b in zip(speeds[one], speeds[other], strict=True)])
