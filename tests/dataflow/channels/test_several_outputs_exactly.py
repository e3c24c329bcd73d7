"""An operator with several outputs runs in channels: every output is an exit of its own, with an order key.

What leaves on several outputs, and meets again or goes to sinks that take turns, is in the oracle's order.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

from hypothesis import given, reject
from hypothesis import strategies as st

import anabranch as ab
from anabranch.errors import BuildError
from anabranch.graph.model import Program
from anabranch.graph.settings import FUSIONS
from anabranch.run import as_program
from tests.codegen.palette import Item, Running, aggregated, inverted, several, twice
from tests.dataflow.layout.test_layouts_exactly import renamed
from tests.dataflow.outcomes import expected, on_simulated
from tests.examples_drawn import drawn


class Sorted:
    """Gives to all of its outputs, in turn, and sometimes twice to one; some of it fails."""

    def __init__(self) -> None:
        self.count = 0

    def process(self, item: Item) -> Iterator[Any]:
        self.count += 1
        if self.count % 3:
            yield ab.to("odd", item)
        yield item._replace(maybe=self.count)
        if self.count % 2:
            yield ab.to("rest", item._replace(x=6.0 / (item.n - 3)))
            yield ab.to("odd", item._replace(maybe=-self.count))
        if self.count % 4 == 0:
            yield item


class Sums:
    """The same for numbers only, which generated code does natively, and at last more than 64 bits."""

    def __init__(self) -> None:
        self.total = 1

    def process(self, item: Item) -> Iterator[Any]:
        self.total = self.total + 1 if item.n % 2 else self.total * 3
        yield ab.to("odd", Item(item.n, item.x, item.s, self.total, item.ts))
        if self.total % 2:
            yield Item(self.total, item.x, item.s, item.maybe, item.ts)
        yield ab.to("rest", item)


class Closing:
    """Gives to several outputs also at punctuations and at the end; some of that fails."""

    def __init__(self) -> None:
        self.seen: list[Item] = []

    def process(self, item: Item) -> Iterator[Any]:
        self.seen.append(item)
        if len(self.seen) % 2:
            yield ab.to("rest", item)
        if len(self.seen) % 3:
            yield item._replace(x=6.0 / (item.n - 3))

    def punctuation(self) -> Iterator[Any]:
        yield Item(len(self.seen), 0.5, "mark", None, 0.0)
        yield ab.to("odd", Item(60 // (len(self.seen) - 2), 0.5, "odd mark", None, 0.0))

    def finish(self) -> Iterator[Any]:
        for item in self.seen[-3:]:
            yield ab.to("odd", item)
            yield item
        yield ab.to("rest", Item(60 // (len(self.seen) - 3), 1.5, "end", None, 0.0))


class Exchange:
    """Two inputs, of which each gives to both outputs."""

    def __init__(self) -> None:
        self.last: Item | None = None

    def one(self, item: Item) -> Iterator[Any]:
        yield ab.to("rest", item)
        if self.last is not None:
            yield self.last
        self.last = item

    def two(self, item: Item) -> Iterator[Any]:
        yield item
        if item.n % 2:
            yield ab.to("rest", item._replace(maybe=6 // (item.n - 3)))


def parted(item: Item) -> Iterator[Any]:
    if item.n % 2:
        yield ab.to("rest", Item(item.n // 2, item.x, item.s, item.maybe, item.ts))
    yield item
    if item.n % 3:
        yield ab.to("odd", Item(item.n, 1 / (item.n - 5), item.s, item.maybe, item.ts))


def chosen(item: Item) -> str | None:
    return {0: "none", 1: "one", 2: "two"}.get(item.n % 4)


def product(item: Item) -> bool:
    return item.n % 3 != 1 and bool(item.n // (item.n - 2))


class Product:
    """An aggregate of the user's own, which fails when a window closes, or when a tuple comes into it."""

    def __init__(self) -> None:
        self.product = 1

    def add(self, item: Item) -> None:
        self.product *= 6 // (item.n - 4)

    def result(self) -> int:
        return 60 // (self.product + 6)


def from_letter(letter: ab.DeadLetter) -> Item:
    return Item(len(letter.item) % 5, 2.5, letter.operator[:1] + letter.error[:1], None, 0.0)


