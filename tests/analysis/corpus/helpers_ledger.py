"""A ledger that other modules write through functions: the state is two imports away from the operator."""

from __future__ import annotations

from . import helpers_store

_last_seen: dict[str, float] = {}
total = 0.0


def book(symbol: str, amount: float) -> float:
    """Looks like arithmetic; keeps the sum."""
    return helpers_store.accumulate(symbol, amount)


def add(amount: float) -> float:
    global total
    total += amount
    return total


def since_last(symbol: str, ts: float) -> float:
    before = _last_seen.get(symbol, ts)
    _last_seen[symbol] = ts
    return ts - before


def quiet_sum(values: list[float]) -> float:
    """A function of its arguments."""
    return sum(values)


def drain(values: list[str]) -> list[str]:
    """Changes what it is given."""
    taken = []
    while values:
        taken.append(values.pop())
    return taken


def remember(value: str, into: list[str]) -> int:
    into.append(value)
    return len(into)


def sqrt(value: float) -> float:
    """Not the one of math: it calibrates itself."""
    global total
    total += 1
    return value**0.5 + total


class Parser:
    """A parser with a memory."""

    _numbers: list[int] = []

    @classmethod
    def parse(cls, text: str) -> int:
        cls._numbers.append(len(text))
        return sum(cls._numbers)

    @staticmethod
    def width(text: str) -> int:
        return len(text) + len(Parser._numbers)
