"""What every engine gives back: the result of a run and its figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from anabranch.dataflow.executed import Fact
from anabranch.errors import RunError, UsageError
from anabranch.graph.model import Graph
from anabranch.graph.plan import Plan
from anabranch.operators.base import Meaning
from anabranch.operators.metrics import OperatorMetrics
from anabranch.operators.sinks.collect import CollectMeaning


@dataclass
class Flow:
    """What has gone through a place where operators run, so far."""

    received: int = 0
    emitted: int = 0
    seconds: float = 0.0  # from its first report to the last that said something new


@dataclass
class Metrics:
    """The figures of a run, live while it goes on."""

    operators: dict[str, OperatorMetrics] = field(default_factory=dict)
    tuples_in: int = 0
    sinks: tuple[str, ...] = ()
    started: float = field(default_factory=time.perf_counter)
    stopped: float | None = None
    spark_start: float = 0.0  # seconds of the run's in which it waited for Spark to start
    notes: list[str] = field(default_factory=list)  # what a user may want to know of how it ran
    executed: dict[tuple[str, Fact], None] = field(default_factory=dict, repr=False)  # by phase: what was really done
    flows: dict[str, Flow] = field(default_factory=dict)  # by region, where other processes do the work

    def __getitem__(self, operator_id: str) -> OperatorMetrics:
        return self.operators[operator_id]

    def start(self, graph: Graph) -> None:
        """Every operator of a program gets its figures."""
        for operator in graph.operators:
            self.operators.setdefault(operator.id, OperatorMetrics())
        self.sinks = tuple(operator.id for operator in graph.sinks)

    @property
    def tuples_out(self) -> int:
        return sum(self.operators[sink].received for sink in self.sinks)

    @property
    def elapsed(self) -> float:
        """Seconds since the run began, or that it took."""
        return (self.stopped or time.perf_counter()) - self.started

    def stop(self) -> None:
        self.stopped = time.perf_counter()

    @property
    def late(self) -> int:
        return sum(operator.late for operator in self.operators.values())

    @property
    def skipped(self) -> int:
        return sum(operator.skipped for operator in self.operators.values())

    @property
    def dead_letters(self) -> int:
        return sum(operator.dead_letters for operator in self.operators.values())


@dataclass(frozen=True)
class Result:
    """What a run produced: the tuples of `collect` sinks, the figures, and the plan it followed."""

    plan: Plan = field(repr=False)
    metrics: Metrics
    collected: dict[str, list[Any]] = field(default_factory=dict, repr=False)

    def items(self, name: str) -> list[Any]:
        """The tuples of the sink `.collect(name)`, in order."""
        if name not in self.collected:
            known = ", ".join(self.collected) or "none"
            raise UsageError(f"nothing was collected as '{name}'", hint=f"the program collects: {known}")
        return list(self.collected[name])


def collected(meanings: Iterable[Meaning]) -> dict[str, list[Any]]:
    """What the `collect` sinks among these hold, by name."""
    return {
        meaning.operator.definition.name: meaning.items  # type: ignore[attr-defined]  # a Collect has a name
        for meaning in meanings
        if isinstance(meaning, CollectMeaning)
    }


@contextmanager
def carrying_result(result: Callable[[], Result]) -> Iterator[None]:
    """An error or interrupt that stops a run carries its result so far."""
    try:
        yield
    except (RunError, KeyboardInterrupt) as stop:
        stop.result = result()  # type: ignore[union-attr]  # any exception can carry an attribute
        raise
