"""How many tuples each part is measured on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """In tuples. `slow_calls` is for a competitor that would need more than five minutes for `calls`.

    `streamed_calls` is what the slowest of those needs about as long for.
    """

    calls: int = 20_000_000
    slow_calls: int = 3_000_000
    few_calls: int = 600_000  # as many as native code is generated for
    exchanged: int = 20_000_000
    busy: int = 400_000
    busy_shuffled: int = 250_000
    ordered: int = 10_000_000
    memory: int = 10_000_000
    streamed_calls: int = 3_000_000
    few_keys: int = 10_000
    many_keys: int = 1_000_000
    batches: int = 45
    rounds: int = 3


QUICK = Sizes(
    calls=200_000,
    slow_calls=20_000,
    few_calls=20_000,
    exchanged=200_000,
    busy=40_000,
    busy_shuffled=20_000,
    ordered=200_000,
    memory=200_000,
    streamed_calls=60_000,
    few_keys=2_000,
    many_keys=20_000,
    batches=3,
    rounds=1,
)
