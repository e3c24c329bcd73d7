"""Operators with one instance for each key, whose state is their own."""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from .registry import entry
from .tuples import Alert, Amount, Call, Click, Count, Mean, Order, Quote, Reading, Tagged, Trade, Travel, Visit


@entry(kind="process", input=Reading, output=Mean, keyed=("sensor",), state="partitioned", selectivity="1:1",
       forwards={"sensor": "sensor"}, why="the running mean")  # fmt: skip
class RunningMean:
    def __init__(self) -> None:
        self.n = 0
        self.total = 0.0

    def process(self, r: Reading) -> Iterator[Mean]:
        self.n += 1
        self.total += r.celsius
        yield Mean(r.sensor, self.total / self.n, self.n)


@entry(kind="process", input=Call, output=Travel, keyed=("phone",), state="partitioned", selectivity="1:[0,1]",
       forwards={"phone": "phone", "ts": "ts"}, why="speed between two calls")  # fmt: skip
class Speed:
    def __init__(self) -> None:
        self.last: Call | None = None

    def process(self, call: Call) -> Iterator[Travel]:
        if self.last is not None:
            yield Travel(call.phone, distance(self.last, call) / max(call.ts - self.last.ts, 1.0), call.ts)
        self.last = call


def distance(a: Call, b: Call) -> float:
    return math.hypot(a.x - b.x, a.y - b.y)


@entry(kind="process", input=Click, output=Visit, keyed=("user",), state="partitioned", selectivity="1:[0,1]",
       forwards={"user": "user"}, at_end=True, why="sessions by a gap, the open one emitted at the end")  # fmt: skip
class Sessions:
    GAP = 300.0

    def __init__(self) -> None:
        self.clicks: list[Click] = []

    def process(self, click: Click) -> Iterator[Visit]:
        if self.clicks and click.ts - self.clicks[-1].ts > self.GAP:
            yield self._visit()
            self.clicks = []
        self.clicks.append(click)

    def finish(self) -> Iterator[Visit]:
        if self.clicks:
            yield self._visit()

    def _visit(self) -> Visit:
        first, last = self.clicks[0], self.clicks[-1]
        return Visit(first.user, first.ts, last.ts, len(self.clicks))


@entry(kind="process", input=Reading, keyed=("sensor",), state="partitioned", selectivity="1:[0,1]", forwards="all",
       why="debounce: pass a change of state only")  # fmt: skip
class Debounce:
    def __init__(self) -> None:
        self.ok: bool | None = None

    def process(self, r: Reading) -> Iterator[Reading]:
        if r.ok == self.ok:
            return
        self.ok = r.ok
        yield r


@entry(kind="process", input=Click, keyed=("user",), state="partitioned", selectivity="1:[0,1]", forwards="all",
       why="a set of what was seen, under a local name")  # fmt: skip
class FirstVisits:
    def __init__(self) -> None:
        self.seen: set[str] = set()

    def process(self, c: Click) -> Iterator[Click]:
        seen = self.seen
        if c.url not in seen:
            seen.add(c.url)
            yield c


@entry(kind="process", input=Trade, output=Amount, keyed=("symbol",), state="partitioned", selectivity="1:1",
       forwards={"symbol": "symbol"}, why="a bounded deque")  # fmt: skip
class MovingAverage:
    def __init__(self, width: int = 3) -> None:
        self.prices: deque[float] = deque(maxlen=width)

    def process(self, t: Trade) -> Iterator[Amount]:
        self.prices.append(t.price)
        yield Amount(t.symbol, sum(self.prices) / len(self.prices))


@entry(kind="process", input=Click, output=Tagged, keyed=("user",), state="partitioned", selectivity="1:[0,inf)",
       forwards={"user": "user"}, at_end=True, why="a Counter, reported at the end")  # fmt: skip
class Interests:
    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.user: int | None = None

    def process(self, c: Click) -> Iterator[Tagged]:
        self.user = c.user
        self.counts.update(c.tags)
        for tag in c.tags:
            if self.counts[tag] == 3:
                yield Tagged(c.user, tag)

    def finish(self) -> Iterator[Tagged]:
        for tag, n in sorted(self.counts.items()):
            yield Tagged(self.user, f"{tag}:{n}")


@entry(kind="process", input=Reading, output=Mean, keyed=("sensor",), state="partitioned", selectivity="1:1",
       forwards={"sensor": "sensor"}, why="Welford, with a helper method that writes self")  # fmt: skip
