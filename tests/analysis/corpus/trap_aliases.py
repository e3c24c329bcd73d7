"""State under another name: locals, containers and copies that lead back to the module."""

from __future__ import annotations

import contextlib
import copy
import itertools
from collections.abc import Iterator
from types import MappingProxyType

from .registry import entry
from .tuples import Amount, Call, Click, Count, Numbered, Quote, Reading, Tagged, Trade, Travel

SEEN: list[str] = []
PRICES: list[float] = [0.0]
HISTORY: list[float] = []
LEFT: list[float] = []
RIGHT: list[float] = []
PAIR = (LEFT, RIGHT)
BUCKETS: tuple[list[str], ...] = ([], [], [])
STATE: dict[str, list[float]] = {"prices": [], "sizes": []}


STATE_6: dict[str, list[float]] = {"prices": [], "sizes": []}


VIEW = MappingProxyType(STATE_6)

MATRIX = [[0.0], [0.0]]


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a local name for a list of the module")  # fmt: skip
def nth_symbol(t: Trade) -> Count:
    seen = SEEN
    seen.append(t.symbol)
    return Count(t.symbol, len(seen))


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="+= on a local name changes the list behind it")  # fmt: skip
def running_price(t: Trade) -> Amount:
    prices = PRICES
    prices += [t.price]
    return Amount(t.symbol, sum(prices))


@entry(kind="map", input=Quote, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="aliases made by unpacking a tuple of lists")  # fmt: skip
def both_histories(q: Quote) -> Amount:
    bids, asks = PAIR
    bids.append(q.bid)
    asks.append(q.ask)
    return Amount(q.symbol, max(bids) - min(asks))


LEFT_2: list[float] = []
RIGHT_2: list[float] = []


@entry(kind="map", input=Reading, output=Count, state="stateful", forwards={"key": "sensor"}, trap=True,
       why="the receiver is a conditional expression")  # fmt: skip
def good_or_bad(r: Reading) -> Count:
    (LEFT_2 if r.ok else RIGHT_2).append(r.celsius)
    return Count(r.sensor, len(LEFT_2) - len(RIGHT_2))


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a list inside a dict of the module")  # fmt: skip
def mean_so_far(t: Trade) -> Amount:
    prices = STATE["prices"]
    prices.append(t.price)
    return Amount(t.symbol, sum(prices) / len(prices))


@entry(kind="map", input=Click, output=Tagged, state="stateful", forwards={"user": "user"}, trap=True,
       why="the loop variable is one of the module's lists")  # fmt: skip
def spread_over_buckets(c: Click) -> Tagged:
    for number, bucket in enumerate(BUCKETS):
        if len(c.url) % (number + 2) == 0:
            bucket.append(c.url)
    return Tagged(c.user, "/".join(str(len(bucket)) for bucket in BUCKETS))


def _history() -> list[float]:
    return HISTORY


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a helper gives out the module's list")  # fmt: skip
def previous_price(t: Trade) -> Amount:
    history = _history()
    before = history[-1] if history else 0.0
    history.append(t.price)
    return Amount(t.symbol, before)


SEEN_3: list[str] = []


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a walrus names the module's list")  # fmt: skip
def walrus_alias(t: Trade) -> Count:
    if len(names := SEEN_3) < 1_000:
        names.insert(0, t.symbol)
    return Count(t.symbol, len(SEEN_3))


HISTORY_2: list[float] = []


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a local container holds the module's list")  # fmt: skip
def boxed(t: Trade) -> Amount:
    box = {"recent": [HISTORY_2]}
    box["recent"][0].append(t.price)
    return Amount(t.symbol, sum(HISTORY_2))


STATE_2: dict[str, list[float]] = {"prices": [], "sizes": []}


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a match pattern captures the module's list")  # fmt: skip
def captured_by_match(t: Trade) -> Amount:
    match STATE_2:
        case {"sizes": [*_], "prices": prices}:
            prices.append(t.price)
    return Amount(t.symbol, max(STATE_2["prices"]))


LEFT_3: list[float] = []
RIGHT_3: list[float] = []


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="max() returns one of the module's lists")  # fmt: skip
def shorter_list(t: Trade) -> Amount:
    min(LEFT_3, RIGHT_3, key=len).append(t.price)
    return Amount(t.symbol, sum(LEFT_3) - sum(RIGHT_3))


STATE_3: dict[str, list[float]] = {"prices": [], "sizes": []}


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a shallow copy shares the lists inside")  # fmt: skip
def shallow_copy(t: Trade) -> Amount:
    state = copy.copy(STATE_3)
    state["prices"].append(t.price)
    return Amount(t.symbol, float(len(STATE_3["prices"])))


