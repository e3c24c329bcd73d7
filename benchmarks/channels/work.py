"""Work for operators to do: so many microseconds of Python for each tuple, and nobody sleeps.

Programs import this and nothing that a host of a race needs: what a program's modules reach, the compiler reads.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import anabranch as ab


class Task(NamedTuple):
    """It says itself how much work it is, so that programs are the same on a fast machine and on a slow one."""

    a: int
    b: int
    steps: int
    value: int


def mixed(value: int, steps: int) -> int:
    for step in range(steps):
        value = (value * 31 + step) % 1_000_003
    return value


def tasks(count: int, steps: int) -> ab.Stream[Task]:
    return ab.beacon(
        Task, lambda number: Task(number * 7919 % 10_007, number * 104_729 % 1_009, steps, number), count=count
    )


def calibrate(session: Any, microseconds: float) -> dict[str, int]:
    """How many steps are so many microseconds on one core of this machine."""
    steps, fastest = 1_000, float("inf")
    for _ in range(200):
        start = time.perf_counter()
        mixed(1, steps)
        fastest = min(fastest, time.perf_counter() - start)
    return {"steps": max(1, round(steps * microseconds * 1e-6 / fastest))}
