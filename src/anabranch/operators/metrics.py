"""What is counted at each operator of a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class OperatorMetrics:
    """What happened at one operator."""

    received: int = 0
    emitted: int = 0
    late: int = 0
    skipped: int = 0
    dead_letters: int = 0