NAMED: dict[str, type] = {"odd": Item, "rest": Item}
TIMES = (
    ab.tumbling(seconds=2, on="ts"),
    ab.sliding(seconds=4, slide=2, on="ts"),
    ab.tumbling(delta=2, on="ts"),
    ab.tumbling(seconds=2, on="ts", clock="key"),
)
COUNTS = (ab.tumbling(count=2), ab.sliding(count=3, slide=2))
PARTINGS = {
    "map": lambda draw, one, two: letters(one.map(inverted, on_error="dead_letter")),
    "filter": lambda draw, one, two: letters(one.filter(product, on_error="dead_letter")),
    "flat map": lambda draw, one, two: letters(one.flat_map(parts, out=Item, on_error="dead_letter")),
    "keyed": lambda draw, one, two: letters(one.process(Failing, key=key(draw), on_error="dead_letter")),
    "sorted": lambda draw, one, two: named(draw, one, Sorted),
    "sums": lambda draw, one, two: named(draw, one, Sums),
    "closing": lambda draw, one, two: named(draw, one, Closing),
    "function": lambda draw, one, two: named(draw, one, parted),
    "split": lambda draw, one, two: split(draw, one),
    "exchange": lambda draw, one, two: exchange(draw, one, two),
    "late": lambda draw, one, two: late(draw, one),
    "window": lambda draw, one, two: windows(draw, one),
}
STEPS = ["map", "filter", "twice", "several", "running", "running", "fails", "window", "window by time"]


def parts(item: Item) -> Iterator[Item]:
    yield item
    yield item._replace(x=1 / (item.n - 2))


