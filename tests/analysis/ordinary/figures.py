"""Statistics, of one tuple and of the tuples of a key."""

from __future__ import annotations

import bisect
import heapq
import math
import statistics
from array import array
from collections import Counter, deque
from collections.abc import Iterator
from typing import NamedTuple

from .records import Count, Flag, Number, Order, Reading, Trade

OPERATORS = """RunningMean Welford MovingMedian Ewma TopThree Histogram ZScore RunningQuantile price_bucket
    log_return_bound item_entropy MovingAverage Extremes Regression AutoCorrelation spread_of_items mode_of_items
    ModeSoFar RateOfChange FixedArray"""


class Summary(NamedTuple):
    key: str
    mean: float
    deviation: float
    n: int


class RunningMean:
    def __init__(self) -> None:
        self.n = 0
        self.total = 0.0

    def process(self, reading: Reading) -> Iterator[Number]:
        self.n += 1
        self.total += reading.celsius
        yield Number(reading.sensor, self.total / self.n)


class Welford:
    def __init__(self) -> None:
        self.n, self.mean, self.m2 = 0, 0.0, 0.0

    def add(self, value: float) -> None:
        self.n += 1
        delta = value - self.mean
        self.mean += delta / self.n
        self.m2 += delta * (value - self.mean)

    @property
    def deviation(self) -> float:
        return math.sqrt(self.m2 / (self.n - 1)) if self.n > 1 else 0.0

    def process(self, reading: Reading) -> Iterator[Summary]:
        self.add(reading.celsius)
        yield Summary(reading.sensor, self.mean, self.deviation, self.n)


class MovingMedian:
    def __init__(self, width: int = 5) -> None:
        self.window: deque[float] = deque(maxlen=width)

    def process(self, trade: Trade) -> Iterator[Number]:
        self.window.append(trade.price)
        yield Number(trade.symbol, statistics.median(self.window))


class Ewma:
    ALPHA = 0.3

    def __init__(self) -> None:
        self.value: float | None = None

    def process(self, trade: Trade) -> Number:
        before = trade.price if self.value is None else self.value
        self.value = self.ALPHA * trade.price + (1 - self.ALPHA) * before
        return Number(trade.symbol, self.value)


class TopThree:
    def __init__(self) -> None:
        self.heap: list[float] = []

    def process(self, trade: Trade) -> Iterator[Number]:
        if len(self.heap) < 3:
            heapq.heappush(self.heap, trade.price)
        elif trade.price > self.heap[0]:
            heapq.heapreplace(self.heap, trade.price)
        else:
            return
        yield Number(trade.symbol, self.heap[0])

    def finish(self) -> Iterator[Number]:
        for price in heapq.nlargest(3, self.heap):
            yield Number("top", price)


class Histogram:
    EDGES = (0.0, 10.0, 20.0, 40.0)

    def __init__(self) -> None:
        self.bins = [0] * (len(self.EDGES) + 1)

    def process(self, reading: Reading) -> Iterator[Count]:
        at = bisect.bisect_right(self.EDGES, reading.celsius)
        self.bins[at] += 1
        yield Count(f"{reading.sensor}/{at}", self.bins[at])


class ZScore:
    def __init__(self, threshold: float = 1.5) -> None:
        self.values: list[float] = []
        self.threshold = threshold

    def process(self, reading: Reading) -> Iterator[Flag]:
        if len(self.values) >= 2:
            mean, deviation = statistics.fmean(self.values), statistics.stdev(self.values)
            z = (reading.celsius - mean) / deviation if deviation else 0.0
            yield Flag(reading.sensor, abs(z) > self.threshold)
        self.values.append(reading.celsius)


class RunningQuantile:
    def __init__(self) -> None:
        self.sorted: list[float] = []

    def process(self, trade: Trade) -> Iterator[Number]:
        bisect.insort(self.sorted, trade.price)
        yield Number(trade.symbol, self.sorted[int(0.9 * (len(self.sorted) - 1))])


def price_bucket(trade: Trade) -> Count:
    return Count(trade.symbol, int(trade.price // 10) * 10)


def log_return_bound(trade: Trade) -> Number:
    return Number(trade.symbol, math.log1p(trade.price) / math.log(10) + math.pi * 1e-9)


def item_entropy(order: Order) -> Number:
    counts = Counter(order.items)
    n = sum(counts.values())
    return Number(order.customer, -sum(c / n * math.log2(c / n) for c in counts.values()) if n else 0.0)


class MovingAverage:
    def __init__(self) -> None:
        self.window = deque([0.0] * 4, maxlen=4)
        self.sum = 0.0

    def process(self, trade: Trade) -> Iterator[Number]:
        self.sum += trade.price - self.window.popleft()
        self.window.append(trade.price)
        yield Number(trade.symbol, self.sum / 4)


class Extremes:
    def __init__(self) -> None:
        self.low, self.high = math.inf, -math.inf

    def process(self, reading: Reading) -> Iterator[Number]:
        self.low, self.high = min(self.low, reading.celsius), max(self.high, reading.celsius)
        yield Number(reading.sensor, self.high - self.low)


class Regression:
    def __init__(self) -> None:
        self.xs: list[float] = []
        self.ys: list[float] = []

    def process(self, trade: Trade) -> Iterator[Number]:
        self.xs.append(trade.ts)
        self.ys.append(trade.price)
        if len(self.xs) > 2:
            slope, intercept = statistics.linear_regression(self.xs, self.ys)
            yield Number(trade.symbol, slope * (trade.ts + 60.0) + intercept)


class AutoCorrelation:
    def __init__(self, lag: int = 1) -> None:
        self.lag = lag
        self.values = array("d")

    def process(self, reading: Reading) -> Iterator[Number]:
        self.values.append(reading.celsius)
        pairs = [(a, b) for a, b in zip(self.values, self.values[self.lag :], strict=False)]
        yield Number(reading.sensor, math.fsum(a * b for a, b in pairs) / len(pairs) if pairs else 0.0)


def spread_of_items(order: Order) -> Number:
    lengths = [len(item) for item in order.items] or [0]
    return Number(order.customer, statistics.pstdev(lengths) + statistics.fmean(lengths))


def mode_of_items(order: Order) -> Count | None:
    if not order.items:
        return None
    item, n = Counter(order.items).most_common(1)[0]
    return Count(item, n)


class ModeSoFar:
    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def process(self, order: Order) -> Iterator[Count]:
        self.counts.update(order.items)
        if self.counts:
            best = max(sorted(self.counts), key=lambda item: self.counts[item])
            yield Count(best, self.counts[best])


class RateOfChange:
    def __init__(self) -> None:
        self.last: Reading | None = None

    def process(self, reading: Reading) -> Iterator[Number]:
        last, self.last = self.last, reading
        if last is not None and reading.ts > last.ts:
            yield Number(reading.sensor, (reading.celsius - last.celsius) / (reading.ts - last.ts))


class FixedArray:
    def __init__(self) -> None:
        self.ring = array("q", [0] * 8)
        self.n = 0

    def process(self, trade: Trade) -> Iterator[Count]:
        self.ring[self.n % len(self.ring)] = trade.size
        self.n += 1
        yield Count(trade.symbol, sum(self.ring))
