"""What every engine gives back: the result of a run and its figures."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from anabranch.errors import UsageError
from anabranch.graph.model import Graph


@dataclass
class OperatorMetrics:
    """What happened at one operator."""

    received: int = 0
    emitted: int = 0
    late: int = 0
    skipped: int = 0
    dead_letters: int = 0


@dataclass
class Metrics:
    """The figures of a run, live while it goes on."""

    operators: dict[str, OperatorMetrics] = field(default_factory=dict)
    tuples_in: int = 0
    tuples_out: int = 0
    started: float = field(default_factory=time.perf_counter)
    stopped: float | None = None

    def __getitem__(self, operator_id: str) -> OperatorMetrics:
        return self.operators[operator_id]

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

    plan: Graph = field(repr=False)
    metrics: Metrics
    collected: dict[str, list[Any]] = field(default_factory=dict, repr=False)

    def items(self, name: str) -> list[Any]:
        """The tuples of the sink `.collect(name)`, in order."""
        if name not in self.collected:
            known = ", ".join(self.collected) or "none"
            raise UsageError(f"nothing was collected as '{name}'", hint=f"the program collects: {known}")
        return list(self.collected[name])