class Welford:
    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.n, self.mean, self.m2 = 0, 0.0, 0.0

    def _add(self, value: float) -> None:
        self.n += 1
        delta = value - self.mean
        self.mean += delta / self.n
        self.m2 += delta * (value - self.mean)

    @property
    def deviation(self) -> float:
        return math.sqrt(self.m2 / self.n)

    def process(self, r: Reading) -> Iterator[Mean]:
        if not r.ok:
            self.reset()
        self._add(r.celsius)
        yield Mean(r.sensor, self.deviation, self.n)


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="partitioned", selectivity="1:1",
       forwards={"key": "symbol"}, why="a class attribute is only the first value of the own one")  # fmt: skip
class Sequence:
    n = 0
    STEP: ClassVar[int] = 2

    def process(self, t: Trade) -> Iterator[Count]:
        self.n += self.STEP
        yield Count(t.symbol, self.n)


class LastValue:
    """A base that keeps the last tuple in the instance."""

    def __init__(self) -> None:
        self.last: Quote | None = None

    def remember(self, q: Quote) -> Quote | None:
        previous, self.last = self.last, q
        return previous


@entry(kind="process", input=Quote, output=Amount, keyed=("symbol",), state="partitioned", selectivity="1:[0,1]",
       forwards={"symbol": "symbol"}, why="state in a base class, reached through super()")  # fmt: skip
class BidChange(LastValue):
    def __init__(self) -> None:
        super().__init__()
        self.threshold = 0.5

    def process(self, q: Quote) -> Iterator[Amount]:
        previous = self.remember(q)
        if previous is not None and abs(q.bid - previous.bid) > self.threshold:
            yield Amount(q.symbol, q.bid - previous.bid)


@entry(kind="process", input=Trade, output=Amount, keyed=("symbol",), state="partitioned", selectivity="1:1",
       forwards={"symbol": "symbol"}, why="slots")  # fmt: skip
class Vwap:
    __slots__ = ("money", "shares")

    def __init__(self) -> None:
        self.money = 0.0
        self.shares = 0

    def process(self, t: Trade) -> Iterator[Amount]:
        self.money += t.price * t.size
        self.shares += t.size
        yield Amount(t.symbol, self.money / self.shares)


@entry(kind="process", input=Order, output=Count, keyed=("customer",), state="partitioned", selectivity="1:1",
       forwards={"key": "customer"}, why="a dataclass whose factory makes a list for each instance")  # fmt: skip
@dataclass
class Basket:
    items: list[str] = field(default_factory=list)
    limit: int = 20

    def process(self, o: Order) -> Iterator[Count]:
        self.items.extend(o.items)
        del self.items[: -self.limit]
        yield Count(o.customer, len(self.items))


class Stats:
    def __init__(self) -> None:
        self.low = math.inf
        self.values: list[float] = []

    def add(self, value: float) -> None:
        self.low = min(self.low, value)
        self.values.append(value)


@entry(kind="process", input=Reading, output=Mean, keyed=("sensor",), state="partitioned", selectivity="1:1",
       forwards={"sensor": "sensor"}, why="an own object with methods that change it")  # fmt: skip
class Lowest:
    def __init__(self) -> None:
        self.stats = Stats()

    def process(self, r: Reading) -> Iterator[Mean]:
        self.stats.add(r.celsius)
        yield Mean(r.sensor, self.stats.low, len(self.stats.values))


@entry(kind="process", input=Trade, keyed=("symbol",), state="partitioned", selectivity="1:[0,1]", forwards="all",
       why="an own seeded generator: a sample that is the same in every run")  # fmt: skip
class Sample:
    def __init__(self) -> None:
        self.random = random.Random(7)

    def process(self, t: Trade) -> Iterator[Trade]:
        if self.random.random() < 0.5:
            yield t


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="partitioned", selectivity="1:1",
       forwards={"key": "symbol"}, why="an own itertools.count")  # fmt: skip
class Numbering:
    def __init__(self) -> None:
        self.numbers = itertools.count(1)

    def process(self, t: Trade) -> Iterator[Count]:
        yield Count(t.symbol, next(self.numbers))


@entry(kind="process", input=Trade, output=Amount, keyed=("symbol",), state="partitioned", selectivity="1:[0,1]",
       forwards={"symbol": "symbol"}, at_punctuation=True, at_end=True,
       why="an own heap, emitted when a window closes")  # fmt: skip
class TopThree:
    def __init__(self) -> None:
        self.best: list[float] = []
        self.symbol = ""

    def process(self, t: Trade) -> None:
        self.symbol = t.symbol
        heapq.heappush(self.best, t.price)
        if len(self.best) > 3:
            heapq.heappop(self.best)

    def punctuation(self) -> Iterator[Amount]:
        for price in sorted(self.best):
            yield Amount(self.symbol, price)
        self.best.clear()

    def finish(self) -> Iterator[Amount]:
        yield from self.punctuation()


