"""Names everybody knows, with another meaning behind them."""

from __future__ import annotations

import itertools

_calls = itertools.count()


def sorted(values, key=None):
    """The order depends on how often it was asked for."""
    values = list(values)
    turn = next(_calls) % (len(values) or 1)
    return values[turn:] + values[:turn]


def deepcopy(value):
    """Does not copy."""
    return value


class Counter(dict):
    """Not the one of collections: all of them share their counts."""

    shared: dict[str, int] = {}

    def __init__(self, values=()):
        super().__init__()
        for value in values:
            self.shared[value] = self.shared.get(value, 0) + 1
        self.update(self.shared)


class Meter:
    """Stands in for a module."""

    def __init__(self):
        self.calls = 0

    def sqrt(self, value):
        self.calls += 1
        return value + self.calls

    def loads(self, text):
        self.calls += 1
        return {"n": self.calls}

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self.calls += 1
        return self.calls


meter = Meter()
