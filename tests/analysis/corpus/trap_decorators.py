"""State behind decorators, caches, dispatch and callbacks."""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Callable
from typing import Any

from .registry import entry
from .tuples import (
    Amount,
    Click,
    Count,
    JsonLine,
    LogLine,
    Numbered,
    Order,
    Quote,
    Reading,
    Tagged,
    Trade,
    Word,
)

calls = 0


def _count_call() -> None:
    global calls
    calls += 1


def counting(function: Callable[[Trade], Numbered]) -> Callable[[Trade], Numbered]:
    n = 0

    @functools.wraps(function)
    def wrapper(t: Trade) -> Numbered:
        nonlocal n
        n += 1
        return function(t)._replace(n=n)

    return wrapper


@entry(kind="map", input=Trade, output=Numbered, state="stateful", forwards={"number": "size"}, trap=True,
       why="a counting decorator behind functools.wraps")  # fmt: skip
@counting
def wrapped(t: Trade) -> Numbered:
    return Numbered(t.size, 0)


SEEN_2: list[Trade] = []


def logged(function: Callable[[Trade], Amount]) -> Callable[[Trade], Amount]:
    def wrapper(t: Trade) -> Amount:
        SEEN_2.append(t)
        return function(t)._replace(value=float(len(SEEN_2)))

    return wrapper


@entry("undisguised", kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"},
       trap=True, why="a decorator without functools.wraps")  # fmt: skip
@logged
def undisguised(t: Trade) -> Amount:
    return Amount(t.symbol, t.price)


class once_per_symbol:
    """A decorator that is a class."""

    def __init__(self, function: Callable[[Quote], Amount]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.seen: dict[str, Amount] = {}

    def __call__(self, q: Quote) -> Amount:
        return self.seen.setdefault(q.symbol, self.function(q))


@entry(kind="map", input=Quote, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a class as a decorator that keeps the first result")  # fmt: skip
@once_per_symbol
def first_quote(q: Quote) -> Amount:
    return Amount(q.symbol, q.bid)


@functools.cache
def _first_price_of(symbol: str) -> list[float]:
    return []


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="the cache gives everybody the same list")  # fmt: skip
def cached_list(t: Trade) -> Amount:
    prices = _first_price_of(t.symbol)
    prices.append(t.price)
    return Amount(t.symbol, prices[0])


@functools.lru_cache(maxsize=2)
def _ticket(symbol: str) -> int:
    _count_call()
    return calls


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="an lru_cache over a helper that counts")  # fmt: skip
def cached_ticket(t: Trade) -> Count:
    return Count(t.symbol, _ticket(t.symbol))


NOTES_2: list[str] = []


@functools.singledispatch
def _weigh(value: object) -> int:
    return 0


@_weigh.register
def _(value: str) -> int:
    NOTES_2.append(value)
    return len(NOTES_2)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="singledispatch leads to a function that writes")  # fmt: skip
def weighed(t: Trade) -> Count:
    return Count(t.symbol, _weigh(t.symbol))


NOTES_3: list[str] = []


def _note(match: re.Match[str]) -> str:
    NOTES_3.append(match.group())
    return str(len(NOTES_3))


@entry(kind="map", input=LogLine, state="stateful", forwards={"number": "number"}, trap=True,
       why="re.sub with a callback that counts")  # fmt: skip
def numbered_digits(line: LogLine) -> LogLine:
    return line._replace(text=re.sub(r"\d+", _note, line.text))


SEEN_3: list[Any] = []


@entry(kind="map", input=JsonLine, output=Numbered, state="stateful", forwards={"number": "number"}, trap=True,
       why="a JSON hook that collects")  # fmt: skip
def objects_so_far(line: JsonLine) -> Numbered:
    try:
        json.loads(line.text, object_hook=SEEN_3.append)
    except ValueError:
        return Numbered(line.number, -1)
    return Numbered(line.number, len(SEEN_3))


NOTES_4: list[str] = []


def _key_of(item: str) -> tuple[int, str]:
    NOTES_4.append(item)
    return (NOTES_4.count(item), item)


@entry(kind="map", input=Order, output=Word, state="stateful", forwards={"n": "id"}, trap=True,
       why="min with a key that remembers")  # fmt: skip
def rarest_item(o: Order) -> Word:
    return Word(min(o.items, key=_key_of, default="-"), o.id)


SEEN_4: list[int] = []


@entry(kind="map", input=Order, output=Numbered, state="stateful", forwards={"number": "id"}, trap=True,
       why="accumulate with a function that writes")  # fmt: skip
def accumulated(o: Order) -> Numbered:
    steps = list(itertools.accumulate(map(len, o.items), lambda a, b: SEEN_4.append(a) or a + b))
    return Numbered(o.id, sum(steps) + len(SEEN_4))


SEEN_5: list[Reading] = []
HANDLERS: dict[str, Callable[[Reading], float]] = {
    "roof": lambda r: r.celsius,
    "cellar": lambda r: SEEN_5.append(r) or float(len(SEEN_5)),
}


@entry(kind="map", input=Reading, output=Amount, state="stateful", forwards={"symbol": "sensor"}, trap=True,
       why="one handler of the dispatch table writes")  # fmt: skip
def handled(r: Reading) -> Amount:
    return Amount(r.sensor, HANDLERS.get(r.sensor, HANDLERS["roof"])(r))


def _apply(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


VISITED_2: set[str] = set()


@entry(kind="map", input=Click, output=Tagged, state="stateful", forwards={"user": "user"}, trap=True,
       why="the mutation is handed to a helper as a function")  # fmt: skip
def applied(c: Click) -> Tagged:
    _apply(VISITED_2.add, c.url)
    return Tagged(c.user, str(len(VISITED_2)))
