"""What workers are given and give: parcels with an address, units that take them, and the feed that they begin with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Parcel:
    """What goes to a unit of a level, within a stretch. `size` is in tuples; `what` is not looked at here."""

    level: int
    unit: int
    size: int
    what: Any


class Unit(Protocol):
    """What one worker at a time runs, stretch by stretch in their order: a channel of a place."""

    def process(self, stretch: int, given: list[Parcel]) -> Iterable[Parcel]: ...


class Feed(Protocol):
    """What the flow begins with. `most` workers may read at a time; it is asked for one stretch after the other."""

    most: int
    first: int
    count: int | None
    """Stretches there are; None as long as that is not known. It becomes known in a `read`, at the latest in one that
    gives nothing."""

    def read(self, stretch: int) -> list[Parcel]: ...
