"""What was really executed: written down by those who call elements and send pieces, never copied from a plan.

So it can be compared with what `explain` shows: they have to be the same.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Read:
    """A source that was read, by whom; in the process of the program also how its tuples were taken."""

    source: str
    reading: str
    taking: str | None = None


@dataclass(frozen=True)
class Ran:
    """A generated function that was made for a place: of the PE with these operators, for these, in this form."""

    place: str
    pe: tuple[str, ...]
    operators: tuple[str, ...]
    form: str


@dataclass(frozen=True)
class Sent:
    """A stream that was sent to a place: to one of how many channels, by which key, with how many columns of order.

    Or only the times of it, for the windows of a `clock`, to all channels; or as the `lines` of a file of some format.
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


@dataclass(frozen=True)
class HandedOn:
    """A stream that was given to a place in the same task, with how many columns of order."""

    operator: str
    port: int
    place: str
    columns: int


@dataclass(frozen=True)
class Watched:
    """Operators of the tail whose code was looked at again in the end."""

    operators: tuple[str, ...]


Fact = Read | Ran | Sent | HandedOn | Watched
