"""Lookup tables and settings of a module, state in collections of a key."""

from __future__ import annotations

import heapq
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from string import Template
from types import MappingProxyType, SimpleNamespace
from typing import Final

from .records import Click, Count, Flag, Line, Number, Order, Reading, Text, Trade

OPERATORS = """country plan_price LastSeen Pending by_graph Trie nested_table weight_of Leaderboard formatted Dedupe
    Inverted Matrix Shelf sector MedianHeaps Timeline Quota routes Changes unit_price Patterns with_aliases
    Intervals"""

COUNTRIES: Final = {"ada": "UK", "bob": "US"}
PLANS = MappingProxyType({"free": 0.0, "plus": 9.0, "max": 19.0})
GRAPH = {"ACME": {"BETA", "CORN"}, "BETA": {"CORN"}, "CORN": frozenset()}
TABLE = {"roof": {"low": 5.0, "high": 30.0}, "cellar": {"low": 8.0, "high": 16.0}}
WEIGHTS = [("bolt", 12), ("nut", 3), ("gear", 250)]
SECTORS = {
    symbol: sector for sector, symbols in {"tech": ["ACME"], "food": ["CORN", "BETA"]}.items() for symbol in symbols
}
ROUTES = [("/cart", "shop"), ("/help", "support"), ("/", "home")]
MESSAGE = Template("$name: ${value}!")
ALIASES = {name: short for short, names in (("a", ("ada", "adam")), ("b", ("bob",))) for name in names}


def country(click: Click) -> Text:
    return Text(click.user, COUNTRIES.get(click.user, "other"))


def plan_price(order: Order) -> Number:
    plan = "max" if order.total > 300 else "plus" if order.total > 100 else "free"
    return Number(order.customer, PLANS[plan])


class LastSeen:
    def __init__(self) -> None:
        self.at: dict[str, float] = {}

    def process(self, click: Click) -> Iterator[Number]:
        if (before := self.at.get(click.url)) is not None:
            yield Number(click.user, click.ts - before)
        self.at |= {click.url: click.ts}


class Pending:
    """A heap of (due, number)."""

    def __init__(self) -> None:
        self.heap: list[tuple[float, int]] = []

    def process(self, order: Order) -> Iterator[Count]:
        heapq.heappush(self.heap, (order.total, order.id))
        while self.heap and self.heap[0][0] < order.total:
            yield Count(order.customer, heapq.heappop(self.heap)[1])


def by_graph(trade: Trade) -> Text:
    seen, waiting = {trade.symbol}, deque([trade.symbol])
    while waiting:
        for other in sorted(GRAPH.get(waiting.popleft(), ())):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return Text(trade.symbol, ",".join(sorted(seen)))


class Trie:
    def __init__(self) -> None:
        self.root: dict[str, dict] = {}  # type: ignore[type-arg]

    def add(self, word: str) -> bool:
        node, is_new = self.root, False
        for letter in word:
            is_new |= letter not in node
            node = node.setdefault(letter, {})
        return is_new

    def process(self, line: Line) -> Iterator[Flag]:
        yield from (Flag(word, self.add(word)) for word in line.text.split())


def nested_table(reading: Reading) -> Flag:
    limits = TABLE.get(reading.sensor, {})
    return Flag(reading.sensor, limits.get("low", -50.0) <= reading.celsius <= limits.get("high", 50.0))


def weight_of(order: Order) -> Count:
    weights = dict(WEIGHTS)
    return Count(order.customer, sum(weights.get(item, 50) for item in order.items))


class Leaderboard:
    def __init__(self) -> None:
        self.best: list[float] = []

    def process(self, trade: Trade) -> Iterator[Count]:
        self.best = sorted([*self.best, trade.price], reverse=True)[:5]
        if trade.price in self.best:
            yield Count(trade.symbol, self.best.index(trade.price) + 1)


def formatted(reading: Reading) -> Text:
    return Text(reading.sensor, MESSAGE.substitute(name=reading.sensor, value=reading.celsius))


