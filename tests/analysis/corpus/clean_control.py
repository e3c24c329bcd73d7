"""Ordinary Python: closures, matching, decorators, lambdas side by side, locals that are changed freely."""

from __future__ import annotations

import contextlib
import copy
import random
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from .registry import entry
from .tuples import (
    Alert,
    Amount,
    Call,
    Click,
    Count,
    Fix,
    JsonLine,
    LogLine,
    Order,
    Quote,
    Reading,
    Tagged,
    Text,
    Trade,
    Travel,
    Word,
)

rising, falling = entry("rising", kind="filter", input=Quote, why="the first of two lambdas on a line")(lambda q: q.ask > 30), entry("falling", kind="filter", input=Quote, why="the second of two lambdas on a line")(lambda q: q.ask <= 30)  # noqa: E501  # fmt: skip


@entry(kind="map", input=Reading, output=Alert, forwards={"sensor": "sensor", "ts": "ts"},
       why="match with guards, all returning")  # fmt: skip
def name_the_state(r: Reading) -> Alert:
    match r:
        case Reading(ok=False):
            text = "broken"
        case Reading(celsius=c) if c > 45:
            text = f"hot: {c}"
        case _:
            text = "fine"
    return Alert(r.sensor, text, r.ts)


@entry(kind="map", input=Order, output=Count, why="an inner function that reads its surroundings")
def count_long_items(o: Order) -> Count:
    limit = 4 if o.total > 100 else 3

    def is_long(item: str) -> bool:
        return len(item) >= limit

    return Count(o.customer.strip(), sum(map(is_long, o.items)))


@entry(kind="map", input=LogLine, output=Word, why="nonlocal that ends with the call")
def deepest_nesting(line: LogLine) -> Word:
    depth = deepest = 0

    def step(character: str) -> None:
        nonlocal depth, deepest
        depth += (character == "e") - (character == " ")
        deepest = max(deepest, depth)

    for character in line.text:
        step(character)
    return Word(line.text[:5], deepest)


def never_fails(default: float) -> Callable[[Callable[[Quote], float]], Callable[[Quote], float]]:
    def decorate(function: Callable[[Quote], float]) -> Callable[[Quote], float]:
        @wraps(function)
        def wrapper(q: Quote) -> float:
            try:
                return function(q)
            except ZeroDivisionError:
                return default

        return wrapper

    return decorate


@never_fails(default=0.0)
def relative_spread(q: Quote) -> float:
    return q.bid / (q.ask - q.bid)


@entry(kind="map", input=Quote, output=Amount, forwards={"symbol": "symbol"}, why="a helper with a pure decorator")
def tightness(q: Quote) -> Amount:
    return Amount(q.symbol, relative_spread(q))


def checked(function: Callable[[Trade], Trade]) -> Callable[[Trade], Trade]:
    @wraps(function)
    def wrapper(t: Trade) -> Trade:
        if t.price < 0:
            raise ValueError(f"negative price: {t}")
        return function(t)

    return wrapper


@entry(kind="map", input=Trade, forwards={"symbol": "symbol", "size": "size", "ts": "ts"},
       why="an operator under a pure decorator")  # fmt: skip
@checked
def to_cents(t: Trade) -> Trade:
    return t._replace(price=t.price * 100)


@entry(kind="for_each", input=Reading, why="a check that only raises")
def assert_sane(r: Reading) -> None:
    assert r.celsius > -273.15, f"colder than possible: {r}"


@entry(kind="map", input=Order, output=Text, why="locals of every mutable kind, changed in every way")
def summary(o: Order) -> Text:
    seen: set[str] = set()
    counts: dict[str, int] = {}
    order: deque[str] = deque(maxlen=3)
    for item in o.items:
        seen.add(item)
        counts[item] = counts.get(item, 0) + 1
        counts.setdefault("all", 0)
        counts["all"] += 1
        order.append(item)
    counts.pop("all", None)
    lines = [f"{item}:{counts[item]}" for item in sorted(seen)]
    lines.extend(order)
    lines += ["end"]
    del lines[0]
    return Text(",".join(lines))


@entry(kind="map", input=Click, output=Tagged, forwards={"user": "user"}, why="a copy of the argument is sorted")
def first_tag(c: Click) -> Tagged:
    ordered = list(c.tags)
    ordered.sort(reverse=True)
    return Tagged(c.user, ordered.pop() if ordered else "-")


@entry(kind="map", input=JsonLine, output=Count, why="a local OrderedDict, moved and popped")
def last_letters(line: JsonLine) -> Count:
    recent: OrderedDict[str, int] = OrderedDict()
    for position, letter in enumerate(line.text):
        recent[letter] = position
        recent.move_to_end(letter)
        if len(recent) > 3:
            recent.popitem(last=False)
    return Count("".join(recent), sum(recent.values()))


