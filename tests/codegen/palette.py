"""Operators of every kind on one type of tuples, and random programs made of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from hypothesis import strategies as st

import anabranch as ab
from anabranch.graph.model import Program
from anabranch.run import as_program

LIMIT = 3
WEIGHTS = (1.5, -0.0, 2.0)
START = datetime(2024, 2, 29, tzinfo=UTC)


class Item(NamedTuple):
    n: int
    x: float
    s: str
    maybe: int | None
    ts: float


class Bag(NamedTuple):
    n: int
    values: list[float]
    ts: float


class Moment(NamedTuple):
    n: int
    at: datetime


class Total(NamedTuple):
    n: int
    total: int
    mean: float
    largest: float | None
    smallest: float
    last: str
    maybe: int | None
    ts: float


class Spread(NamedTuple):
    std: float
    distinct: int
    names: list[str]
    best: str
    ts: float
    lowest: int | None


class Ending(NamedTuple):
    at: datetime
    start: datetime
    count: int


def clamp(value: float, limit: float) -> float:
    if value > limit:
        return limit
    if value < -limit:
        return -limit
    return value


def half(n: int) -> int:
    return n // 2


# Functions of one tuple ---------------------------------------------------------------------------------------------


def doubled(item: Item) -> Item:
    return Item(item.n * 2, item.x * 2, item.s, item.maybe, item.ts)


def inverted(item: Item) -> Item:
    inverse = (
        1 /
        item.n
    )  # fmt: skip
    return Item(item.n, inverse, item.s + "i", item.maybe, item.ts)


def clamped(item: Item) -> Item:
    """Calls a function of ours, and gives an int for a float."""
    near = clamp(item.x, LIMIT)
    return item._replace(x=near, n=half(item.n))


def unchanged(item: Item) -> Item:
    return item


def branching(item: Item) -> Item:
    if item.maybe is None:
        return Item(item.n, item.x, item.s, 0, item.ts)
    if item.n % 2:
        return Item(maybe=item.maybe + 1, n=item.n, x=float(item.maybe), s="odd", ts=item.ts)
    return Item(item.n, item.x, s=item.s, maybe=None, ts=item.ts)


def wrong_sometimes(item: Item) -> Any:
    return None if item.n == 5 else Item(item.n, item.s if item.n == 6 else item.x, item.s, None, item.ts)  # type: ignore[arg-type]


def with_a_loop(item: Item) -> Item:
    total = 0
    for step in range(abs(item.n) % 4):
        if step == 2:
            continue
        total += step
    while total > LIMIT:
        total -= 1
    return Item(total, item.x, item.s, item.maybe, item.ts)


def summed_weights(item: Item) -> Item:
    return Item(item.n, sum(weight * item.x for weight in WEIGHTS), item.s, item.maybe, item.ts)


MAPS: list[Callable[[Item], Item]] = [
    doubled, inverted, clamped, unchanged, branching, wrong_sometimes, with_a_loop, summed_weights,
    lambda item: Item(item.n + 2**62, item.x, item.s, item.maybe, item.ts),
    lambda item: Item(item.n, math.sqrt(item.x) if item.x >= 0 else -math.inf, item.s[:2], item.maybe, item.ts),
    lambda item: item if item.n > 0 else Item(0, 0.0, "", None, item.ts),
]  # fmt: skip


def is_large(item: Item) -> bool:
    if item.x != item.x:
        return False
    return item.x > LIMIT


PREDICATES: list[Callable[[Item], Any]] = [
    is_large,
    lambda item: item.n % 3 != 0,
    lambda item: item.s in ("a", "b"),
    lambda item: item.maybe is not None and item.maybe > 0,
    lambda item: 10 // item.n,
    lambda item: item.x <= item.n,
    lambda item: any(weight > item.x for weight in WEIGHTS),
]


def twice(item: Item) -> Iterator[Item]:
    yield item
    yield Item(item.n + 1, item.x, item.s, item.maybe, item.ts)


def several(item: Item) -> Iterator[Item]:
    for number in range(item.n % 3):
        if number == item.maybe:
            return
        yield Item(number, item.x / (number + 1), item.s, item.maybe, item.ts)


def perhaps(item: Item) -> Item | None:
    if item.n % 2 == 0:
        return None
    return Item(1 // (item.n - 7), item.x, item.s, item.maybe, item.ts)


def pair(item: Item) -> list[Item]:
    return [item, Item(0, -item.x, "pair", None, item.ts)]


def guarded(item: Item) -> Iterator[Item]:
    if item.n < 0:
        return
    try:
        yield Item(10 // item.n, item.x, item.s, item.maybe, item.ts)
    except ZeroDivisionError:
        yield item


FLAT_MAPS: list[Callable[[Item], Any]] = [twice, several, perhaps, pair, guarded]


# Operators with state -----------------------------------------------------------------------------------------------


class Running:
    def __init__(self) -> None:
        self.count = 0
        self.last: Item | None = None

    def process(self, item: Item) -> Iterator[Item]:
        self.count += 1
        if self.last is not None and item.ts > self.last.ts:
            step = (item.x - self.last.x) / (item.ts - self.last.ts)
            yield Item(self.count, clamp(step, 100.0), item.s, item.n, item.ts)
        self.last = item


class Ends:
    """Emits at punctuations and at the end, too."""

    def __init__(self) -> None:
        self.seen: list[Item] = []

    def process(self, item: Item) -> Item | None:
        self.seen.append(item)
        if len(self.seen) % 3 == 0:
            return self.seen[-2]
        return None

    def punctuation(self) -> Iterator[Item]:
        yield Item(len(self.seen), 0.5, "punctuation", None, 0.0)

    def finish(self) -> Iterator[Item]:
        yield from self.seen[:2]


class Failing:
    def __init__(self) -> None:
        self.left = 4

    def process(self, item: Item) -> Iterator[Item]:
        yield item
        self.left -= 1
        yield Item(10 // self.left, item.x, item.s, item.maybe, item.ts)


class Product:
    """An aggregate of ours."""

    def __init__(self) -> None:
        self.product = 1.0

    def add(self, item: Item) -> None:
        self.product *= item.x

    def result(self) -> float:
        return self.product


OPERATORS: list[Any] = [Running, Ends, Failing]
KEYS: list[Any] = [None, "n", "s", "x", ["s", "maybe"]]
WINDOWS: list[Any] = [
    ab.tumbling(count=3),
    ab.tumbling(count=1),
    ab.tumbling(seconds=2, on="ts"),
    ab.tumbling(seconds=2, on="ts"),
    ab.tumbling(seconds=0.3, on="ts"),
    ab.tumbling(delta=3, on="n"),
    ab.sliding(count=3, slide=2),
    ab.sliding(seconds=3, slide=1, on="ts"),
]


def aggregated(stream: Any) -> Any:
    totals = stream.aggregate(
        Total,
        n=ab.count(),
        total=ab.sum_("n"),
        mean=ab.mean("x"),
        largest=ab.max_("x"),
        smallest=ab.min_("x"),
        last=ab.last("s"),
        maybe=ab.first("maybe"),
        ts=ab.max_("ts"),
    )
    return totals.map(lambda total: Item(total.n, total.mean, total.last, total.total, total.ts), out=Item)


def spread(stream: Any) -> Any:
    found = stream.aggregate(
        Spread,
        std=ab.std("x"),
        distinct=ab.count_distinct("x"),
        names=ab.collect("s"),
        best=ab.arg_max("s", by="x"),
        ts=ab.last("ts"),
        lowest=ab.min_("maybe"),
    )
    return found.map(lambda found: Item(found.distinct, found.std, found.best, found.lowest, found.ts), out=Item)


def products(stream: Any) -> Any:
    return stream.aggregate(Bag, n=ab.count(), values=ab.collect("x"), ts=Product).map(
        lambda bag: Item(bag.n, sum(bag.values), "bag", len(bag.values), bag.ts), out=Item
    )


def through_lists(stream: Any) -> Any:
    """Each of two consumers gets lists of its own."""
    bags = stream.map(lambda item: Bag(item.n, [item.x, 1], item.ts), out=Bag)
    grown = bags.filter(lambda bag: bag.values.append(2) is None)
    kept = bags.map(lambda bag: Bag(len(bag.values), bag.values, bag.ts), out=Bag)
    return grown.union(kept).map(lambda bag: Item(bag.n, sum(bag.values), repr(bag.values), None, bag.ts), out=Item)


def through_moments(stream: Any) -> Any:
    moments = stream.filter(lambda item: abs(item.ts) < 1e6).map(
        lambda item: Moment(item.n, START + timedelta(seconds=item.ts)), out=Moment
    )
    windows = moments.window(ab.tumbling(seconds=2, on="at"))
    endings = windows.aggregate(Ending, at=ab.window_end(), start=ab.window_start(), count=ab.count())
    return endings.map(lambda end: Item(end.count, (end.at - end.start).total_seconds(), "end", None, 0.0), out=Item)


# Programs -----------------------------------------------------------------------------------------------------------

VALUES = st.builds(
    Item,
    st.one_of(st.integers(-8, 8), st.sampled_from([2**63 - 1, -(2**63), 2**53 + 1])),
    st.one_of(st.floats(-8, 8).map(lambda x: round(x, 1)), st.sampled_from([math.nan, math.inf, -0.0, 0.0, 1e308])),
    st.sampled_from(["a", "b", "", "ä€"]),
    st.one_of(st.none(), st.integers(-3, 3)),
    st.one_of(st.floats(0, 9).map(lambda x: round(x, 1)), st.sampled_from([3.0, 3.0, 4.0])),
)
RISING = st.lists(VALUES, max_size=25).map(
    lambda items: [item._replace(ts=float(at // 3) if at % 7 else item.ts) for at, item in enumerate(items)]
)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """A random graph: operators on streams of items, each on one or two of the streams before it."""
    streams = [ab.from_items(Item, draw(RISING)) for _ in range(draw(st.integers(1, 2)))]
    for _ in range(draw(st.integers(1, 5))):
        streams.append(_next(draw, streams))
    used = draw(st.lists(st.sampled_from(streams), min_size=1, max_size=2, unique_by=id))
    ends = [streams[-1], *[stream for stream in used if stream is not streams[-1]]]
    return as_program(*[stream.collect(f"out_{number}") for number, stream in enumerate(ends)])


def _next(draw: st.DrawFn, streams: list[Any]) -> Any:
    stream = draw(st.sampled_from(streams))
    key = draw(st.sampled_from(KEYS))
    match draw(st.sampled_from(STEPS)):
        case "map":
            on_error = draw(st.sampled_from(["stop", "stop", "stop", "skip"]))
            return stream.map(draw(st.sampled_from(MAPS)), out=Item, on_error=on_error)
        case "filter":
            return stream.filter(draw(st.sampled_from(PREDICATES)))
        case "flat_map":
            return stream.flat_map(draw(st.sampled_from(FLAT_MAPS)), out=Item)
        case "process":
            return stream.process(draw(st.sampled_from(OPERATORS)), key=key)
        case "window":
            window = draw(st.sampled_from(WINDOWS))
            windowed = stream.filter(lambda item: abs(item.n) < 100).window(window, key=key)
            return draw(st.sampled_from([aggregated, spread, products]))(windowed)
        case "punctuated":
            marked = stream.punctuate(count=draw(st.integers(1, 4)))
            return aggregated(marked.filter(lambda item: item.n > 0).window(ab.punctuated(), key=key))
        case "split":
            parts = stream.split({"one": draw(st.sampled_from(PREDICATES)), "two": lambda item: item.n > 0})
            return parts.one.union(parts.two.map(draw(st.sampled_from(MAPS)), out=Item))
        case "union":
            return stream.union(draw(st.sampled_from(streams)))
        case "sort":
            return stream.sort("n", count=3)
        case "distinct":
            return stream.distinct(key="s")
        case "feedback":
            return stream.filter(lambda item: abs(item.n) < 20).feedback(
                lambda around: (around, around.filter(lambda item: item.n > 1).map(clamped))
            )
        case "lists":
            return through_lists(stream)
        case _:
            return through_moments(stream)


STEPS = [
    "map", "map", "filter", "filter", "flat_map", "process", "process", "window", "window", "punctuated", "split",
    "union", "sort", "distinct", "feedback", "lists", "moments",
]  # fmt: skip