STATE_4: dict[str, list[float]] = {"prices": [], "sizes": []}


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="dict() copies the dict, not what is in it")  # fmt: skip
def copied_by_constructor(t: Trade) -> Amount:
    state = dict(STATE_4, extra=[])
    for values in state.values():
        values.append(t.price)
    return Amount(t.symbol, float(len(STATE_4["sizes"])))


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a slice is a new list of the same lists")  # fmt: skip
def slice_of_rows(t: Trade) -> Amount:
    first, *_ = MATRIX[:]
    first[0] += t.price
    return Amount(t.symbol, MATRIX[0][0])


STATE_5: dict[str, list[float]] = {"prices": [], "sizes": []}


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="next(iter()) gives the module's own list")  # fmt: skip
def first_of_values(t: Trade) -> Amount:
    next(iter(STATE_5.values())).append(t.price)
    return Amount(t.symbol, sum(STATE_5["prices"]))


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a read-only view of a dict that still changes inside")  # fmt: skip
def through_the_view(t: Trade) -> Amount:
    VIEW["sizes"].append(t.price)
    return Amount(t.symbol, float(len(VIEW["sizes"])))


STATE_7: dict[str, list[float]] = {"prices": [], "sizes": []}


@contextlib.contextmanager
def opened(name: str) -> Iterator[list[float]]:
    yield STATE_7.setdefault(name, [])


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a context manager hands out the module's list")  # fmt: skip
def within_context(t: Trade) -> Amount:
    with opened("prices") as prices:
        prices.append(t.price)
        return Amount(t.symbol, sum(prices))


class Rejected(Exception):
    pass


HISTORY_6: list[float] = []


def _reject() -> None:
    raise Rejected(HISTORY_6)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="an exception carries the module's list to its handler")  # fmt: skip
def carried_by_exception(t: Trade) -> Amount:
    try:
        _reject()
    except Rejected as rejected:
        rejected.args[0].append(t.price)
    return Amount(t.symbol, float(len(HISTORY_6)))


SEEN_10: list[str] = []


@entry(kind="process", input=Trade, output=Count, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"key": "symbol"}, trap=True, why="the own attribute is the module's list")  # fmt: skip
class OwnNameForShared:
    def __init__(self) -> None:
        self.seen = SEEN_10

    def process(self, t: Trade) -> Iterator[Count]:
        self.seen.append(t.symbol)
        yield Count(t.symbol, len(self.seen))


@entry(kind="process", input=Call, output=Travel, keyed=("phone",), state="stateful", selectivity="1:1",
       forwards={"phone": "phone", "ts": "ts"}, trap=True, why="every instance gets the one default list")  # fmt: skip
class SharedDefault:
    def __init__(self, calls: list[float] = []) -> None:
        self.calls = calls

    def process(self, c: Call) -> Iterator[Travel]:
        self.calls.append(c.x)
        yield Travel(c.phone, sum(self.calls), c.ts)


HISTORY_7: list[float] = []


@entry(kind="process", input=Trade, output=Numbered, keyed=("symbol",), state="stateful", selectivity="1:1",
       forwards={"number": "size"}, trap=True, why="an own dict that holds a shared list")  # fmt: skip
class OwnDictOfShared:
    def __init__(self) -> None:
        self.by_name = {"history": HISTORY_7, "own": []}

    def process(self, t: Trade) -> Iterator[Numbered]:
        for values in self.by_name.values():
            values.append(t.price)
        yield Numbered(t.size, len(self.by_name["history"]))


LEFT_4: list[float] = []
RIGHT_4: list[float] = []


@entry(kind="map", input=Trade, output=Numbered, state="stateful", forwards={"number": "size"}, trap=True,
       why="itertools hands the module's lists on")  # fmt: skip
def by_zip_and_chain(t: Trade) -> Numbered:
    for values, price in zip(itertools.chain([LEFT_4], [RIGHT_4]), (t.price, -t.price), strict=True):
        values.append(price)
    return Numbered(t.size, len(RIGHT_4))


PRICES_2: list[float] = [0.0]


@entry(kind="map", input=Trade, output=Numbered, state="stateful", forwards={"number": "size"}, trap=True,
       why="or gives back the module's list")  # fmt: skip
def by_boolean(t: Trade) -> Numbered:
    target = None or PRICES_2
    target.append(t.price)
    return Numbered(t.size, len(PRICES_2))