@entry(kind="map", input=LogLine, output=Word, why="a local iterator is advanced")
def every_other_word(line: LogLine) -> Word:
    words = iter(line.text.split())
    kept = []
    while (word := next(words, None)) is not None:
        kept.append(word)
        next(words, None)
    return Word(" ".join(kept), len(kept))


@entry(kind="map", input=LogLine, output=Word, why="a local generator function and its generator")
def letters_until_colon(line: LogLine) -> Word:
    def letters() -> Iterator[str]:
        for character in line.text:
            if character == ":":
                return
            if character.isalpha():
                yield character

    found = list(letters())
    return Word("".join(found), len(found))


class Extent:
    """A bounding box that grows."""

    def __init__(self) -> None:
        self.low = self.high = 0.0
        self.points: list[float] = []

    def add(self, value: float) -> None:
        self.low = min(self.low, value)
        self.high = max(self.high, value)
        self.points.append(value)

    @property
    def width(self) -> float:
        return self.high - self.low


@entry(kind="map", input=Call, output=Travel, forwards={"phone": "phone", "ts": "ts"},
       why="an object with state that lives for one call")  # fmt: skip
def width_of_call(c: Call) -> Travel:
    extent = Extent()
    for value in (c.x, c.y):
        extent.add(value)
    return Travel(c.phone, extent.width + len(extent.points), c.ts)


@entry(kind="map", input=Trade, output=Amount, forwards={"symbol": "symbol"},
       why="a generator seeded from the tuple, used and dropped")  # fmt: skip
def jitter(t: Trade) -> Amount:
    return Amount(t.symbol, t.price + random.Random(t.size).uniform(-0.5, 0.5))


@entry(kind="map", input=JsonLine, output=Word, why="contextlib.suppress around local work")
def number_in(line: JsonLine) -> Word:
    value = -1
    with contextlib.suppress(ValueError):
        value = int(line.text.strip("[]").split(",")[0])
    return Word(line.text[:3], value)


@entry(kind="map", input=Fix, output=Text, why="star arguments and keyword arguments")
def show_fix(fix: Fix) -> Text:
    options: dict[str, Any] = {"sep": ";", "end": "."}
    return Text(_join(fix.device, *fix.where, **options))


def _join(*values: object, sep: str, end: str) -> str:
    return sep.join(map(str, values)) + end


@entry(kind="map", input=Order,
       forwards={"id": "id", "customer": "customer", "total": "total", "note": "note"},
       why="a deep copy is changed, not the argument")  # fmt: skip
def without_first_item(o: Order) -> Order:
    items = copy.deepcopy(o.items)
    if items:
        del items[0]
    items.sort()
    return o._replace(items=items)


PRICES = [9.0, 11.0]  # only here so that a local of the same name below looks like it


@entry(kind="map", input=Trade, output=Amount, forwards={"symbol": "symbol"},
       why="a local hides a global of the same name")  # fmt: skip
def around(t: Trade) -> Amount:
    PRICES = [t.price - 1, t.price + 1]
    PRICES.append(t.price)
    return Amount(t.symbol, sum(PRICES) / len(PRICES))


@entry(
    kind="map", input=Trade, output=Amount, forwards={"symbol": "symbol"}, why="try, except, else and finally of locals"
)
def robust_ratio(t: Trade) -> Amount:
    steps = 0
    try:
        ratio = t.price / (t.size - 100)
    except ZeroDivisionError:
        ratio = 0.0
    else:
        steps += 1
    finally:
        steps += 1
    return Amount(t.symbol, ratio * steps)


@entry(kind="filter", input=Order, why="truth of a list and of an optional string")
def has_content(o: Order) -> bool:
    return bool(o.items) and (o.note or "").strip() != ""


@entry(kind="map", input=Trade, output=Amount, forwards={"symbol": "symbol"}, why="lambdas inside calls inside lambdas")
def weighted(t: Trade) -> Amount:
    weigh = lambda weight: lambda value: value * weight
    return Amount(t.symbol, max((weigh(w)(t.price) for w in (0.5, 1.5)), key=lambda value: -abs(value)))


@entry(
    kind="map", input=Click, output=Tagged, forwards={"user": "user"}, why="a dictionary comprehension, then a lookup"
)
def most_specific(c: Click) -> Tagged:
    lengths = {tag: len(tag) for tag in c.tags}
    longest = max(lengths, key=lengths.get, default="-")
    return Tagged(c.user, longest)
