"""How many tuples each part is measured on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """In tuples. `slow_calls` is for a competitor that would need more than five minutes for `calls`."""

    calls: int = 20_000_000
    slow_calls: int = 5_000_000
    exchanged: int = 20_000_000
    busy: int = 400_000
    busy_shuffled: int = 250_000
    ordered: int = 10_000_000
    memory: int = 10_000_000
    rounds: int = 3


QUICK = Sizes(
    calls=200_000,
    slow_calls=20_000,
    exchanged=200_000,
    busy=40_000,
    busy_shuffled=20_000,
    ordered=200_000,
    memory=200_000,
    rounds=1,
)
