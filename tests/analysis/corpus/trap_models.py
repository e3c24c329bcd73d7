"""Models that look finished and are not; arrays and tables that somebody else writes."""

from __future__ import annotations

import functools
import weakref
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from .registry import entry
from .tuples import Amount, Count, LogLine, Numbered, Reading, Trade


class Mean:
    def __init__(self) -> None:
        self.total = 0.0
        self.n = 0

    def fit(self, values: list[float]) -> Mean:
        for value in values:
            self.add(value)
        return self

    def add(self, value: float) -> None:
        self.total += value
        self.n += 1

    def predict(self) -> float:
        return self.total / max(self.n, 1)


LEARNING = Mean().fit([1.0, 2.0])


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="the model is fitted further by each tuple")  # fmt: skip
def learning(t: Trade) -> Amount:
    LEARNING.add(t.price)
    return Amount(t.symbol, LEARNING.predict())


SERVED = Mean().fit([1.0])


def serve_more(t: Trade) -> Amount:
    SERVED.add(t.price)
    return Amount(t.symbol, SERVED.predict())


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True, shows=False,
       beside=("serve_more",), why="the model is fitted further elsewhere")  # fmt: skip
def served(t: Trade) -> Amount:
    return Amount(t.symbol, SERVED.predict() + t.price)


NAMED = Mean().fit([1.0])


def train_by_name(t: Trade) -> Amount:
    getattr(NAMED, "add")(t.price)
    return Amount(t.symbol, t.price)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True, shows=False,
       beside=("train_by_name",), why="fitted further by a method that only a text names")  # fmt: skip
def named(t: Trade) -> Amount:
    return Amount(t.symbol, NAMED.predict() + t.price)


class Tee:
    """Counts what is written to it; the library calls `write`."""

    def __init__(self) -> None:
        self.n = 0

    def write(self, text: str) -> int:
        self.n += len(text)
        return len(text)

    def size(self) -> int:
        return self.n


TEE = Tee()


def print_there(t: Trade) -> Trade:
    print(t.symbol, file=TEE)
    return t


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       beside=("print_there",), why="the library calls a method that the program does not name")  # fmt: skip
def teed(t: Trade) -> Count:
    return Count(t.symbol, TEE.size())


class Hub:
    known: list[Hub] = []

    def __init__(self) -> None:
        self.n = 0
        Hub.known.append(self)

    def poke(self) -> None:
        self.n += 1

    def read(self) -> int:
        return self.n


HUB = Hub()


def poke_all(t: Trade) -> Trade:
    for each in Hub.known:
        each.poke()
    return t


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       beside=("poke_all",), why="the object put itself on a list")  # fmt: skip
def hubbed(t: Trade) -> Count:
    return Count(t.symbol, HUB.read())


class Weak:
    living: weakref.WeakSet[Weak] = weakref.WeakSet()

    def __init__(self) -> None:
        self.n = 0
        Weak.living.add(self)

    def touch(self) -> None:
        self.n += 1

    def read(self) -> int:
        return self.n


WEAK = Weak()


def touch_all(t: Trade) -> Trade:
    for each in Weak.living:
        each.touch()
    return t


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       beside=("touch_all",), why="the object is found by a weak reference")  # fmt: skip
def weakly(t: Trade) -> Count:
    return Count(t.symbol, WEAK.read())


class Vocabulary:
    def __init__(self) -> None:
        self.ids: dict[str, int] = {}

    def build(self, words: list[str]) -> Vocabulary:
        for word in words:
            self.number(word)
        return self

    def number(self, word: str) -> int:
        return self.ids.setdefault(word, len(self.ids))


WORDS = Vocabulary().build(["disk", "full"])


@entry(kind="map", input=LogLine, output=Numbered, state="stateful", forwards={"number": "number"}, trap=True,
       why="what builds the vocabulary also numbers new words")  # fmt: skip
def numbered(line: LogLine) -> Numbered:
    return Numbered(line.number, WORDS.number(line.text.split()[-1] if line.text.split() else ""))


class Lazy:
    def __init__(self) -> None:
        self.table: dict[str, int] | None = None

    def load(self) -> None:
        self.table = {}

    def get(self, key: str) -> int:
        if self.table is None:
            self.load()
        assert self.table is not None
        self.table[key] = self.table.get(key, 0) + 1
        return self.table[key]


LAZY = Lazy()


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a table that is loaded when it is first asked, and counts")  # fmt: skip
def lazily(t: Trade) -> Count:
    return Count(t.symbol, LAZY.get(t.symbol))


DATA = [[1.0, 2.0], [3.0, 4.0]]
CENTERS = np.asarray(np.array(DATA))
ALIASED = np.array([1.0, 2.0])
SAME = np.asarray(ALIASED)


def shift(t: Trade) -> Trade:
    ALIASED[0] += t.price
    return t


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True, shows=False,
       beside=("shift",), why="asarray gives back the array it is handed")  # fmt: skip
def aliased(t: Trade) -> Amount:
    return Amount(t.symbol, float(SAME[0] * t.price))


BASE = np.zeros(4)
VIEW = BASE[:2]


def fill(t: Trade) -> Trade:
    BASE[0] = t.price
    return t


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True, shows=False,
       beside=("fill",), why="a view on an array that is written elsewhere")  # fmt: skip
