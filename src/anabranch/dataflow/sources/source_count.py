"""What was taken from a source, and what becomes of its rows that cannot be read: said and counted once, here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from anabranch.graph.model import Operator
from anabranch.operators.base import Unreadable
from anabranch.operators.failures import after_failure, operator_error, unreadable_error
from anabranch.operators.metrics import OperatorMetrics


@dataclass(frozen=True)
class Failed:
    """A source that raised. Nothing more can be drawn from it, so this stops a run whatever `on_error` says."""

    cause: Exception


class Total(Protocol):
    """Where the tuples of all sources are counted."""

    tuples_in: int


@dataclass
class Tally:
    tuples_in: int = 0


@dataclass(eq=False)
class SourceCount:
    """The figures of one source, and of all of them together."""

    source: Operator
    metrics: OperatorMetrics = field(default_factory=OperatorMetrics)
    total: Total = field(default_factory=Tally)

    @property
    def tuples_in(self) -> int:
        return self.total.tuples_in

    def add(self, count: int) -> None:
        """Tuples, or dead letters, that it gave."""
        self.metrics.emitted += count
        self.total.tuples_in += count

    def after_bad_row(self, found: Unreadable | Failed) -> tuple[int, Any] | None:
        """A row that cannot be read stops the run, is passed over, or is a dead letter: its port, and the letter."""
        if isinstance(found, Failed):
            raise operator_error(self.source, found.cause, None, "reading")
        self.total.tuples_in += 1
        letter = after_failure(self.source, self.metrics, unreadable_error(self.source, found), found, "process")
        if letter is not None:
            self.total.tuples_in -= 1  # it is counted as what it gave
        return letter
