"""Operators that cannot be parallel, one for each common reason: their explanations are kept in plans/."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import NamedTuple

import anabranch as ab


class Reading(NamedTuple):
    sensor: str
    value: float
    ts: float


SEEN: dict[str, float] = {}
LIMITS = [10.0]


def remember(r: Reading) -> Reading:
    SEEN[r.sensor] = r.value
    return r


def stamp(r: Reading) -> Reading:
    return r._replace(ts=time.time())


def noise(r: Reading) -> Reading:
    return r._replace(value=r.value + random.random())


def through_a_helper(r: Reading) -> Reading:
    return note(r)


def note(r: Reading) -> Reading:
    LIMITS.append(r.value)
    return r


def default(r: Reading, seen: list[str] = []) -> Reading:
    seen.append(r.sensor)
    return r


class SharedByAll:
    """Keyed, but the list belongs to the class."""

    history: list[float] = []

    def process(self, r: Reading) -> Reading:
        self.history.append(r.value)
        return r


class NoKey:
    def __init__(self) -> None:
        self.total = 0.0

    def process(self, r: Reading) -> Reading:
        self.total += r.value
        return r._replace(value=self.total)


class AtTheEnd:
    def process(self, r: Reading) -> Iterator[Reading]:
        yield r

    def finish(self) -> Iterator[Reading]:
        yield Reading("end", 0.0, 0.0)


def both(one: Reading, other: Reading) -> Reading:
    return one._replace(value=one.value + other.value)


@ab.app
def not_parallel() -> None:
    """Everything here keeps something that all tuples share."""
    readings = ab.from_items(Reading, [Reading("a", 1.0, 0.0)])
    stream = readings.map(remember).map(stamp).map(noise).map(through_a_helper).map(default)
    stream = stream.process(SharedByAll, key="sensor").process(NoKey).process(AtTheEnd)
    window = ab.sliding(count=10)
    joined = stream.join(readings, left=window, right=window, on="sensor", out=both)
    everything = joined.union(stream).sort("ts", count=10).punctuate(count=5)
    everything.window(ab.tumbling(seconds=10, on="ts")).aggregate(
        Reading, group_by="sensor", value=ab.sum_("value"), ts=ab.last("ts")
    ).collect("out")