class Failing:
    """Gives something, and then fails now and then."""

    def __init__(self) -> None:
        self.count = 0

    def process(self, item: Item) -> Iterator[Item]:
        self.count += 1
        yield item._replace(maybe=self.count)
        if self.count % 2:
            yield item._replace(maybe=12 // (self.count - 3))


def key(draw: st.DrawFn) -> Any:
    return draw(st.sampled_from(["n", "s", ["s", "n"]]))


def letters(found: Any) -> list[Any]:
    return [found, found.outputs.dead_letter.map(from_letter)]


def named(draw: st.DrawFn, one: Any, operator: Any) -> list[Any]:
    on_error = draw(st.sampled_from(["stop", "skip", "dead_letter"]))
    options = {} if operator is parted else {"key": key(draw)}
    found = one.process(operator, out=Item, outputs=NAMED, on_error=on_error, **options)
    ways = [found.outputs.odd, found.outputs.rest, *(letters(found) if on_error == "dead_letter" else [found])]
    return draw(st.permutations(ways))


def exchange(draw: st.DrawFn, one: Any, two: Any) -> list[Any]:
    on_error = draw(st.sampled_from(["skip", "dead_letter"]))
    found = ab.connect(Exchange, key=key(draw), one=one, two=two, out=Item, outputs={"rest": Item}, on_error=on_error)
    return [found.outputs.rest, *(letters(found) if on_error == "dead_letter" else [found])]


def split(draw: st.DrawFn, one: Any) -> list[Any]:
    on_error = draw(st.sampled_from(["stop", "skip", "dead_letter"]))
    if draw(st.booleans()):
        found = one.split(chosen, ["one", "two", "none"], on_error=on_error)
    else:
        ways = {"one": lambda item: item.n > 2, "two": lambda item: 6 // item.n, "none": lambda item: True}
        found = one.split(ways, on_error=on_error)
    ways = [found.one, found.two]
    return [*ways, found.dead_letter.map(from_letter)] if on_error == "dead_letter" else ways


def few(one: Any) -> Any:
    return one.filter(lambda item: abs(item.n) < 100)


def late(draw: st.DrawFn, one: Any) -> list[Any]:
    """Late tuples, and perhaps dead letters: of tuples that fail, and of windows that do."""
    on_error = draw(st.sampled_from(["stop", "skip", "dead_letter"]))
    group_by = draw(st.sampled_from([None, None, "n"]))
    window = few(one).window(draw(st.sampled_from(TIMES)), key=draw(st.sampled_from(["s", "n"])), late="late")
    return aggregates(draw, window, group_by, on_error)


def windows(draw: st.DrawFn, one: Any) -> list[Any]:
    """Dead letters of windows of all kinds."""
    group_by = draw(st.sampled_from([None, None, "n"]))
    window = few(one).window(draw(st.sampled_from([*COUNTS, *TIMES])), key=draw(st.sampled_from(["s", "n"])))
    return aggregates(draw, window, group_by, "dead_letter")


def aggregates(draw: st.DrawFn, window: Any, group_by: Any, on_error: str) -> list[Any]:
    columns: dict[str, Any] = {"x": ab.max_("x"), "ts": ab.max_("ts")}
    columns |= {"n": ab.any_("n") if group_by else ab.count(), "s": ab.last("s")}
    columns["maybe"] = Product if draw(st.booleans()) else ab.sum_("n")
    found = window.aggregate(Item, group_by=group_by, on_error=on_error, **columns)
    ways = letters(found) if on_error == "dead_letter" else [found]
    return [*ways, found.outputs.late] if window._late is not None else ways


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Streams part in operators with several outputs, one behind the other, meet again, and go to several sinks."""
    chance = random.Random(draw(st.integers(0, 10**6)))
    streams: list[Any] = [items(draw, chance) for _ in range(draw(st.sampled_from([1, 1, 1, 2])))]
    if draw(st.integers(0, 2)) == 0:
        streams[0] = streams[0].punctuate(count=draw(st.integers(1, 9)))
    for _ in range(draw(st.integers(1, 3))):
        one, two = draw(st.sampled_from(streams[-4:])), draw(st.sampled_from(streams[-4:]))
        if draw(st.booleans()):
            one = through(draw, one)
        parts = PARTINGS[draw(st.sampled_from(list(PARTINGS)))](draw, one, two)
        streams += [through(draw, part) if draw(st.integers(0, 3)) == 0 else part for part in parts]
        if draw(st.booleans()):
            met = draw(st.permutations(streams[-4:]))[: draw(st.integers(2, 4))]
            streams.append(met[0].union(*met[1:]) if len(met) > 1 else met[0])
    ends = draw(st.lists(st.sampled_from(streams[-6:]), min_size=1, max_size=4, unique_by=id))
    sinks = [stream.collect(f"out_{number}") for number, stream in enumerate([streams[-1], *ends])]
    try:
        return as_program(*sinks)
    except BuildError:  # nothing takes the dead letters of an operator
        reject()


def items(draw: st.DrawFn, chance: random.Random) -> Any:
    """Few of them fail where they are divided by, so that the program goes on for a while."""
    numbers = [1, 1, 4, 5, 6, 7, 8, 9, 10, -1, *[2, 3] * chance.choice([0, 1, 1])]
    numbers += [0, 2**62] * chance.choice([0, 0, 1])
    made = [
        Item(chance.choice(numbers), chance.choice([0.5, 1.0, -2.0]), chance.choice("abc"), None, time(chance, at))
        for at in range(draw(st.sampled_from([60, 40, 12, 3])))
    ]
    return ab.from_items(Item, made)


def time(chance: random.Random, at: int) -> float:
    """It goes on, but for tuples that are late, and a few that have none."""
    if chance.random() < 0.01:
        return math.nan
    return at / 3 - (chance.choice([2.5, 5.0]) if chance.random() < 0.3 else 0.0)


def through(draw: st.DrawFn, stream: Any) -> Any:
    match draw(st.sampled_from(STEPS)):
        case "map":
            return stream.map(renamed)
        case "filter":
            return stream.filter(lambda item: item.n % 3 != 1)
        case "twice":
            return stream.flat_map(twice, out=Item)
        case "several":
            return stream.flat_map(several, out=Item)
        case "fails":
            return stream.map(inverted, on_error=draw(st.sampled_from(["stop", "skip", "skip"])))
        case "window":
            return aggregated(few(stream).window(draw(st.sampled_from(COUNTS)), key="n"))
        case "window by time":
            return aggregated(few(stream).window(draw(st.sampled_from(TIMES)), key="s"))
        case _:
            return stream.process(Running, key=key(draw))


@drawn(60)
@given(programs(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(0, 9), st.sampled_from(FUSIONS))
def test_random_programs(program: Program, channels: int, stretch: int, seed: int, fuse: str) -> None:
    found = on_simulated(program.graph, channels, stretch, fuse, readers=1 + seed % 3, seed=seed)
    assert found == expected(program.graph)