def viewed(t: Trade) -> Amount:
    return Amount(t.symbol, float(VIEW.sum() + t.price))


TOTALS = np.zeros(2)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="numpy writes into `out`")  # fmt: skip
def written_out(t: Trade) -> Amount:
    np.add(TOTALS, t.price, out=TOTALS)
    return Amount(t.symbol, float(TOTALS[0]))


@dataclass
class Limit:
    name: str
    value: float = 0.0


LIMITS = [Limit("a"), Limit("b")]


def raise_limit(t: Trade) -> Trade:
    LIMITS[0].value = t.price
    return t


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True, shows=False,
       beside=("raise_limit",), why="an object in a constant list is written elsewhere")  # fmt: skip
def limited(t: Trade) -> Amount:
    return Amount(t.symbol, sum(limit.value for limit in LIMITS))


TEXTS = [Limit("a"), Limit("b")]


def rename(t: Trade) -> Trade:
    TEXTS[0].name = t.symbol
    return t


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       beside=("rename",), why="the generated __repr__ reads what is written elsewhere")  # fmt: skip
def described(t: Trade) -> Count:
    return Count(t.symbol, len(str(TEXTS)))


EQUALS = [Limit("a"), Limit("b")]


def rename_one(t: Trade) -> Trade:
    EQUALS[0].name = "ACME"
    return t


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       beside=("rename_one",), why="the generated __eq__ reads what is written elsewhere")  # fmt: skip
def compared(t: Trade) -> Count:
    return Count(t.symbol, int(Limit("ACME") in EQUALS))


@dataclass(frozen=True)
class Options:
    words: dict[str, int] = field(default_factory=dict)


SHARED_WORDS = {"ACME": 1}
OPTIONS = Options(words=SHARED_WORDS)


def learn_word(t: Trade) -> Trade:
    SHARED_WORDS[t.symbol] = t.size
    return t


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       beside=("learn_word",), why="a field with a default that was handed something else")  # fmt: skip
def optional(t: Trade) -> Count:
    return Count(t.symbol, OPTIONS.words.get(t.symbol, 0))


class Book:
    def __init__(self, rates: dict[str, float]) -> None:
        self.rates = rates


RATES = {"ACME": 2.0}
BOOK = Book(RATES)


def reprice(t: Trade) -> Trade:
    RATES[t.symbol] = t.price
    return t


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True, shows=False,
       beside=("reprice",), why="what a constructor was handed is changed under its other name")  # fmt: skip
def booked(t: Trade) -> Amount:
    return Amount(t.symbol, BOOK.rates.get(t.symbol, 1.0))


ROUND = functools.partial(round, ndigits=1)
ROUNDINGS = {"fine": ROUND}


def coarsen(t: Trade) -> Trade:
    ROUND.keywords["ndigits"] = 0
    return t


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True, shows=False,
       beside=("coarsen",), why="the arguments of a partial in a table are rewritten")  # fmt: skip
def rounded(t: Trade) -> Amount:
    return Amount(t.symbol, ROUNDINGS["fine"](t.price))


GROUPS = {"a": Counter(x=1), "b": Counter(y=2)}


def count_up(t: Trade) -> Trade:
    for group in GROUPS.values():
        group[t.symbol] += 1
    return t


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True, shows=False,
       beside=("count_up",), why="a loop over the parts of a table changes them")  # fmt: skip
def grouped(t: Trade) -> Count:
    return Count(t.symbol, sum(GROUPS["a"].values()))


def totals() -> Iterator[float]:
    total = 0.0
    while True:
        total += (yield total) or 0.0


RUNNING = totals()
next(RUNNING)


@entry(kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"}, trap=True,
       why="a generator that all share is driven with send")  # fmt: skip
def sent(t: Trade) -> Amount:
    return Amount(t.symbol, RUNNING.send(t.price))


@entry(kind="process", input=Reading, output=Amount, keyed=("sensor",), state="stateful", selectivity="1:1",
       forwards={"symbol": "sensor"}, trap=True, why="a generator of the class, not of the instance")  # fmt: skip
class SharedGenerator:
    running = totals()
    next(running)

    def process(self, r: Reading) -> Iterator[Amount]:
        yield Amount(r.sensor, self.running.send(r.celsius))


SENT: list[float] = []


def noting() -> Iterator[int]:
    while True:
        SENT.append((yield len(SENT)))


@entry(kind="process", input=Reading, output=Count, keyed=("sensor",), state="stateful", selectivity="1:1",
       forwards={"key": "sensor"}, trap=True, why="what is sent goes to a global list")  # fmt: skip
class SentElsewhere:
    def __init__(self) -> None:
        self.noting = noting()
        next(self.noting)

    def process(self, r: Reading) -> Iterator[Count]:
        yield Count(r.sensor, self.noting.send(r.celsius))


@entry(kind="process", input=Reading, output=Amount, state="stateful", selectivity="1:1",
       forwards={"symbol": "sensor"}, trap=True, why="without a key, a generator is shared state")  # fmt: skip
class SentWithoutKey:
    def __init__(self) -> None:
        self.running = totals()
        next(self.running)

    def process(self, r: Reading) -> Iterator[Amount]:
        yield Amount(r.sensor, self.running.send(r.celsius))
