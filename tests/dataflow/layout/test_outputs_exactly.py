"""Streams that leave one place by several outputs keep the oracle's order, however they meet again.

A place numbers what it gives over all of its outputs; what parts and meets several times is told by the paths it came.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import anabranch as ab
from anabranch.compiler import compile
from anabranch.errors import BuildError
from anabranch.graph.model import Graph, Program
from anabranch.graph.order_keys import MOST_PATHS, Branch, Lineage, Number, can_meet, merge_paths
from anabranch.graph.places import Layout
from anabranch.graph.settings import Settings, Target
from anabranch.load import load_app
from anabranch.run import as_program
from tests.codegen.palette import Item, Running, aggregated, inverted, several, twice
from tests.dataflow.layout.test_layouts_exactly import Both, Pair, merged, renamed
from tests.dataflow.outcomes import expected, on_simulated
from tests.examples_drawn import drawn


class Sorted:
    """Gives to all of its outputs, in turn, and sometimes twice to one."""

    def __init__(self) -> None:
        self.count = 0

    def process(self, item: Item) -> Iterator[Any]:
        self.count += 1
        if self.count % 3:
            yield ab.to("odd", item)
        yield item._replace(maybe=self.count)
        if self.count % 2:
            yield ab.to("rest", item._replace(s="rest"))
            yield ab.to("odd", item._replace(s="odd"))
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

    def punctuation(self) -> Iterator[Any]:
        yield Item(len(self.seen), 0.5, "mark", None, 0.0)
        yield ab.to("odd", Item(60 // (len(self.seen) - 7), 0.5, "odd mark", None, 0.0))

    def finish(self) -> Iterator[Any]:
        for item in self.seen[-3:]:
            yield ab.to("odd", item)
            yield item
        yield ab.to("rest", Item(60 // (len(self.seen) - 9), 1.5, "end", None, 0.0))


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
            yield ab.to("rest", item._replace(s="two"))


def parted(item: Item) -> Iterator[Any]:
    if item.n % 2:
        yield ab.to("rest", Item(item.n // 2, item.x, item.s, item.maybe, item.ts))
    yield item
    if item.n % 3:
        yield ab.to("odd", item)


def from_letter(letter: ab.DeadLetter) -> Item:
    return Item(len(letter.item), 2.5, "letter", None, 0.0)


NAMED: dict[str, type] = {"odd": Item, "rest": Item}
PARTINGS = ["sorted", "sums", "closing", "exchange", "parted", "dead letters", "split", "late"]
STEPS = [
    "map", "filter", "twice", "several", "running", "running", "fails", "window", "window by time", "punctuated",
]  # fmt: skip
MEETINGS = ["union", "union", "connect", "join", "merge_by", "barrier"]


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Streams part in places with several outputs, go through regions, and meet; perhaps again, and in other ways."""
    chance = random.Random(draw(st.integers(0, 10**6)))
    streams = [
        ab.from_items(Item, _items(chance, chance.choice([3, 12, 30]))) for _ in range(draw(st.sampled_from([1, 1, 2])))
    ]
    for _ in range(draw(st.integers(1, 2))):
        parts = _parted(draw, draw(st.sampled_from(streams)), draw(st.sampled_from(streams)))
        streams += [_through(draw, part) if draw(st.integers(0, 3)) else part for part in parts]
        for _ in range(draw(st.integers(0, 3))):
            one, two = draw(st.sampled_from(streams[-5:])), draw(st.sampled_from(streams[-5:]))
            met = _met(draw, one, two) if draw(st.booleans()) else _through(draw, one)
            streams.append(met)
    ends = draw(st.lists(st.sampled_from(streams[-6:]), min_size=1, max_size=4, unique_by=id))
    sinks = [stream.collect(f"out_{number}") for number, stream in enumerate([streams[-1], *ends])]
    try:
        return as_program(*sinks)
    except BuildError:  # nothing takes the dead letters of an operator
        reject()