class Dedupe:
    """The last four are remembered."""

    def __init__(self) -> None:
        self.recent: OrderedDict[str, None] = OrderedDict()

    def process(self, line: Line) -> Iterator[Line]:
        if line.text not in self.recent:
            self.recent[line.text] = None
            while len(self.recent) > 4:
                self.recent.popitem(last=False)
            yield line


class Inverted:
    def __init__(self) -> None:
        self.index: defaultdict[str, list[int]] = defaultdict(list)

    def process(self, line: Line) -> Iterator[Count]:
        for word in line.text.split():
            self.index[word].append(line.number)
        yield Count(line.source, max(map(len, self.index.values()), default=0))


class Matrix:
    def __init__(self) -> None:
        self.cells = [[0] * 3 for _ in range(3)]

    def process(self, trade: Trade) -> Iterator[Count]:
        row, column = trade.size % 3, int(trade.price) % 3
        self.cells[row][column] += 1
        yield Count(trade.symbol, sum(self.cells[at][at] for at in range(3)))


class Shelf:
    def __init__(self) -> None:
        self.state = SimpleNamespace(n=0, last="")

    def process(self, line: Line) -> Iterator[Count]:
        self.state.n += 1
        self.state.last = line.text
        yield Count(line.source, self.state.n + len(self.state.last))


def sector(trade: Trade) -> Text:
    return Text(trade.symbol, SECTORS[trade.symbol])


class MedianHeaps:
    def __init__(self) -> None:
        self.low: list[float] = []
        self.high: list[float] = []

    def process(self, trade: Trade) -> Iterator[Number]:
        heapq.heappush(self.high, -heapq.heappushpop(self.low, -trade.price))
        if len(self.high) > len(self.low):
            heapq.heappush(self.low, -heapq.heappop(self.high))
        yield Number(trade.symbol, -self.low[0])


@dataclass(order=True)
class Event:
    at: float
    name: str = field(compare=False)


class Timeline:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def process(self, click: Click) -> Iterator[Text]:
        heapq.heappush(self.events, Event(click.ts % 60, click.url))
        if len(self.events) > 2:
            yield Text(click.user, heapq.heappop(self.events).name)


class Quota:
    def __init__(self, most: int = 2) -> None:
        self.most = most
        self.used: Counter[str] = Counter()

    def process(self, click: Click) -> Iterator[Click]:
        self.used[click.url] += 1
        if self.used[click.url] <= self.most:
            yield click


def routes(click: Click) -> Text:
    path = "/" + click.url.split("/", 3)[3]
    return Text(click.user, next(target for prefix, target in ROUTES if path.startswith(prefix)))


class Changes:
    def __init__(self) -> None:
        self.last: Order | None = None

    def process(self, order: Order) -> Iterator[Text]:
        if self.last is not None:
            gone, new = Counter(self.last.items), Counter(order.items)
            gone.subtract(new)
            yield Text(order.customer, " ".join(f"{item}{n:+}" for item, n in sorted(gone.items()) if n))
        self.last = order


def unit_price(order: Order, prices: dict[str, float] = {"bolt": 0.2, "nut": 0.1}) -> Number:
    return Number(order.customer, sum(prices.get(item, 1.0) for item in order.items))


class Patterns:
    def __init__(self) -> None:
        self.last_two: tuple[str, ...] = ()
        self.seen: set[tuple[str, ...]] = set()

    def process(self, line: Line) -> Iterator[Flag]:
        self.last_two = (*self.last_two[-1:], line.text)
        yield Flag(line.source, self.last_two in self.seen)
        self.seen.add(self.last_two)


def with_aliases(click: Click) -> Text:
    return Text(ALIASES.get(click.user, "-"), click.url)


class Intervals:
    def __init__(self) -> None:
        self.open: deque[tuple[float, float]] = deque()

    def process(self, reading: Reading) -> Iterator[Count]:
        self.open.append((reading.ts, reading.ts + 60.0))
        while self.open[0][1] < reading.ts:
            self.open.popleft()
        yield Count(reading.sensor, len(self.open))
