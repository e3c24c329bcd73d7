"""Safe, though a hasty reader would think otherwise: copies, templates, own objects, local machinery."""

from __future__ import annotations

import contextlib
import copy
import os.path
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import numpy as np

from .registry import entry
from .tuples import Amount, Call, Click, Count, Mean, Numbered, Order, Quote, Reading, Tagged, Text, Trade, Travel, Word

TEMPLATE: dict[str, list[float]] = {"low": [], "high": []}
DEFAULTS = [1.0, 2.0]
ZERO = {"n": 0, "total": 0.0}


@entry(kind="process", input=Trade, output=Amount, keyed=("symbol",), state="partitioned", selectivity="1:1",
       forwards={"symbol": "symbol"}, why="a deep copy of a template is the own state")  # fmt: skip
class FromTemplate:
    def __init__(self) -> None:
        self.values = copy.deepcopy(TEMPLATE)

    def process(self, t: Trade) -> Iterator[Amount]:
        self.values["high" if t.price > 30 else "low"].append(t.price)
        yield Amount(t.symbol, float(len(self.values["high"]) - len(self.values["low"])))


@entry(kind="process", input=Trade, output=Amount, keyed=("symbol",), state="partitioned", selectivity="1:1",
       forwards={"symbol": "symbol"}, why="list() of a constant of numbers is an own list")  # fmt: skip
class FromDefaults:
    def __init__(self) -> None:
        self.values = list(DEFAULTS)
        self.zero = dict(ZERO)

    def process(self, t: Trade) -> Iterator[Amount]:
        self.values.append(t.price)
        self.zero["total"] += t.price
        yield Amount(t.symbol, sum(self.values) + self.zero["total"])


@entry(kind="process", input=Reading, output=Numbered, keyed=("sensor",), state="partitioned", selectivity="1:1",
       why="the attribute comes into being with the first tuple")  # fmt: skip
class WithoutInit:
    def process(self, r: Reading) -> Iterator[Numbered]:
        self.n = getattr(self, "n", 0) + 1
        yield Numbered(self.n, int(r.ok))


class Account:
    def __init__(self) -> None:
        self.balance = 0.0
        self.moves: list[float] = []


def post(account: Account, amount: float) -> float:
    account.moves.append(amount)
    account.balance += amount
    return account.balance


@entry(kind="process", input=Trade, output=Amount, keyed=("symbol",), state="partitioned", selectivity="1:1",
       forwards={"symbol": "symbol"}, why="a helper changes the own object it is handed")  # fmt: skip
class Posting:
    def __init__(self) -> None:
        self.account = Account()

    def process(self, t: Trade) -> Iterator[Amount]:
        yield Amount(t.symbol, post(self.account, t.price))


@entry(kind="map", input=Trade, output=Amount, forwards={"symbol": "symbol"},
       why="a helper changes the local object it is handed")  # fmt: skip
def posted(t: Trade) -> Amount:
    account = Account()
    post(account, t.price)
    return Amount(t.symbol, post(account, 1.0))


@dataclass
class Summary:
    lines: list[str] = field(default_factory=list)
    width: int = 8

    def add(self, text: str) -> Summary:
        self.lines.append(text[: self.width])
        return self


@entry(kind="map", input=Order, output=Text, why="a local dataclass, methods chained")
def summarised(o: Order) -> Text:
    summary = Summary(width=6).add(o.customer).add(str(o.total))
    return Text("|".join(summary.lines))


@contextlib.contextmanager
def collected() -> Iterator[list[str]]:
    lines: list[str] = []
    yield lines
    lines.append("end")


@entry(kind="map", input=Order, output=Text, why="a context manager that hands out a new list each time")
def in_context(o: Order) -> Text:
    with collected() as lines:
        lines.extend(o.items)
    return Text(",".join(lines))


@entry(kind="map", input=Click, output=Tagged, forwards={"user": "user"}, why="paths as text, no file is touched")
def last_part(c: Click) -> Tagged:
    path = PurePosixPath(c.url)
    return Tagged(c.user, os.path.splitext(path.name)[0] + path.suffix)


@entry(
    kind="map", input=Trade, output=Amount, forwards={"symbol": "symbol"}, why="a numpy generator seeded by the tuple"
)
def jitter(t: Trade) -> Amount:
    return Amount(t.symbol, t.price + float(np.random.default_rng(t.size).uniform()))


@entry(kind="map", input=Call, output=Travel, forwards={"phone": "phone", "ts": "ts"},
       why="local arrays filled in place, with out=")  # fmt: skip
def in_place(c: Call) -> Travel:
    point = np.zeros(2)
    point[0], point[1] = c.x, c.y
    np.multiply(point, 2.0, out=point)
    return Travel(c.phone, float(point.sum()), c.ts)


@entry(kind="map", input=Order, output=Word, forwards={"n": "id"}, why="sorted sets: their order does not matter")
def distinct_items(o: Order) -> Word:
    unique = set(o.items) - {"belt"}
    return Word("+".join(sorted(unique)) + str(len(unique)), o.id)


@entry(kind="map", input=Order, output=Count, forwards={"key": "customer"}, why="a local list of lists with aliases")
def grid(o: Order) -> Count:
    rows = [[0] * 3 for _ in range(2)]
    first = rows[0]
    first[0] = len(o.items)
    for row in rows:
        row.append(1)
    return Count(o.customer, sum(map(sum, rows)))


@entry(kind="process", input=Quote, output=Mean, keyed=("symbol",), state="partitioned", selectivity="1:1",
       forwards={"sensor": "symbol"}, why="an inner function writes self")  # fmt: skip
class InnerFunction:
    def __init__(self) -> None:
        self.low, self.n = 1e9, 0

    def process(self, q: Quote) -> Iterator[Mean]:
        def note(value: float) -> None:
            self.low = min(self.low, value)
            self.n += 1

        note(q.bid)
        note(q.ask)
        yield Mean(q.symbol, self.low, self.n)


@entry(kind="flat_map", input=Order, output=Word, selectivity="1:[0,inf)", forwards={"n": "id"},
       why="the result is collected in a local list")  # fmt: skip
def collected_items(o: Order) -> list[Word]:
    words: list[Word] = []
    for item in o.items:
        if item != "nut":
            words.append(Word(item, o.id))
    return words
