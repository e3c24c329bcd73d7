"""Exchange rates that are refreshed now and then: no reader may take them for constants."""

from __future__ import annotations

RATES: dict[str, float] = {"ACME": 1.0, "BETA": 1.1}
BASE = 1.0
_seen = 0


def refresh(symbol: str, rate: float) -> None:
    RATES[symbol] = rate


def rebase(value: float) -> None:
    global BASE
    BASE = value


def __getattr__(name: str) -> float:
    """`helpers_rates.anything` counts how often it was asked for."""
    global _seen
    if name.startswith("__"):
        raise AttributeError(name)
    _seen += 1
    return float(_seen)


class Book:
    """Reading is harmless; someone else calls `learn`."""

    def __init__(self) -> None:
        self._rates = {"ACME": 1.0}

    def learn(self, symbol: str, rate: float) -> None:
        self._rates[symbol] = rate

    def rate(self, symbol: str) -> float:
        return self._rates.get(symbol, 1.0)


BOOK = Book()
