"""State changed by a call that does not look like one: unbound methods, callbacks, generators run for their effect."""

from __future__ import annotations

import functools
import operator
from collections import deque
from collections.abc import Iterator

from .registry import entry
from .tuples import Amount, Click, Count, Numbered, Order, Tagged, Trade, Word

TOTALS: dict[str, float] = {}


NAMES: set[str] = set()


SEEN_2: list[str] = []


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="the bound method is taken first and called later")  # fmt: skip
def push_first(t: Trade) -> Count:
    push = SEEN_2.append
    if t.size > 1:
        push(t.symbol)
    return Count(t.symbol, len(SEEN_2))


BUCKETS_2: tuple[list[str], ...] = ([], [], [])


@entry(kind="map", input=Click, output=Tagged, state="stateful", forwards={"user": "user"}, trap=True,
       why="a comprehension run for its side effect")  # fmt: skip
def comprehension_for_effect(c: Click) -> Tagged:
    [bucket.append(c.url) for bucket in BUCKETS_2 if len(bucket) < c.user * 3]
    return Tagged(c.user, str(sum(map(len, BUCKETS_2))))


HISTORY_3: list[float] = []


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="list.append called through the class")  # fmt: skip
def unbound_method(t: Trade) -> Amount:
    list.append(HISTORY_3, t.price)
    return Amount(t.symbol, HISTORY_3[len(HISTORY_3) // 2])


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="operator.setitem writes the module's dict")  # fmt: skip
def by_operator(t: Trade) -> Amount:
    operator.setitem(TOTALS, t.symbol, TOTALS.get(t.symbol, 0.0) + t.size)
    return Amount(t.symbol, operator.itemgetter(t.symbol)(TOTALS))


HISTORY_4: list[float] = []


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="operator.iadd as the step of reduce, starting with the module's list")  # fmt: skip
def by_reduce(t: Trade) -> Amount:
    grown = functools.reduce(operator.iadd, ([t.price], [t.price / 2]), HISTORY_4)
    return Amount(t.symbol, sum(grown))


SEEN_4: list[str] = []


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="methodcaller names the mutation in a string")  # fmt: skip
def by_methodcaller(t: Trade) -> Count:
    add = operator.methodcaller("append", t.symbol)
    add(SEEN_4)
    return Count(t.symbol, len(SEEN_4))


SEEN_5: list[str] = []


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="getattr with a name put together")  # fmt: skip
def by_getattr(t: Trade) -> Count:
    getattr(SEEN_5, "app" + "end")(t.symbol)
    return Count(t.symbol, SEEN_5.count(t.symbol))


SEEN_6: list[str] = []


@entry(kind="map", input=Click, output=Tagged, state="stateful", forwards={"user": "user"}, trap=True,
       why="list.append as the callback of map")  # fmt: skip
def append_as_callback(c: Click) -> Tagged:
    list(map(SEEN_6.append, c.tags))
    return Tagged(c.user, str(len(SEEN_6)))


@entry(kind="map", input=Click, output=Tagged, state="stateful", forwards={"user": "user"}, trap=True,
       why="a deque drains a generator that writes a set")  # fmt: skip
def drained(c: Click) -> Tagged:
    deque((NAMES.add(f"{c.user}{tag}") for tag in c.tags), maxlen=0)
    return Tagged(c.user, str(len(NAMES)))


SEEN_7: list[str] = []


@entry(kind="map", input=Click, output=Tagged, state="stateful", forwards={"user": "user"}, trap=True,
       why="any() over a generator that appends")  # fmt: skip
def any_for_effect(c: Click) -> Tagged:
    any(SEEN_7.append(tag) for tag in c.tags)
    return Tagged(c.user, str(len(SEEN_7)))


SEEN_8: list[str] = []


@entry(kind="map", input=Order, output=Word, state="stateful", trap=True, why="the sort key writes a list")
def sorted_with_memory(o: Order) -> Word:
    ordered = sorted(o.items, key=lambda item: SEEN_8.append(item) or -SEEN_8.count(item))
    return Word(ordered[0] if ordered else "-", len(SEEN_8))


HISTORY_8: list[float] = []


@entry(kind="process", input=Trade, output=Numbered, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"number": "size"}, trap=True,
       why="the own attribute is a bound method of the module's list")  # fmt: skip
class OwnMethodOfShared:
    def __init__(self) -> None:
        self.remember = HISTORY_8.append

    def process(self, t: Trade) -> Iterator[Numbered]:
        self.remember(t.price)
        yield Numbered(t.size, len(HISTORY_8))
