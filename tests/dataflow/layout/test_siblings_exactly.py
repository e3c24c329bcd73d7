"""Regions by one key beside each other share channels, where somebody takes what both give: it stays there."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Program
from anabranch.graph.settings import FUSIONS
from anabranch.run import as_program
from tests.codegen.palette import Item, inverted, is_large
from tests.dataflow.layout.test_layouts_exactly import Both, Pair, merged, renamed
from tests.dataflow.layout.test_same_key_exactly import (
    COUNTED,
    ITEMS,
    TIMED,
    Adding,
    items_of,
    keyed,
    layout_of,
    leading,
)
from tests.dataflow.outcomes import expected, on_simulated
from tests.dataflow.simulated import Simulated
from tests.examples_drawn import drawn


def windowed(stream: Any, key: Any = "n") -> Any:
    """By the stream's time, so that it begins a region of its own."""
    attributes: dict[str, Any] = {name: ab.last(name) for name in Item._fields}
    return stream.window(ab.tumbling(seconds=2, on="ts"), key=key).aggregate(Item, **attributes)


@st.composite
def siblings(draw: st.DrawFn) -> Program:
    """Regions of which most are by one key, of one stream or of two, meet by that key; what they give may meet too."""
    key = draw(st.sampled_from(["n", "s", ["n", "s"]]))
    count = draw(st.integers(0, 60))
    source = ab.from_items(Item, items_of(draw(st.integers(0, 999)), count))
    if draw(st.booleans()):
        source = source.punctuate(lambda item: item.n % 3 == 0)
    other = source if draw(st.booleans()) else ab.from_items(Item, items_of(draw(st.integers(0, 999)), count))
    before = [source, other.map(renamed), source.filter(is_large)]
    ways = []
    for _ in range(draw(st.integers(2, 4))):
        one, by = draw(st.sampled_from(before)), draw(st.sampled_from([key, key, "n"]))
        ways.append(windowed(one, by) if draw(st.booleans()) else keyed(draw, one, by))
    for _ in range(draw(st.integers(1, 3))):
        one, two = draw(st.sampled_from(ways)), draw(st.sampled_from(ways))
        if draw(st.booleans()):
            met: Any = ab.connect(Both, key=key, one=one, two=two)
        else:
            window = draw(st.sampled_from([COUNTED, COUNTED, TIMED]))
            met = one.join(two, left=window, right=window, on=key, out=Pair).map(merged)
        ways.append(met.map(inverted) if draw(st.integers(0, 3)) == 0 else met)
    ends = [ways[-1], *draw(st.lists(st.sampled_from(ways), max_size=1))]
    return as_program(*(end.collect(f"end{number}") for number, end in enumerate(ends)))


@drawn(40)
@given(siblings(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(0, 9), st.sampled_from(FUSIONS))
def test_siblings_by_some_key(program: Program, channels: int, stretch: int, seed: int, fuse: str) -> None:
    assert on_simulated(program.graph, channels, stretch, fuse, seed=seed) == expected(program.graph)


# Who shares ---------------------------------------------------------------------------------------------------------


def met(one: Any, two: Any) -> Program:
    return as_program(ab.connect(Both, key="n", one=one.named("one"), two=two.named("two")).named("met").collect("out"))


def of_one_source(key: Any = "n", other: Any = "n") -> Program:
    source = ab.from_items(Item, ITEMS)
    return met(source.process(Adding, key=key), windowed(source.filter(is_large), other))


def test_who_takes_what_two_regions_give_by_their_key_is_where_both_are() -> None:
    layout = layout_of(of_one_source())
    assert leading(layout, "one", "two", "met") == ["R1", "R1", "R1"]
    assert [len(level) for level in layout.levels] == [1]
    assert all(map(layout.stays, layout.arriving(layout.place_of("met").id)))


def test_so_are_several_that_are_met_one_after_the_other() -> None:
    source = ab.from_items(Item, ITEMS)
    parts = [windowed(source.filter(is_large)).named(f"part{number}") for number in range(4)]
    whole = ab.connect(Both, key="n", one=parts[1], two=parts[0]).named("first")
    other = ab.connect(Both, key="n", one=parts[3], two=parts[2]).named("second")
    program = as_program(ab.connect(Both, key="n", one=other, two=whole).named("last").collect("out"))
    layout = layout_of(program)
    found = leading(layout, "part0", "part1", "part2", "part3", "first", "second", "last")
    assert len(dict.fromkeys(found)) == 1
    assert on_simulated(program.graph, 3, 7, seed=1) == expected(program.graph)


def test_who_has_less_than_the_key_or_another_one_is_exchanged() -> None:
    for program in (of_one_source(["n", "s"]), of_one_source("n", "s"), of_one_source("s", "s")):
        layout = layout_of(program)
        assert len(dict.fromkeys(leading(layout, "one", "two", "met"))) == 3
        assert on_simulated(program.graph, 2, 7) == expected(program.graph)


def test_who_is_asked_to_have_other_channels_shares_none() -> None:
    regions = [place.region for place in layout_of(of_one_source()).places if place.region is not None]
    asked = {str(region): number for number, region in enumerate(dict.fromkeys(regions), 2)}
    assert len(dict.fromkeys(leading(layout_of(of_one_source(), **asked), "one", "two", "met"))) == 3


def test_ranges_share_no_channels_with_hashes() -> None:
    source = ab.from_items(Item, ITEMS)
    program = met(source.process(Adding, key=ab.ranges("n", [3])), windowed(source))
    assert len(dict.fromkeys(leading(layout_of(program), "one", "two", "met"))) == 3


def test_a_region_of_a_later_level_shares_no_channels_with_an_earlier_one() -> None:
    source = ab.from_items(Item, ITEMS)
    program = met(source.process(Adding, key="n"), windowed(source.process(Adding, key="s")))
    assert leading(layout_of(program), "one", "two", "met") == ["R1", "R3", "R3"]


@pytest.mark.parametrize("channels", [1, 2, 3])
def test_what_siblings_give_is_not_exchanged(channels: int) -> None:
    program = of_one_source()
    cluster = Simulated()
    run_on(cluster, compile(program.graph), Metrics(), channels=channels, stretch=10)
    assert cluster.last is not None
    arriving = {arrival.stream.operator for arrival in cluster.last.layout.coming_to(cluster.last.layout.levels[0][0])}
    assert arriving == {"from_items", "is_large"}
    assert on_simulated(program.graph, channels, 7, seed=1) == expected(program.graph)
