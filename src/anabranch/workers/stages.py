"""A stage: units that do the same, and what is known of their cost. It is what paper 004 calls an operator."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from anabranch.workers.parcels import Parcel, Unit

_UNKNOWN_COST = 1e-6  # seconds for a tuple, until one has been processed


@dataclass(eq=False)
class Queued:
    """What waits for one unit: stretches, in their order."""

    unit: Unit
    worklist: deque[tuple[int, list[Parcel]]] = field(default_factory=deque)
    is_busy: bool = False

    @property
    def is_ready(self) -> bool:
        return bool(self.worklist) and not self.is_busy


@dataclass(eq=False)
class Stage:
    """`most` workers may be at it. The figures are sums over the run, in tuples and seconds."""

    name: str
    level: int
    units: Mapping[int, Queued]
    most: int
    workers: int = 0  # that are at it
    waiting: int = 0  # in the worklists
    received: int = 0
    emitted: int = 0
    seconds: float = 0.0
    recent: float = 0.0  # worker time within the current window of time

    @property
    def cost(self) -> float:
        """Of a tuple, in seconds."""
        return self.seconds / self.received if self.received and self.seconds else _UNKNOWN_COST

    @property
    def selectivity(self) -> float:
        """Tuples out for each tuple in. A stage that has given nothing yet counts as one that keeps all."""
        return self.emitted / self.received if self.received and self.emitted else 1.0

    def ready(self) -> Iterator[Queued]:
        return (each for each in self.units.values() if each.is_ready)

    @property
    def is_schedulable(self) -> bool:
        return self.workers < self.most and any(self.ready())

    def next_unit(self) -> Queued:
        """Of those that are ready, the one that is furthest behind: the others may wait for it."""
        return min(self.ready(), key=lambda each: each.worklist[0][0])
