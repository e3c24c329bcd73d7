"""Programs whose graphs have the shapes that are hard to draw."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

import anabranch as ab


class Call(NamedTuple):
    phone: int
    area: str
    x: float
    ts: float


class Travel(NamedTuple):
    phone: int
    speed: float
    ts: float


class Count(NamedTuple):
    ts: float
    n: int


class Pair(NamedTuple):
    phone: int
    area: str
    speed: float


class Speed:
    """Partitioned state; at most one tuple for each, of another type."""

    def __init__(self) -> None:
        self.last: Call | None = None

    def process(self, call: Call) -> Iterator[Travel]:
        if self.last is not None:
            yield Travel(call.phone, call.x - self.last.x, call.ts)
        self.last = call


class Numbered:
    """Partitioned state, one tuple for each."""

    def __init__(self) -> None:
        self.seen = 0.0

    def process(self, travel: Travel) -> Travel:
        self.seen += 1.0
        return travel._replace(speed=self.seen)


def is_fast(travel: Travel) -> bool:
    return travel.speed > 300.0


def as_it_is(travel: Travel) -> Travel:
    return travel


def travels(name: str) -> ab.Stream[Travel]:
    return ab.from_items(Travel, []).named(name)


@ab.app
def linear() -> None:
    """One region in the middle."""
    (
        ab.read_csv("calls.csv", Call)
        .filter(lambda call: call.area == "425")
        .process(Speed, key="phone")
        .filter(is_fast)
        .window(ab.tumbling(minutes=10, on="ts"))
        .aggregate(Count, ts=ab.last("ts"), n=ab.count())
        .write_csv("out.csv")
    )


@ab.app
def shuffled() -> None:
    """From a parallel source over a shuffle to a parallel sink."""
    (
        ab.read_csv("logs/*.csv", Call, partition_by="area")
        .filter(lambda call: call.x > 0)
        .process(Speed, key="phone")
        .write_csv("out.csv", ordered=False)
    )


@ab.app
def branches() -> None:
    """Streams that part, run in regions of their own, and meet again."""
    parts = ab.read_csv("calls.csv", Call).split({"near": lambda call: call.x < 10, "far": lambda call: True})
    near = parts.near.process(Speed, key="phone").named("near_speed")
    far = parts.far.process(Speed, key="phone").named("far_speed")
    both = near.union(far)
    both.filter(is_fast).named("fast").write_csv("fast.csv")
    both.write_csv("all.csv")


@ab.app
def looping() -> None:
    """Tuples that come around until they are slow."""

    def body(loop: ab.Stream[Travel]) -> tuple[ab.Stream[Travel], ab.Stream[Travel]]:
        halved = loop.map(lambda t: Travel(t.phone, t.speed / 2, t.ts), out=Travel).named("halve")
        parts = halved.split({"slow": lambda t: t.speed < 1.0, "again": lambda t: True})
        return parts.slow, parts.again

    travels("source").feedback(body).collect("out")


@ab.app
def looping_tightly() -> None:
    """A loop of two operators."""

    def body(loop: ab.Stream[Travel]) -> tuple[ab.Stream[Travel], ab.Stream[Travel]]:
        parts = loop.split({"slow": lambda t: t.speed < 1.0, "again": lambda t: True})
        return parts.slow, parts.again

    travels("source").feedback(body).collect("out")


@ab.app
def joined() -> None:
    """A region with two entries, one of them out of another region."""
    window = ab.sliding(minutes=1, on="ts")
    calls = ab.read_csv("calls.csv", Call).filter(lambda call: call.x > 0)
    calls.join(travels("travels"), left=window, right=window, on="phone", out=Pair).write_csv("pairs.csv")


@ab.app
def islands() -> None:
    """Three programs in one."""
    for number in range(3):
        travels(f"source_{number}").filter(is_fast).named(f"fast_{number}").collect(f"out_{number}")


def wide(count: int) -> ab.App[[]]:
    """One stream with many consumers."""

    @ab.app
    def fan_out() -> None:
        source = travels("source")
        for number in range(count):
            source.collect(f"out_{number}")

    return fan_out


def meeting(count: int) -> ab.App[[]]:
    """Many streams that meet in one place."""

    @ab.app
    def fan_in() -> None:
        streams = [travels(f"source_{number}") for number in range(count)]
        streams[0].union(*streams[1:]).collect("out")

    return fan_in


def pipeline(count: int) -> ab.App[[]]:
    """Many operators in a row."""

    @ab.app
    def long_pipeline() -> None:
        stream = travels("source")
        for number in range(count - 2):
            match number % 11:
                case 3 | 9:
                    stream = stream.process(Numbered, key="phone").named(f"numbered_{number}")
                case 6:
                    stream = stream.sort("ts", count=4).named(f"sorted_{number}")
                case _:
                    stream = stream.filter(is_fast).named(f"fast_{number}")
        stream.collect("out")

    return long_pipeline


def tangle(count: int, seed: int) -> ab.App[[]]:
    """At least so many operators, connected at random."""

    @ab.app
    def tangled() -> None:
        chance = random.Random(seed)
        heads = [travels(f"source_{number}") for number in range(4)]
        for number in range(count):
            place = chance.randrange(len(heads))
            head = heads[place]
            match chance.choice(["fast", "fast", "same", "numbered", "sorted", "union", "split", "sink"]):
                case "fast":
                    heads[place] = head.filter(is_fast).named(f"fast_{number}")
                case "same":
                    heads[place] = head.map(as_it_is).named(f"same_{number}")
                case "numbered":
                    heads[place] = head.process(Numbered, key="phone").named(f"numbered_{number}")
                case "sorted":
                    heads[place] = head.sort("ts", count=10).named(f"sorted_{number}")
                case "union":
                    other = chance.randrange(len(heads))
                    heads[place] = head.union(heads[other]).named(f"union_{number}")
                    if len(heads) > 2 and other != place:
                        heads.pop(other)
                case "split":
                    parts = head.split({"fast": is_fast, "slow": lambda t: True})
                    heads[place] = parts.fast
                    heads.append(parts.slow)
                case "sink":
                    head.collect(f"side_{number}")
        for number, head in enumerate(heads):
            head.collect(f"out_{number}")

    return tangled


SHAPES = [
    linear,
    shuffled,
    branches,
    looping,
    looping_tightly,
    joined,
    islands,
    wide(40),
    meeting(30),
    pipeline(60),
    *(tangle(50, seed) for seed in range(6)),
]
