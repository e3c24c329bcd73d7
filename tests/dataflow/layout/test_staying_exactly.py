"""Stateless operators stay in the channels that their tuples are in, also where a stream goes to several of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Program
from anabranch.graph.places import SOURCES, Layout
from anabranch.graph.settings import FUSIONS, Settings, Target
from anabranch.run import as_program
from tests.codegen.palette import RISING, Item, Running, doubled, inverted, is_large, twice
from tests.dataflow.layout.test_layouts_exactly import renamed
from tests.dataflow.outcomes import expected, on_simulated
from tests.dataflow.simulated import Simulated
from tests.examples_drawn import drawn

ITEMS = [Item(n % 9, n / 3, "abc"[n % 3], n % 4 or None, float(n)) for n in range(40)]


class Closing:
    """Gives something at punctuations and at the end, for many keys at one moment."""

    def __init__(self) -> None:
        self.last: Item | None = None

    def process(self, item: Item) -> Iterator[Item]:
        if item.n % 2:
            yield item
        self.last = item

    def finish(self) -> Iterator[Item]:
        if self.last is not None:
            yield self.last


def begun(stream: Any, kind: str) -> Any:
    """A stream that is in channels: where it is read, by a key, with an order of its own, or with many of one tuple."""
    match kind:
        case "read":
            return stream
        case "mapped":
            return stream.map(renamed)
        case "keyed":
            return stream.process(Running, key="n")
        case "closing":
            return stream.process(Closing, key="n")
        case _:
            return stream.process(Running, key="s").flat_map(twice, out=Item)


@st.composite
def parting(draw: st.DrawFn) -> Program:
    """A stream that parts, with stateless operators on every way, which may fail; it parts again, and meets again."""
    kind = draw(st.sampled_from(["read", "mapped", "keyed", "closing", "many"]))
    source = ab.from_items(Item, draw(RISING))
    if draw(st.booleans()):
        source = source.punctuate(lambda item: item.n % 3 == 0)
    pending, ways = [begun(source, kind)], []
    for _ in range(draw(st.integers(1, 2))):
        stream = draw(st.sampled_from(pending))
        parts = [stateless(draw, stream) for _ in range(draw(st.integers(2, 3)))]
        pending += parts
        ways += parts
    behind = draw(st.sampled_from(["collect", "union", "keyed"]))
    if behind == "collect":
        return as_program(*(way.collect(f"way{number}") for number, way in enumerate(ways)))
    met = ways[0].union(*ways[1:])
    return as_program((met if behind == "union" else met.process(Running, key="s")).collect("met"))


def stateless(draw: st.DrawFn, stream: Any) -> Any:
    for step in draw(st.lists(st.sampled_from([renamed, doubled, inverted, is_large, twice]), min_size=1, max_size=2)):
        if step is is_large:
            stream = stream.filter(step)
        elif step is twice:
            stream = stream.flat_map(step, out=Item)
        else:
            stream = stream.map(step, on_error="skip") if draw(st.booleans()) else stream.map(step)
    return stream


@drawn(80)
@given(parting(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(0, 9), st.sampled_from(FUSIONS))
def test_streams_that_part_in_channels(program: Program, channels: int, stretch: int, seed: int, fuse: str) -> None:
    assert on_simulated(program.graph, channels, stretch, fuse, seed=seed) == expected(program.graph)


def both_ways(stream: Any) -> Program:
    one, two = stream.map(renamed).named("one").map(doubled), stream.filter(is_large).named("two")
    return as_program(one.union(two).collect("out"))


def layout_of(program: Program) -> Layout:
    return compile(program.graph, Settings(Target("spark"), channels=2)).phases[0].layout


@pytest.mark.parametrize("kind", ["keyed", "closing"])
def test_behind_a_region_they_follow_it(kind: str) -> None:
    layout = layout_of(both_ways(begun(ab.from_items(Item, ITEMS), kind)))
    assert [layout.leading(layout.place_of(name)).id for name in ("one", "doubled", "two")] == ["R1"] * 3
    assert [place.channels for place in layout.places if place.region is not None] == [2] * 3


def test_behind_a_source_that_many_tasks_read_they_are_where_it_is_read() -> None:
    layout = layout_of(both_ways(ab.from_items(Item, ITEMS)))
    assert [layout.leading(layout.place_of(name)).id for name in ("one", "doubled", "two")] == [SOURCES] * 3
    assert layout.levels == ()


def test_behind_what_is_in_one_place_they_are_dealt_out() -> None:
    layout = layout_of(both_ways(ab.from_items(Item, ITEMS).process(Running)))
    assert [layout.place_of(name).follows for name in ("one", "doubled", "two")] == [None] * 3


def test_what_needs_a_key_is_exchanged() -> None:
    stream = ab.from_items(Item, ITEMS).process(Running, key="n")
    behind = stream.map(renamed).process(Running, key="s").named("by_s")
    program = as_program(behind.collect("one"), stream.collect("two"))
    layout = layout_of(program)
    assert layout.place_of("renamed").follows == "R1"
    assert [arrival.key for arrival in layout.arriving(layout.place_of("by_s").id)] == [("s",)]
    assert on_simulated(program.graph, 3, 7) == expected(program.graph)


@pytest.mark.parametrize("kind", ["read", "keyed"])
def test_nothing_is_exchanged_between_them_and_nothing_is_lost(kind: str) -> None:
    program = both_ways(begun(ab.from_items(Item, ITEMS), kind))
    cluster, metrics = Simulated(), Metrics()
    run_on(cluster, compile(program.graph), metrics, channels=2, stretch=10)
    assert cluster.exchanged == (0 if kind == "read" else 8)  # to the channels of the key, and no further
    before = metrics["from_items" if kind == "read" else "Running"].emitted
    assert [metrics[name].received for name in ("one", "two")] == [before, before]
