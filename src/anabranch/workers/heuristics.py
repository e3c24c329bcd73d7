"""Which stage a worker goes to next: the four heuristics of paper 004, section 6, a class each.

Stages stand in a fixed order: by level, and within a level as the plan has its places; the reading of the sources comes
first. For a chain that is the order of the pipeline. A stage's share, the tuples that it has received for each that was
read, stands for the paper's cumulative selectivity of all that is before it. (The paper's equations include the
stage's own, which cancels out for a chain whose last stage emits what it receives, and makes a stage that drops nearly
all of its tuples look as if it had done more than it has.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from anabranch.workers.stages import Stage


class Heuristic(Protocol):
    def choose(self, schedulable: Sequence[Stage], stages: Sequence[Stage]) -> Stage:
        """One of those that are schedulable, of which there is at least one, in the order of the stages."""


def share_of(stage: Stage, stages: Sequence[Stage]) -> float:
    """What comes to it for each tuple that is read; 1 where nothing is known yet."""
    read = stages[0].received
    return stage.received / read if read and stage.received else 1.0


class QueueSizeThrottling:
    """The earliest stage whose output queue is below its threshold (6.1, equation 1): a thrust from the entry."""

    def __init__(self, capacity: int = 1 << 18) -> None:
        self.capacity = capacity  # tuples

    def choose(self, schedulable: Sequence[Stage], stages: Sequence[Stage]) -> Stage:
        emitted = {id(each): share_of(each, stages) * each.selectivity for each in stages}
        total = sum(emitted.values())
        for stage in schedulable:
            queued = sum(each.waiting for each in stages if each.level == stage.level + 1)
            if queued < self.capacity * emitted[id(stage)] / total:
                return stage
        return schedulable[-1]  # all are above it: what is in the queues has to go first


class LastInPipeline:
    """The latest stage that has something to do (6.2): a pull from the exit."""

    def choose(self, schedulable: Sequence[Stage], stages: Sequence[Stage]) -> Stage:
        return schedulable[-1]


class EstimatedTime:
    """The stage whose worklist takes longest with one worker more (6.3, equation 2)."""

    def choose(self, schedulable: Sequence[Stage], stages: Sequence[Stage]) -> Stage:
        return max(schedulable, key=lambda each: each.waiting * each.cost / (each.workers + 1))


class CurrentThroughput:
    """The stage that has done the least of what it has to do in the current window of time (6.4, equation 3)."""

    def __init__(self, slice_seconds: float) -> None:
        self.slice = slice_seconds

    def choose(self, schedulable: Sequence[Stage], stages: Sequence[Stage]) -> Stage:
        def done(stage: Stage) -> float:
            return (stage.recent + stage.workers * self.slice) / (stage.cost * share_of(stage, stages))

        return min(schedulable, key=done)


HEURISTICS = ("CT", "LP", "ET", "QST")


def heuristic_by(name: str, slice_seconds: float) -> Heuristic:
    match name:
        case "CT":
            return CurrentThroughput(slice_seconds)
        case "LP":
            return LastInPipeline()
        case "ET":
            return EstimatedTime()
        case "QST":
            return QueueSizeThrottling()
    raise ValueError(f"there is no heuristic '{name}': use one of {', '.join(HEURISTICS)}")
