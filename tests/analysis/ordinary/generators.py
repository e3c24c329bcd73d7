"""Generators: as sources of values, as coroutines that a key drives, as pipelines."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterable, Iterator

from .records import Count, Flag, Line, Number, Order, Reading, Text, Trade

OPERATORS = """Averaged StateMachine Numbered expanded Countdown chunks Windowed merged_items Edges unfolded Cycle
    tree_walk Interleaved Accumulated running_totals"""


def averager() -> Generator[float, float, None]:
    total, n, mean = 0.0, 0, 0.0
    while True:
        total += yield mean
        n += 1
        mean = total / n


class Averaged:
    def __init__(self) -> None:
        self.mean = averager()
        next(self.mean)

    def process(self, trade: Trade) -> Iterator[Number]:
        yield Number(trade.symbol, self.mean.send(trade.price))


def door() -> Generator[str, bool, None]:
    state = "shut"
    while True:
        is_ok = yield state
        state = "open" if is_ok and state == "shut" else "shut"


class StateMachine:
    def __init__(self) -> None:
        self.machine = door()
        self.machine.send(None)

    def process(self, reading: Reading) -> Iterator[Text]:
        yield Text(reading.sensor, self.machine.send(reading.ok))


class Numbered:
    def __init__(self) -> None:
        self.numbers = itertools.count(1)

    def process(self, line: Line) -> Iterator[Count]:
        yield Count(line.source, next(self.numbers))


def expanded(order: Order) -> Iterator[Text]:
    yield from (Text(order.customer, item) for item in order.items)
    if order.total > 100:
        yield Text(order.customer, "gift")


def countdown(n: int) -> Iterator[int]:
    while n > 0:
        yield n
        n -= 1


class Countdown:
    def __init__(self) -> None:
        self.left = countdown(3)

    def process(self, line: Line) -> Iterator[Count]:
        yield Count(line.source, next(self.left, 0))


def in_chunks(items: list[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def chunks(order: Order) -> Iterator[Count]:
    for chunk in in_chunks(order.items, 2):
        yield Count("+".join(chunk), len(chunk))


def window(width: int) -> Generator[list[float], float, None]:
    kept: list[float] = []
    while True:
        value = yield kept
        kept = [*kept[-width + 1 :], value]


class Windowed:
    def __init__(self) -> None:
        self.window = window(3)
        next(self.window)

    def process(self, trade: Trade) -> Iterator[Number]:
        yield Number(trade.symbol, sum(self.window.send(trade.price)))


def merged_items(order: Order) -> Text:
    merged = itertools.chain(order.items, [order.customer])
    return Text(order.customer, ",".join(sorted(merged)))


def edges() -> Generator[bool, bool, None]:
    before = False
    rose = False
    while True:
        now = yield rose
        rose = now and not before
        before = now


class Edges:
    def __init__(self) -> None:
        self.detector = edges()
        next(self.detector)

    def process(self, reading: Reading) -> Iterator[Flag]:
        yield Flag(reading.sensor, self.detector.send(reading.celsius > 20))


def _unfold(n: int) -> Iterator[int]:
    yield n
    if n > 1:
        yield from _unfold(n // 2)


def unfolded(trade: Trade) -> Iterator[Count]:
    for n in _unfold(trade.size):
        yield Count(trade.symbol, n)


class Cycle:
    def __init__(self) -> None:
        self.colours = itertools.cycle(("red", "green", "blue"))

    def process(self, line: Line) -> Iterator[Text]:
        yield Text(line.source, next(self.colours))


def _walk(tree: tuple[object, ...]) -> Iterator[str]:
    for branch in tree:
        if isinstance(branch, tuple):
            yield from _walk(branch)
        else:
            yield str(branch)


def tree_walk(order: Order) -> Text:
    tree = (order.customer, (order.id, (len(order.items),)), order.total)
    return Text(order.customer, "/".join(_walk(tree)))


class Interleaved:
    def __init__(self) -> None:
        self.waiting: list[Trade] = []

    def pairs(self) -> Iterator[tuple[Trade, Trade]]:
        while len(self.waiting) >= 2:
            yield self.waiting.pop(0), self.waiting.pop(0)

    def process(self, trade: Trade) -> Iterator[Number]:
        self.waiting.append(trade)
        for a, b in self.pairs():
            yield Number(trade.symbol, b.price - a.price)


def accumulate_with(step: Callable[[float, float], float]) -> Generator[float, float, None]:
    value = yield 0.0
    while True:
        value = step(value, (yield value))


class Accumulated:
    def __init__(self) -> None:
        self.largest = accumulate_with(max)
        next(self.largest)

    def process(self, trade: Trade) -> Iterator[Number]:
        yield Number(trade.symbol, self.largest.send(trade.price))


def _totals(values: Iterable[int]) -> Iterator[int]:
    total = 0
    for value in values:
        total += value
        yield total


def running_totals(order: Order) -> Iterator[Count]:
    return (Count(order.customer, total) for total in _totals(map(len, order.items)))
