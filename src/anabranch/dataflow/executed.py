"""What was really executed: written down by those who call elements and send pieces, never copied from a plan.

So it can be compared with what `explain` shows: they have to be the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.graph.places import Arrival


@dataclass(frozen=True)
class Ran:
    """A generated function that was made for a place: of the PE with these operators, for these, in this form."""

    place: str
    pe: tuple[str, ...]
    operators: tuple[str, ...]
    form: str


@dataclass(frozen=True)
class Sent:
    """A stream that was sent to a place: to how many channels, by which key, with how many columns of order.

    Or only the times of it, for the windows of a `clock`; or as the `lines` of a file of some format.
    """

    operator: str
    port: int
    place: str
    channels: int
    key: tuple[str, ...]
    bounds: int
    columns: int
    clock: str | None = None
    lines: str | None = None


Fact = Ran | Sent


def sending_of(arrival: Arrival, channels: int, columns: int, lines: str | None = None) -> Sent:
    """How a piece was sent."""
    stream = arrival.stream
    key = arrival.key if channels > 1 else ()
    clock = str(arrival.clock.window) if arrival.clock is not None else None
    return Sent(stream.operator, stream.port, arrival.place, channels, key, len(arrival.bounds), columns, clock, lines)
