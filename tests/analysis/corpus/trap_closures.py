"""State in cells, defaults, function attributes, partials and iterators that outlive the call."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Generator, Iterator
from functools import partial, partialmethod

from .registry import entry
from .tuples import Amount, Click, Count, LogLine, Numbered, Reading, Tagged, Trade, Word


def counter() -> Callable[[Trade], Numbered]:
    n = 0

    def number(t: Trade) -> Numbered:
        nonlocal n
        n += 1
        return Numbered(n, t.size)

    return number


nonlocal_counter = entry("nonlocal_counter", kind="map", input=Trade, output=Numbered, state="stateful",
                         forwards={"n": "size"}, trap=True, why="nonlocal in a closure")(counter())  # fmt: skip


def unseen() -> Callable[[Click], bool]:
    seen: set[str] = set()

    def is_new(c: Click) -> bool:
        if c.url in seen:
            return False
        seen.add(c.url)
        return True

    return is_new


only_new = entry("only_new", kind="filter", input=Click, state="stateful", trap=True, why="a set in a closure")(
    unseen()
)


def with_append() -> Callable[[Trade], Count]:
    seen: list[str] = []
    remember, how_many = seen.append, seen.__len__

    def nth(t: Trade) -> Count:
        remember(t.symbol)
        return Count(t.symbol, how_many())

    return nth


bound_append = entry("bound_append", kind="map", input=Trade, output=Count, state="stateful",
                     forwards={"key": "symbol"}, trap=True,
                     why="bound methods of a hidden list in a closure")(with_append())  # fmt: skip


def with_ids(ids: Iterator[int]) -> Callable[[Trade], Numbered]:
    return lambda t: Numbered(next(ids), t.size)


numbered_by_iterator = entry("numbered_by_iterator", kind="map", input=Trade, output=Numbered, state="stateful",
                             forwards={"n": "size"}, trap=True,
                             why="an iterator in a closure")(with_ids(itertools.count(1)))  # fmt: skip
numbered_by_range = entry("numbered_by_range", kind="map", input=Trade, output=Numbered, state="stateful",
                          forwards={"n": "size"}, trap=True,
                          why="an iterator over a range")(with_ids(iter(range(10_000))))  # fmt: skip


def squares() -> Iterator[int]:
    n = 0
    while True:
        yield n * n
        n += 1


SQUARES = squares()
TURNS = itertools.cycle(("left", "right", "middle"))
LINES = iter(["first", "second"] * 500)
TICKETS = (f"T{n}" for n in range(10_000))


@entry(kind="map", input=Trade, output=Numbered, state="stateful", forwards={"n": "size"}, trap=True,
       why="next() of a generator at module level")  # fmt: skip
def numbered_by_squares(t: Trade) -> Numbered:
    return Numbered(next(SQUARES), t.size)


@entry(kind="map", input=Click, output=Tagged, state="stateful", forwards={"user": "user"}, trap=True,
       why="a cycle gives another value each time")  # fmt: skip
def round_robin(c: Click) -> Tagged:
    return Tagged(c.user, next(TURNS))


@entry(kind="map", input=Click, output=Tagged, state="stateful", forwards={"user": "user"}, trap=True,
       why="a for loop takes from a global iterator")  # fmt: skip
def taken_by_for(c: Click) -> Tagged:
    for ticket in TICKETS:
        return Tagged(c.user, ticket)
    return Tagged(c.user, "-")


TICKETS_2 = (f"T{n}" for n in range(10_000))


@entry(kind="map", input=Click, output=Tagged, state="stateful", forwards={"user": "user"}, trap=True,
       why="islice and join take from a global generator")  # fmt: skip
def taken_by_join(c: Click) -> Tagged:
    return Tagged(c.user, "+".join(itertools.islice(TICKETS_2, 2)))


TICKETS_3 = (f"T{n}" for n in range(10_000))


@entry(kind="filter", input=Click, state="stateful", trap=True, why="`in` consumes a global iterator")
def taken_by_membership(c: Click) -> bool:
    return f"T{c.user * 5}" in TICKETS_3


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="zip(*[iterator] * 2) advances the iterator it was given")  # fmt: skip
def taken_by_zip(t: Trade, numbers: Iterator[int] = itertools.count()) -> Count:
    pair = next(zip(*[numbers] * 2, strict=False))
    return Count(t.symbol, sum(pair))


numbered_by_default = entry("numbered_by_default", kind="map", input=Trade, output=Numbered, state="stateful",
                            forwards={"n": "size"}, trap=True, why="itertools.count in a default")(
    lambda t, ids=itertools.count(): Numbered(next(ids), t.size)
)  # fmt: skip


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a mutable default")  # fmt: skip
def nth_by_default(t: Trade, seen: list[str] = []) -> Count:
    seen.append(t.symbol)
    return Count(t.symbol, len(seen))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a mutable default that is keyword-only and reached by subscript")  # fmt: skip
def nth_by_keyword_default(t: Trade, *, seen: dict[str, int] = {}) -> Count:
    seen[t.symbol] = seen.get(t.symbol, 0) + 1
    return Count(t.symbol, seen[t.symbol])


def _position(symbol: str, known: list[str] = []) -> int:
    if symbol not in known:
        known.append(symbol)
    return known.index(symbol)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="the mutable default is the helper's")  # fmt: skip
def code_of_symbol(t: Trade) -> Count:
    return Count(t.symbol, _position(t.symbol))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="an attribute of the function itself")  # fmt: skip
def function_attribute(t: Trade) -> Count:
    function_attribute.n += 1
    return Count(t.symbol, function_attribute.n)


function_attribute.n = 0


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="the defaults of the function are rewritten")  # fmt: skip
def rewritten_defaults(t: Trade, n: int = 0) -> Count:
    rewritten_defaults.__defaults__ = (n + 1,)
    return Count(t.symbol, n)


def _tally(counts: dict[str, int], t: Trade) -> Count:
    counts[t.symbol] = counts.get(t.symbol, 0) + 1
    return Count(t.symbol, counts[t.symbol])


tally = entry("tally", kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
              why="a partial over a dict")(partial(_tally, {}))  # fmt: skip


def _labelled(label: str, t: Trade, counts: dict[str, int]) -> Count:
    return _tally(counts, t)._replace(key=label)


tally_twice_removed = entry("tally_twice_removed", kind="map", input=Trade, output=Count, state="stateful", trap=True,
                            why="a partial of a partial, keyword-bound dict")(
    partial(partial(_labelled, counts={}), "all")
)  # fmt: skip


def _threshold(reading: Reading, *, limits: list[float]) -> bool:
    limits[0] = limits[0] * 0.9 + reading.celsius * 0.1
    return reading.celsius > limits[0]


adaptive = entry("adaptive", kind="filter", input=Reading, state="stateful", trap=True,
                 why="a partial over a list that adapts")(partial(_threshold, limits=[20.0]))  # fmt: skip


class Tracker:
    def __init__(self) -> None:
        self.seen: list[str] = []

    def observe(self, t: Trade) -> Count:
        self.seen.append(t.symbol)
        return Count(t.symbol, len(self.seen))

    def observe_with(self, step: int, t: Trade) -> Count:
        self.seen += [t.symbol] * step
        return Count(t.symbol, len(self.seen))

    observe_two = partialmethod(observe_with, 2)

    def __call__(self, t: Trade) -> Count:
        return self.observe(t)


TRACKER = Tracker()

observed = entry("observed", kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"},
                 trap=True, why="a bound method of a shared object")(TRACKER.observe)  # fmt: skip
called = entry("called", kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"},
               trap=True, why="__call__ with state behind another method")(Tracker())  # fmt: skip
observed_two = entry("observed_two", kind="map", input=Trade, output=Count, state="stateful",
                     forwards={"key": "symbol"}, trap=True, why="partialmethod")(Tracker().observe_two)  # fmt: skip


def averager() -> Generator[float, float, None]:
    total, n, mean = 0.0, 0, 0.0
    while True:
        total += yield mean
        n += 1
        mean = total / n


def with_coroutine() -> Callable[[Trade], Amount]:
    means = averager()
    next(means)
    return lambda t: Amount(t.symbol, means.send(t.price))


sent = entry("sent", kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"},
             trap=True, why="a generator that is sent to")(with_coroutine())  # fmt: skip


def two_views() -> tuple[Callable[[Trade], Amount], Callable[[Trade], Amount]]:
    last = 0.0

    def write(t: Trade) -> Amount:
        nonlocal last
        before, last = last, t.price
        return Amount(t.symbol, before)

    def read(t: Trade) -> Amount:
        return Amount(t.symbol, last)

    return write, read


writes_cell, reads_cell = two_views()
entry("writes_cell", kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"},
      trap=True, why="writes the cell")(writes_cell)  # fmt: skip
entry("reads_cell", kind="map", input=Trade, output=Amount, state="stateful", forwards={"symbol": "symbol"},
      trap=True, shows=False, why="reads a cell that its sibling writes")(reads_cell)  # fmt: skip


def with_inner() -> Callable[[LogLine], Word]:
    longest = ""

    def note(text: str) -> None:
        nonlocal longest
        longest = max(longest, text, key=len)

    def longest_so_far(line: LogLine) -> Word:
        note(line.text)
        return Word(longest, line.number)

    return longest_so_far


longest_so_far = entry("longest_so_far", kind="map", input=LogLine, output=Word, state="stateful",
                       forwards={"n": "number"}, trap=True,
                       why="an inner helper writes the cell they share")(with_inner())  # fmt: skip


def with_file() -> Callable[[LogLine], Word]:
    source = io.StringIO("\n".join(f"comment {n}" for n in range(5_000)))
    return lambda line: Word(source.readline().strip(), line.number)


commented = entry("commented", kind="map", input=LogLine, output=Word, state="stateful", forwards={"n": "number"},
                  trap=True, why="a file object in a closure is read on")(with_file())  # fmt: skip


def polled() -> Callable[[Trade], Numbered]:
    pending = [3, 2, 1] * 2_000
    stream = iter(pending.pop, None)
    return lambda t: Numbered(next(stream), t.size)


popped = entry("popped", kind="map", input=Trade, output=Numbered, state="stateful", forwards={"n": "size"},
               trap=True, why="iter(callable, sentinel) over a pop")(polled())  # fmt: skip
