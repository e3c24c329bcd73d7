"""The row "memory": "what the meaning itself must remember (keys, a waiting `merge_by`) may grow; nothing else".

Each program runs over a stream that is made as it goes; what the process holds is measured on the way. Between the two
measurements as many tuples pass as would show even a single number kept for each.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

import anabranch as ab

EARLY, LATE = 300, 1100
SMALLEST_LEAK = 16 * (LATE - EARLY)  # two pointers per tuple


class Item(NamedTuple):
    n: int
    ts: int
    key: str
    values: list[int]


class Count(NamedTuple):
    n: int


class Total(NamedTuple):
    n: int
    ns: list[int]


class Ends:
    """Keeps one number, whatever comes."""

    def __init__(self) -> None:
        self.last = 0

    def process(self, item: Item) -> Item | None:
        self.last = item.n
        return item if item.n % 3 else None

    def finish(self) -> Item:
        return Item(self.last, 0, "", [])


def held(build: Callable[[ab.Stream[Item]], ab.Stream]) -> tuple[int, int]:
    """What is held in memory early and late in a run."""
    sizes: list[int] = []

    def source() -> Iterator[Item]:
        for n in range(LATE + 1):
            if n in (EARLY, LATE):
                gc.collect()
                sizes.append(tracemalloc.get_traced_memory()[0])
            yield Item(n + 2**40, n + 2**40, f"key {n % 10}", [n])

    sink = build(ab.generate(Item, source)).for_each(lambda item: None)
    tracemalloc.start()
    try:
        ab.run(sink)
    finally:
        tracemalloc.stop()
    early, late = sizes
    return early, late


def doubled(item: Item) -> Iterator[Item]:
    yield item
    yield item


def first_count(one: Item, other: Item) -> Count:
    return Count(one.n)


def join_with_itself(stream: ab.Stream[Item], window: ab.Window, on: str = "key") -> ab.Stream[Count]:
    copy = stream.map(lambda item: item, out=Item)
    return stream.join(copy, left=window, right=window, on=on, out=first_count)


def countdown(loop: ab.Stream[Item]) -> tuple[ab.Stream[Item], ab.Stream[Item]]:
    parts = loop.split({"again": lambda item: len(item.values) < 3, "done": lambda item: True})
    return parts.done, parts.again.map(lambda item: item._replace(values=[0, *item.values]), out=Item)


def aggregated(stream: ab.Stream[Item], window: ab.Window, **options: str) -> ab.Stream[Total]:
    return stream.window(window, **options).aggregate(Total, n=ab.count(), ns=ab.collect("n"))


PROGRAMS: dict[str, Callable[[ab.Stream[Item]], ab.Stream]] = {
    "map, filter, flat_map": lambda s: s.map(lambda i: i, out=Item).filter(lambda i: i.n % 2 == 0).flat_map(doubled),
    "process": lambda s: s.process(Ends),
    "process by key": lambda s: s.process(Ends, key="key"),
    "tumbling count": lambda s: aggregated(s, ab.tumbling(count=7)),
    "tumbling count by key": lambda s: aggregated(s, ab.tumbling(count=7), key="key"),
    "sliding count by key": lambda s: aggregated(s, ab.sliding(count=7, slide=3), key="key"),
    "tumbling time": lambda s: aggregated(s, ab.tumbling(seconds=7, on="ts")),
    "sliding time by key": lambda s: aggregated(s, ab.sliding(seconds=30, slide=10, on="ts"), key="key"),
    "time of the key": lambda s: aggregated(s, ab.tumbling(seconds=30, on="ts", clock="key"), key="key"),
    "late tuples": lambda s: aggregated(
        s.flat_map(lambda i: [i, i._replace(ts=0)], out=Item), ab.tumbling(seconds=7, on="ts")
    ),
    "punctuated": lambda s: aggregated(s.punctuate(count=9), ab.punctuated()),
    "join by time": lambda s: join_with_itself(s, ab.sliding(seconds=20, on="ts")),
    "join by count": lambda s: join_with_itself(s, ab.sliding(count=20)),
    "join by count per key": lambda s: join_with_itself(s, ab.sliding(count=5, per_key=True)),
    "join by time, ever new keys": lambda s: join_with_itself(s, ab.sliding(seconds=20, on="ts"), on="n"),
    "join by count, ever new keys": lambda s: join_with_itself(s, ab.sliding(count=20), on="n"),
    "tumbling time, ever new keys": lambda s: s.window(ab.tumbling(seconds=7, on="ts"), key="n").aggregate(
        Count, n=ab.count()
    ),
    "sort": lambda s: s.sort("ts", count=20),
    "distinct keys": lambda s: s.distinct("key"),
    "distinct, sliding time": lambda s: s.distinct("n", window=ab.sliding(seconds=20, on="ts")),
    "distinct, sliding count": lambda s: s.distinct("n", window=ab.sliding(count=20)),
    "distinct, tumbling time": lambda s: s.distinct("n", window=ab.tumbling(seconds=20, on="ts")),
    "distinct, tumbling count": lambda s: s.distinct("n", window=ab.tumbling(count=20)),
    "distinct, punctuated": lambda s: s.punctuate(count=20).distinct("n", window=ab.punctuated()),
    "merge_by in step": lambda s: ab.merge_by("ts", s, s.map(lambda i: i, out=Item)),
    "barrier in step": lambda s: ab.barrier(s, s.map(lambda i: i, out=Item), out=first_count),
    "split and union": lambda s: (lambda parts: parts.even.union(parts.odd))(
        s.split({"even": lambda i: i.n % 2 == 0, "odd": lambda i: True})
    ),
    "feedback": lambda s: s.feedback(countdown),
    "skipped errors": lambda s: s.map(lambda i: Count(1 // (i.n % 2)), out=Count, on_error="skip"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_memory_does_not_grow_with_the_stream(name: str) -> None:
    early, late = held(PROGRAMS[name])
    assert late - early < SMALLEST_LEAK, f"{(late - early) / (LATE - EARLY):.0f} bytes are kept of every tuple"


def test_the_measure_notices_a_number_kept_for_every_tuple() -> None:
    class Leaks:
        def __init__(self) -> None:
            self.seen: list[int] = []

        def process(self, item: Item) -> Item:
            self.seen.append(item.n)
            return item

    early, late = held(lambda stream: stream.process(Leaks))
    assert late - early > SMALLEST_LEAK


def test_what_the_meaning_must_remember_is_remembered() -> None:
    """Keys, and what waits in a merge for an input that has nothing."""
    many_keys = held(lambda s: s.distinct("n"))
    assert many_keys[1] - many_keys[0] > SMALLEST_LEAK
    waiting = held(lambda s: ab.merge_by("ts", s, s.filter(lambda i: i.n < 0)))
    assert waiting[1] - waiting[0] > SMALLEST_LEAK


def test_a_source_is_not_read_ahead() -> None:
    read, seen, distances = 0, 0, []

    def source() -> Iterator[Count]:
        nonlocal read
        for n in range(100):
            read += 1
            distances.append(read - seen)
            yield Count(n)

    def count(item: Count) -> None:
        nonlocal seen
        seen += 1

    ab.run(ab.generate(Count, source).for_each(count))
    assert set(distances) == {1}
