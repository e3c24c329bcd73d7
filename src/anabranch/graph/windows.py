"""What a window is: how far it reaches, how it moves, and which attribute is its time."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal


@dataclass(frozen=True, repr=False)
class Window:
    """Made by `ab.tumbling`, `ab.sliding` and `ab.punctuated`.

    `length` and `slide` are a number of tuples (`count`), seconds (`time`) or the attribute's own unit (`delta`).
    """

    shape: Literal["tumbling", "sliding", "punctuated"]
    measure: Literal["count", "time", "delta", "punctuation"]
    length: Fraction = Fraction(0)
    slide: Fraction | None = None
    on: str | None = None
    clock: Literal["stream", "key"] = "stream"
    per_key: bool = False

    @property
    def is_by_time(self) -> bool:
        """By event time or by delta: both follow the largest value of an attribute."""
        return self.on is not None

    @property
    def has_many_ends(self) -> bool:
        """Whether windows that close at one moment may differ in their ends: not tumbling ones by the stream's time."""
        return self.is_by_time and not (self.shape == "tumbling" and self.clock == "stream")

    def __str__(self) -> str:
        if self.shape == "punctuated":
            return "punctuated"
        parts = [f"{self.measure} {_in_short(self.length)}"]
        if self.slide is not None and self.shape == "sliding":
            parts.append(f"slide {_in_short(self.slide)}")
        if self.on:
            parts.append(f"on {self.on}")
        if self.clock == "key":
            parts.append("clock of the key")
        return f"{self.shape}({', '.join(parts)})"

    def __repr__(self) -> str:
        return f"Window({self})"


def _in_short(amount: Fraction) -> str:
    try:
        return f"{float(amount):g}"
    except OverflowError:
        return f"{Decimal(int(amount)).normalize():.6g}"