def _items(chance: random.Random, count: int) -> list[Item]:
    """Few of them fail where they are divided by, so that the program goes on for a while."""
    numbers = [1, 1, 2, 2, 3, 3, 4, 5, 6, 7, -1, -2] + [0, 2**62] * chance.choice([0, 0, 1])
    return [
        Item(chance.choice(numbers), chance.choice([0.5, 1.0, -2.0]), chance.choice("abc"), None, float(at // 3))
        for at in range(count)
    ]


def _parted(draw: st.DrawFn, one: Any, two: Any) -> list[Any]:
    on_error = draw(st.sampled_from(["stop", "skip"]))
    match draw(st.sampled_from(PARTINGS)):
        case "split":
            parts = one.split({"one": lambda item: item.n > 2, "two": lambda item: True})
            return [parts.one, parts.two]
        case "dead letters":
            found = one.map(inverted, on_error="dead_letter")
            return [found, found.outputs.dead_letter.map(from_letter)]
        case "late":
            window = one.filter(lambda item: abs(item.n) < 100).window(ab.tumbling(seconds=2, on="ts"), key="s")
            return [aggregated(window), one]
        case "exchange":
            found = ab.connect(Exchange, one=one, two=two, out=Item, outputs={"rest": Item})
            return [found, found.outputs.rest]
        case "parted":
            found = one.process(parted, out=Item, outputs=NAMED)
        case "sums":
            found = one.process(Sums, out=Item, outputs=NAMED, on_error=on_error)
        case "closing":
            found = one.process(Closing, out=Item, outputs=NAMED, on_error=on_error)
        case _:
            found = one.process(Sorted, out=Item, outputs=NAMED)
    return draw(st.permutations([found, found.outputs.odd, found.outputs.rest]))


def _through(draw: st.DrawFn, stream: Any) -> Any:
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
            window = draw(st.sampled_from([ab.tumbling(count=2), ab.sliding(count=2)]))
            return aggregated(stream.filter(lambda item: abs(item.n) < 100).window(window, key="n"))
        case "window by time":
            few = stream.filter(lambda item: abs(item.n) < 100)
            return aggregated(few.window(ab.tumbling(seconds=2, on="ts"), key="s"))
        case "punctuated":
            return stream.punctuate(count=draw(st.integers(1, 4)))
        case _:
            return stream.process(Running, key=draw(st.sampled_from(["n", "s"])))


def _met(draw: st.DrawFn, one: Any, two: Any) -> Any:
    match draw(st.sampled_from(MEETINGS)):
        case "connect":
            return ab.connect(Both, key=draw(st.sampled_from(["n", "s"])), one=one, two=two)
        case "join":
            window = ab.sliding(count=2, per_key=True)
            return one.join(two, left=window, right=window, on="s", out=Pair).map(merged)
        case "merge_by" if one is not two:
            return ab.merge_by("n", one, two)
        case "barrier" if one is not two:
            return ab.barrier(one, two, out=Pair).map(merged)
        case _:
            return one.union(two)


MANY = _items(random.Random(7), 60)


def laid_out(graph: Graph) -> Layout:
    target = Target("spark", 2, reads_slices=False, writes_parts=False)
    return compile(graph, Settings(target)).phases[0].layout


@drawn(20)
@given(programs(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(0, 9))
def test_random_programs(program: Program, channels: int, stretch: int, seed: int) -> None:
    assert on_simulated(program.graph, channels, stretch, seed=seed) == expected(program.graph)


# What is parallel ----------------------------------------------------------------------------------------------------


def test_regions_behind_several_outputs_of_one_operator_stay_parallel_where_they_meet() -> None:
    found = ab.from_items(Item, []).process(Sorted, out=Item, outputs=NAMED)
    ways = [found.process(Running, key="n"), found.outputs.odd.flat_map(twice, out=Item), found.outputs.rest]
    layout = laid_out(as_program(ways[0].union(*ways[1:]).collect("out")).graph)
    assert not layout.refused
    assert [[place.channels for place in level] for level in layout.levels] == [[1], [2, 2]]


def test_a_stream_that_leaves_before_and_after_an_operator_of_its_own_place_has_no_known_order() -> None:
    found = ab.from_items(Item, MANY).process(Sorted, out=Item, outputs=NAMED)
    first = found.process(Running, key="n")
    inside = found.process(Sorted, out=Item, outputs=NAMED).process(Running, key="s")
    last = found.process(Running, key="s")
    graph = as_program(first.union(inside, last).collect("out")).graph
    assert any("in an order that is not known" in why for _, why in laid_out(graph).refused)
    assert on_simulated(graph, 2, 7) == expected(graph)


@pytest.mark.parametrize("is_tail", [True, False])
def test_a_stream_comes_to_a_place_before_and_after_another(is_tail: bool) -> None:
    found = ab.from_items(Item, MANY).process(Running, key="s")
    early = found.collect("early")
    first = found.process(Sorted, out=Item, outputs=NAMED)
    between = found.process(Running, key="n")
    last = found.process(Sorted, out=Item, outputs=NAMED)
    also = found.process(Running, key="n")
    met = last.union(between, first, also, found, first.outputs.odd)
    graph = as_program((met if is_tail else met.process(Running, key="s")).collect("out"), early).graph
    layout = laid_out(graph)
    assert not layout.refused
    assert max(arrival.again for arrival in layout.arrivals) == (2 if is_tail else 1)
    assert on_simulated(graph, 2, 7) == expected(graph)


def test_streams_from_one_place_end_in_the_order_of_its_outputs() -> None:
    found = ab.from_items(Item, MANY).process(Sorted, out=Item, outputs=NAMED)
    ways = [found.outputs.rest, found, found.outputs.odd]
    windows = [aggregated(each.window(ab.tumbling(count=100), key="s")) for each in ways]
    graph = as_program(windows[0].union(*windows[1:]).collect("out")).graph
    assert not laid_out(graph).refused
    assert on_simulated(graph, 2, 7) == expected(graph)


@pytest.mark.parametrize("name", ["lois", "linear_road", "vwap"])
def test_the_order_is_known_everywhere_in_examples_that_part_and_meet(name: str) -> None:
    assert laid_out(load_app(f"examples/{name}.py")().graph).refused == ()


@pytest.mark.parametrize("has_split", [True, False])
def test_a_loop_is_in_one_place(has_split: bool) -> None:
    source = ab.from_items(Item, MANY).filter(lambda item: abs(item.n) < 100)
    beside = source.process(Running, key="n")

    def around(stream: Any) -> tuple[Any, Any]:
        if has_split:
            parts = stream.split({"large": lambda item: item.n > 3, "small": lambda item: True})
            return parts.small, parts.large.map(lambda item: item._replace(n=item.n - 2), out=Item)
        met = ab.connect(Both, one=stream, two=beside)
        return met, met.filter(lambda item: item.n > 3).map(lambda item: item._replace(n=item.n - 2), out=Item)

    graph = as_program(source.feedback(around).process(Running, key="s").collect("out")).graph
    assert on_simulated(graph, 2, 7) == expected(graph)


# Paths ---------------------------------------------------------------------------------------------------------------

DRAW = Number("draw")


@pytest.mark.parametrize(
    ("one", "other", "known"),
    [
        ([(DRAW, Number("S1", 0))], [(DRAW, Number("S1", 1))], True),
        ([(DRAW, Number("S1", 0))], [(DRAW, Number("S1", 1), Number("R1"))], True),
        ([(DRAW, Number("S1", 0))], [(DRAW, Number("S1", 0))], False),
        ([(DRAW, Number("S1", 0), Branch("A.0", 0))], [(DRAW, Number("S1", 0), Branch("A.0", 1))], True),
        ([(DRAW, Number("S1", 0))], [(DRAW, Number("S1"))], False),
        ([(DRAW, Number("S1", 0))], [(DRAW, Number("S2", 1))], False),
        ([(DRAW, Number("S1", 0))], [(DRAW, Branch("S1", 1, is_ordered=False), Number("S1"))], False),
        ([(DRAW, Branch("A.0", 0)), (DRAW, Branch("A.0", 1))], [(DRAW, Branch("A.0", 2))], True),
        ([(DRAW, Branch("A.0", 0)), (DRAW, Branch("A.0", 1))], [(DRAW, Branch("A.0", 1))], False),
    ],
)
def test_streams_can_be_put_in_order_where_all_their_paths_can(
    one: list[Lineage], other: list[Lineage], known: bool
) -> None:
    assert can_meet(one, other) is can_meet(other, one) is known


def test_of_many_paths_only_the_beginnings_are_told_apart() -> None:
    paths = [(DRAW, Branch("A.0", at % 3), Branch("B.0", at)) for at in range(MOST_PATHS + 1)]
    found = merge_paths(paths, "S1")
    assert found == tuple((DRAW, Branch("A.0", at), Number("S1.2")) for at in range(3))
    assert can_meet(found, [(DRAW, Branch("A.0", 3))])
    assert not can_meet(found, [(DRAW, Branch("A.0", 0), Branch("B.0", MOST_PATHS + 1))])
