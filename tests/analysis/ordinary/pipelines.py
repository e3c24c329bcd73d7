"""Functions of functions: itertools, functools, operator, comprehensions, closures and decorators."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections import ChainMap, Counter, defaultdict, namedtuple
from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce, singledispatch, wraps
from typing import Any, ParamSpec, TypeVar

from .records import Click, Count, Flag, Line, Number, Order, Reading, Text, Trade

OPERATORS = """grouped_items composed total_by_reduce rounded_price above_limit retried_parse clamped dispatched
    item_matrix pairs_of_items rotated_tags counted_twice sorted_by_two chained_settings indexed_items inverted
    flattened_tags windows_of_items scaled.apply tagged_with nested_counts dot_product curried run_lengths
    partitioned_items first_long matched_pairs every_nth power_set converted_by_table SmoothedBy validated_by
    bound_to_limit"""

P = ParamSpec("P")
R = TypeVar("R")
Pair = namedtuple("Pair", "left right")
by_length = operator.itemgetter(1)


def grouped_items(order: Order) -> Iterator[Count]:
    for item, group in itertools.groupby(sorted(order.items)):
        yield Count(item, len(list(group)))


def compose(*functions: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return reduce(lambda f, g: lambda x: g(f(x)), functions)


clean = compose(str.strip, str.lower, lambda text: text.replace(" ", "_"))


def composed(line: Line) -> Text:
    return Text(line.source, clean(line.text))


def total_by_reduce(order: Order) -> Count:
    return Count(order.customer, reduce(operator.add, map(len, order.items), 0))


def _rounded(digits: int, trade: Trade) -> Trade:
    return trade._replace(price=round(trade.price, digits))


rounded_price = partial(_rounded, 1)


def above(limit: float) -> Callable[[Trade], bool]:
    def test(trade: Trade) -> bool:
        return trade.price > limit

    return test


above_limit = above(30.0)


def fallback(default: R) -> Callable[[Callable[P, R]], Callable[P, R]]:
    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except (ValueError, IndexError):
                return default

        return wrapper

    return decorate


@fallback(Count("?", -1))
def retried_parse(line: Line) -> Count:
    return Count(line.source, int(line.text.split()[0]))


def clamp(low: float, high: float) -> Callable[[Callable[[Reading], Number]], Callable[[Reading], Number]]:
    def decorate(function: Callable[[Reading], Number]) -> Callable[[Reading], Number]:
        @wraps(function)
        def wrapper(reading: Reading) -> Number:
            result = function(reading)
            return result._replace(value=min(max(result.value, low), high))

        return wrapper

    return decorate


@clamp(0.0, 30.0)
def clamped(reading: Reading) -> Number:
    return Number(reading.sensor, reading.celsius * 1.5)


@singledispatch
def show(value: object) -> str:
    return "?"


@show.register
def _(value: int) -> str:
    return f"{value:+d}"


@show.register
def _(value: str) -> str:
    return value.upper()


@show.register(list)
def _(value: list[Any]) -> str:
    return "[" + " ".join(map(show, value)) + "]"


def dispatched(order: Order) -> Text:
    return Text(order.customer, show(order.items) + show(order.id))


def item_matrix(order: Order) -> Count:
    matrix = [[len(a) * len(b) for b in order.items] for a in order.items]
    return Count(order.customer, sum(cell for row in matrix for cell in row if cell % 2 == 0))


def pairs_of_items(order: Order) -> Iterator[Text]:
    for a, b in itertools.combinations(sorted(set(order.items)), 2):
        yield Text(order.customer, f"{a}&{b}")


def rotated_tags(click: Click) -> Click:
    at = len(click.url) % (len(click.tags) or 1)
    return click._replace(tags=[*itertools.islice(itertools.cycle(click.tags), at, at + len(click.tags))])


def counted_twice(line: Line) -> Count:
    return Count(line.source, sum((Counter(line.text) & Counter(line.text.lower())).values()))


def sorted_by_two(order: Order) -> Text:
    ranked = sorted(Counter(order.items).items(), key=lambda pair: (-pair[1], pair[0]))
    return Text(order.customer, ",".join(name for name, _ in ranked))


BUILT_IN = {"colour": "blue", "width": 3}
SETTINGS = ChainMap({"width": 5}, BUILT_IN)


def chained_settings(line: Line) -> Text:
    return Text(line.source, f"{SETTINGS['colour']}{SETTINGS.get('width', 0)}")


def indexed_items(order: Order) -> Iterator[Count]:
    index: dict[str, list[int]] = defaultdict(list)
    for at, item in enumerate(order.items, start=1):
        index[item].append(at)
    for item, places in index.items():
        yield Count(item, max(places))


def inverted(order: Order) -> Text:
    lengths: dict[int, set[str]] = {}
    for item in order.items:
        lengths.setdefault(len(item), set()).add(item)
    return Text(order.customer, "; ".join(f"{n}={'+'.join(sorted(names))}" for n, names in sorted(lengths.items())))


def flattened_tags(click: Click) -> Count:
    nested = [[tag, tag.upper()] for tag in click.tags]
    return Count(click.user, len(list(itertools.chain.from_iterable(nested))))


def windows(items: Iterable[str], n: int) -> Iterator[tuple[str, ...]]:
    copies = itertools.tee(items, n)
    for skip, copy in enumerate(copies):
        next(itertools.islice(copy, skip, skip), None)
    return zip(*copies, strict=False)


def windows_of_items(order: Order) -> Iterator[Text]:
    for window in windows(order.items, 2):
        yield Text(order.customer, ">".join(window))


class Scale:
    def __init__(self, factor: float) -> None:
        self.factor = factor

    def apply(self, trade: Trade) -> Number:
        return Number(trade.symbol, trade.price * self.factor)


scaled = Scale(2.5)


def tag_with(*tags: str) -> Callable[[Click], Click]:
    chosen = tuple(tag.lower() for tag in tags)

    def tag(click: Click) -> Click:
        return click._replace(tags=[*click.tags, *chosen])

    return tag


tagged_with = tag_with("New", "Seen")


def nested_counts(click: Click) -> Count:
    tree: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for tag in click.tags:
        tree[tag[0]][tag] += 1
    return Count(click.user, sum(sum(inner.values()) for inner in tree.values()))


def dot_product(order: Order) -> Number:
    lengths = [len(item) for item in order.items]
    return Number(order.customer, float(sum(map(operator.mul, lengths, itertools.count(1)))))


add = lambda a: lambda b: lambda c: a + b * c


def curried(trade: Trade) -> Number:
    return Number(trade.symbol, add(1.0)(trade.price)(2.0))


def run_lengths(line: Line) -> Text:
    return Text(line.source, "".join(f"{c}{sum(1 for _ in group)}" for c, group in itertools.groupby(line.text[:12])))


def partition(test: Callable[[str], bool], items: Iterable[str]) -> tuple[list[str], list[str]]:
    a, b = itertools.tee(items)
    return list(filter(test, a)), list(itertools.filterfalse(test, b))


def partitioned_items(order: Order) -> Flag:
    short, long = partition(lambda item: len(item) < 4, order.items)
    return Flag(order.customer, len(short) > len(long))


def first_long(order: Order) -> Text:
    return Text(order.customer, next(filter(lambda item: len(item) > 3, order.items), "none"))


def matched_pairs(order: Order) -> Iterator[Text]:
    for left, right in itertools.zip_longest(order.items[::2], order.items[1::2], fillvalue="-"):
        pair = Pair(left, right)
        yield Text(pair.left, pair.right)


def every_nth(line: Line) -> Text:
    return Text(line.source, "".join(itertools.islice(line.text, 0, None, 3)))


def power_set(click: Click) -> Count:
    subsets = itertools.chain.from_iterable(itertools.combinations(click.tags, r) for r in range(len(click.tags) + 1))
    return Count(click.user, sum(1 for _ in subsets))


CONVERSIONS: dict[str, Callable[[float], float]] = {
    "roof": math.sqrt,
    "cellar": lambda c: c + 273.15,
    "duct": partial(round, ndigits=0),
}


def converted_by_table(reading: Reading) -> Number:
    return Number(reading.sensor, float(CONVERSIONS[reading.sensor](abs(reading.celsius))))


class SmoothedBy:
    """The way to smooth is handed in."""

    def __init__(self, blend: Callable[[float, float], float] = lambda old, new: 0.7 * old + 0.3 * new) -> None:
        self.blend = blend
        self.value: float | None = None

    def process(self, trade: Trade) -> Iterator[Number]:
        self.value = trade.price if self.value is None else self.blend(self.value, trade.price)
        yield Number(trade.symbol, self.value)


Check = Callable[[Order], bool]
CHECKS: list[tuple[str, Check]] = [
    ("items", lambda order: bool(order.items)),
    ("total", lambda order: order.total > 20),
    ("id", lambda order: order.id % 2 == 0),
]


def validated_by(order: Order) -> Text:
    return Text(order.customer, ",".join(name for name, check in CHECKS if not check(order)))


@functools.partial(partial, limit=40.0)
def bound_to_limit(reading: Reading, limit: float) -> Flag:
    return Flag(reading.sensor, reading.celsius > limit)
