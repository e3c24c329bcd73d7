"""Programs of every operator that keeps something, in every way to keep it, and input for them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str | None
    at: float
    when: datetime


class Pair(NamedTuple):
    phone: int
    other: int
    at: float


class Count(NamedTuple):
    n: int
    end: datetime
    mean: float
    named: int


class Both:
    """Keeps what only Python can, and acts at the end."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.largest: float | None = None

    def left(self, call: Call) -> Iterator[Pair]:
        self.calls.append(call)
        if self.largest is not None:
            yield Pair(call.phone, len(self.calls), self.largest)

    def right(self, call: Call) -> Iterator[Pair]:
        self.largest = max(call.at, self.largest or 0.0)
        yield from (Pair(call.phone, each.phone, each.at) for each in self.calls[-2:])

    def finish(self) -> Iterator[Pair]:
        yield Pair(len(self.calls), 0, 0.0)


class Grown:
    """Keeps an attribute that it does not have from the start."""

    def process(self, call: Call) -> Iterator[Pair]:
        known = getattr(self, "before", None)
        self.before = call.phone
        yield Pair(call.phone, -1 if known is None else known, call.at)


class Longest:
    """A running maximum over text and numbers."""

    def __init__(self, start: float = 0.0) -> None:
        self.at = start
        self.area: str | None = None

    def process(self, call: Call) -> Iterator[Pair]:
        if call.at >= self.at:
            yield Pair(call.phone, 0 if self.area is None else len(self.area), self.at)
            self.at = call.at
            self.area = call.area


def calls(seed: int, count: int = 60) -> list[Call]:
    choices = random.Random(seed)
    found = []
    for number in range(count):
        at = number / 2 - choices.choice((0.0, 0.0, 0.5, 3.0))
        when = datetime(2024, 2, 29, tzinfo=UTC) + timedelta(seconds=at)
        found.append(Call(choices.randrange(6), choices.choice((None, "", "north")), at, when))
    return found


def pair(one: Call, other: Call) -> Pair:
    return Pair(one.phone, other.phone, other.at)


def counted(stream: Any, **options: Any) -> Any:
    return stream.aggregate(
        Count, n=ab.count(), end=ab.last("when"), mean=ab.mean("at"), named=ab.count_distinct("area"), **options
    )


BY_TIME, BY_CLOCKS = ab.tumbling(seconds=4, on="when"), ab.sliding(seconds=5, slide=2, on="when", clock="key")
RECENT, LAST = ab.sliding(seconds=3, on="when"), ab.sliding(count=3)

KEEPING: dict[str, Callable[[Any, Any], Any]] = {
    "connect": lambda one, other: ab.connect(Both, left=one, right=other, key="phone", out=Pair),
    "connect without a key": lambda one, other: ab.connect(Both, left=one, right=other, out=Pair),
    "an attribute that comes later": lambda one, _: one.process(Grown, key="phone", out=Pair),
    "an attribute of text": lambda one, _: one.process(Longest, key="phone"),
    "windows by time": lambda one, _: counted(one.window(BY_TIME, key="area")),
    "windows by clocks of keys": lambda one, _: counted(one.window(BY_CLOCKS, key="phone")),
    "windows of groups": lambda one, _: counted(one.window(BY_TIME, key="area"), group_by="phone"),
    "windows of groups alone": lambda one, _: counted(one.window(BY_TIME), group_by="area"),
    "windows by count": lambda one, _: counted(one.window(ab.tumbling(count=4), key=["phone", "area"])),
    "windows by count of groups": lambda one, _: counted(
        one.window(ab.tumbling(count=7), key="area"), group_by="phone"
    ),
    "the last tuples": lambda one, _: counted(one.window(ab.sliding(count=5, slide=2), key="area")),
    "windows between punctuations": lambda one, _: counted(
        one.punctuate(lambda call: call.phone == 3).window(ab.punctuated(), key="area")
    ),
    "distinct": lambda one, _: one.distinct("phone"),
    "distinct in a window of time": lambda one, _: one.distinct("phone", window=BY_TIME),
    "distinct in the last seconds": lambda one, _: one.distinct("phone", window=RECENT),
    "distinct in the last tuples": lambda one, _: one.distinct("phone", window=LAST),
    "distinct in a number of tuples": lambda one, _: one.distinct("phone", window=ab.tumbling(count=5)),
    "join by time": lambda one, other: one.join(other, left=RECENT, right=RECENT, on="phone", out=pair),
    "join by count": lambda one, other: one.join(other, left=LAST, right=ab.sliding(count=2), on="phone", out=pair),
    "join by count of keys": lambda one, other: one.join(
        other, left=ab.sliding(count=1, per_key=True), right=RECENT, on="phone", out=pair
    ),
    "sort": lambda one, _: one.sort("when", count=6),
    "merge_by": lambda one, other: ab.merge_by("when", one, other.filter(lambda call: call.phone > 1)),
    "barrier": lambda one, other: ab.barrier(one, other.filter(lambda call: call.phone > 1), out=pair),
    "punctuate": lambda one, _: counted(one.punctuate(count=7).window(ab.punctuated())),
    "feedback": lambda one, _: one.feedback(
        lambda around: (
            around,
            around.filter(lambda call: call.phone > 2).map(lambda call: call._replace(phone=call.phone - 1), out=Call),
        )
    ),
}


def keeping(name: str, seed: int) -> Any:
    """A program of one of them."""
    one, other = (ab.from_items(Call, calls(number)) for number in (seed, seed + 1))
    return KEEPING[name](one, other).collect("out")
