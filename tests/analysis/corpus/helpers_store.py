"""Where the ledger really keeps its sums."""

from __future__ import annotations

_balances: dict[str, float] = {}


def accumulate(symbol: str, amount: float) -> float:
    _balances[symbol] = _balances.get(symbol, 0.0) + amount
    return _balances[symbol]
