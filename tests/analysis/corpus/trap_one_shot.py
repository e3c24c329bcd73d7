"""Constants that are iterators: the first tuple uses them up."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

from .registry import entry
from .tuples import Amount, Click, Count, LogLine, Numbered, Reading, Tagged, Trade, Word

LIMITS = map(float, ("10", "20", "30"))
STOP_WORDS = (word for word in ("is", "in", "a", "disk", "node"))
LEVELS = filter(None, ("", "WARN", "ERROR"))
NAMES = zip(("ACME", "BETA", "CORN"), ("a", "b", "c"), strict=True)
ROWS = csv.reader(io.StringIO("ACME,1\nBETA,2\nCORN,3\nDELT,4\n" * 3))
MARKS = re.finditer(r"\w", "abcdefghij")
BACKWARDS = reversed(["x", "y", "z"])
NUMBERED = enumerate("abcdefgh")


@entry(kind="map", input=Reading, output=Amount, state="stateful", forwards={"symbol": "sensor"}, trap=True,
       why="a map object at module level")  # fmt: skip
def next_limit(r: Reading) -> Amount:
    return Amount(r.sensor, max(LIMITS, default=0.0))


@entry(kind="map", input=LogLine, output=Word, state="stateful", forwards={"n": "number"}, trap=True,
       why="a set made of a generator at module level")  # fmt: skip
def without_stop_words(line: LogLine) -> Word:
    stop_words = set(STOP_WORDS)
    return Word(" ".join(word for word in line.text.split() if word not in stop_words), line.number)


@entry(kind="filter", input=LogLine, state="stateful", trap=True, why="any() over a filter object at module level")
def is_problem(line: LogLine) -> bool:
    return any(level in line.text for level in LEVELS)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="dict() of a zip object at module level")  # fmt: skip
def named(t: Trade) -> Count:
    return Count(t.symbol, len(dict(NAMES)))


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="a csv.reader at module level")  # fmt: skip
def code_of(t: Trade) -> Count:
    for symbol, code in ROWS:
        if symbol == t.symbol:
            return Count(t.symbol, int(code))
    return Count(t.symbol, 0)


@entry(kind="map", input=Trade, output=Count, state="stateful", forwards={"key": "symbol"}, trap=True,
       why="re.finditer at module level")  # fmt: skip
def marked(t: Trade) -> Count:
    return Count(t.symbol, sum(match.start() for match in MARKS))


@entry(kind="map", input=Click, output=Tagged, state="stateful", forwards={"user": "user"}, trap=True,
       why="tuple() of a reversed object at module level")  # fmt: skip
def backwards(c: Click) -> Tagged:
    return Tagged(c.user, "".join((*BACKWARDS,)))


@entry(kind="map", input=Click, output=Tagged, state="stateful", forwards={"user": "user"}, trap=True,
       why="unpacking takes from an enumerate object at module level")  # fmt: skip
def enumerated(c: Click) -> Tagged:
    (_, letter), *_ = [*NUMBERED] or [(0, "-")]
    return Tagged(c.user, letter)


@entry(kind="process", input=Reading, output=Numbered, state="stateful", selectivity="1:1", trap=True,
       why="unkeyed: __init__ stores a map object, the first tuple uses it up")  # fmt: skip
class OwnMap:
    def __init__(self) -> None:
        self.limits = map(float, ("10", "20", "30"))

    def process(self, r: Reading) -> Iterator[Numbered]:
        yield Numbered(sum(r.celsius > limit for limit in self.limits), 0)


@entry(kind="process", input=Reading, output=Numbered, state="stateful", selectivity="1:1", trap=True,
       why="unkeyed: a generator expression kept by __init__")  # fmt: skip
class OwnGenerator:
    def __init__(self) -> None:
        steps = (0.0, 25.0, 45.0)
        self.steps = (step for step in steps)

    def process(self, r: Reading) -> Iterator[Numbered]:
        yield Numbered(len(list(self.steps)), int(r.ok))


def over(limits: Iterator[float]):
    def grade(r: Reading) -> Numbered:
        return Numbered(sum(1 for _ in limits), 0)

    return grade


graded = entry("graded", kind="map", input=Reading, output=Numbered, state="stateful", trap=True,
               why="a closure over a filter object")(over(filter(None, (0.0, 1.0, 2.0))))  # fmt: skip