@entry(kind="process", input=Call, output=Travel, keyed=("phone", "area"), state="partitioned", selectivity="1:1",
       forwards={"phone": "phone", "ts": "ts"}, why="two key attributes")  # fmt: skip
class CallsPerArea:
    def __init__(self) -> None:
        self.n = 0

    def process(self, c: Call) -> Iterator[Travel]:
        self.n += 1
        yield Travel(c.phone, float(self.n), c.ts)


@entry(kind="process", input=Reading, output=Alert, keyed=("sensor",), state="partitioned", selectivity="1:[0,1]",
       forwards={"sensor": "sensor", "ts": "ts"}, why="no state at all, but keyed")  # fmt: skip
class Threshold:
    def __init__(self) -> None:
        self.limit = 45.0

    def process(self, r: Reading) -> Iterator[Alert]:
        if r.celsius > self.limit:
            yield Alert(r.sensor, f"over {self.limit}", r.ts)


class Counting:
    """A mixin that counts in the instance."""

    calls = 0

    def count(self) -> int:
        self.calls = self.calls + 1
        return self.calls


@entry(kind="process", input=Click, output=Tagged, keyed=("user",), state="partitioned", selectivity="1:1",
       forwards={"user": "user"}, why="a mixin that writes the instance")  # fmt: skip
class NumberedClicks(Counting):
    def process(self, c: Click) -> Iterator[Tagged]:
        yield Tagged(c.user, f"{self.count()}. {c.url}")


@entry(kind="process", input=Trade, output=Amount, keyed=("symbol",), state="partitioned", selectivity="1:1",
       forwards={"symbol": "symbol"}, why="a cached property belongs to the instance")  # fmt: skip
class Weighted:
    def __init__(self) -> None:
        self.first: float | None = None

    @cached_property
    def base(self) -> float:
        return (self.first or 1.0) * 2

    def process(self, t: Trade) -> Iterator[Amount]:
        if self.first is None:
            self.first = t.price
        yield Amount(t.symbol, t.price / self.base)


@entry(kind="process", input=Trade, output=Amount, keyed=("symbol",), state="partitioned", selectivity="1:[0,1]",
       forwards={"symbol": "symbol"}, why="a dict of lists by size class, and early returns")  # fmt: skip
class Levels:
    def __init__(self) -> None:
        self.levels: dict[int, list[float]] = defaultdict(list)

    def process(self, t: Trade) -> Iterator[Amount]:
        level = self.levels[len(str(t.size))]
        level.append(t.price)
        if len(level) < 2:
            return
        yield Amount(t.symbol, max(level) - min(level))
        level.clear()


@entry(kind="process", input=Reading, output=Mean, keyed=("sensor",), state="partitioned", selectivity="1:1",
       forwards={"sensor": "sensor"}, why="class constants read through type(self) and the class")  # fmt: skip
class Smoothing:
    ALPHA = 0.3
    START = (0.0, 1)

    def __init__(self) -> None:
        self.value, self.n = self.START

    def process(self, r: Reading) -> Iterator[Mean]:
        self.value = type(self).ALPHA * r.celsius + (1 - Smoothing.ALPHA) * self.value
        self.n += 1
        yield Mean(r.sensor, self.value, self.n)


@entry(kind="process", input=Reading, keyed=("sensor",), state="partitioned", selectivity="1:1",
       forwards={"sensor": "sensor", "ok": "ok", "ts": "ts"}, why="a list is replaced, not changed")  # fmt: skip
class Median:
    values: tuple[float, ...] = ()

    def process(self, r: Reading) -> Iterator[Reading]:
        self.values = (*self.values, r.celsius)[-5:]
        yield r._replace(celsius=sorted(self.values)[len(self.values) // 2])


@entry(kind="process", input=Click, output=Visit, keyed=("user",), state="partitioned", selectivity="1:[0,1]",
       forwards={"user": "user"}, at_end=True, why="a small state machine with match and walrus")  # fmt: skip
class Funnel:
    def __init__(self) -> None:
        self.stage = "start"
        self.since = 0.0
        self.user = -1
        self.paid = 0

    def process(self, c: Click) -> Iterator[Visit]:
        self.user = c.user
        path = c.url.removeprefix("https://shop.example.com")
        match (self.stage, path):
            case ("start", "/cart"):
                self.stage, self.since = "cart", c.ts
            case ("cart", "/cart/pay"):
                self.stage = "start"
                self.paid += 1
                yield Visit(c.user, self.since, c.ts, self.paid)
            case _ if (late := c.ts - self.since) > 300:
                self.stage, self.since = "start", late

    def finish(self) -> Iterator[Visit]:
        if self.stage == "cart":
            yield Visit(self.user, self.since, self.since, self.paid)
