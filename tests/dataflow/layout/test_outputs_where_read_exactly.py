"""Where slices are read, a stream also parts at operators with several outputs: nothing is exchanged before them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines.on_transport import run_on
from anabranch.errors import BuildError
from anabranch.graph.model import Program
from anabranch.graph.order_keys import Number
from anabranch.graph.places import SOURCES, TAIL, Layout
from anabranch.graph.settings import FUSIONS, Settings, Target
from anabranch.run import as_program
from tests.codegen.palette import RISING, Item, Running, inverted, is_large, twice
from tests.dataflow.layout.test_layouts_exactly import Both, renamed
from tests.dataflow.outcomes import expected, on_simulated
from tests.dataflow.simulated import Simulated
from tests.examples_drawn import drawn

NAMED: dict[str, type] = {"odd": Item, "rest": Item}
ITEMS = [Item(n % 9, n / 3, "abc"[n % 3], n % 4 or None, float(n)) for n in range(40)]


def parted(item: Item) -> Iterator[Any]:
    """Gives several tuples to several outputs, in turn."""
    if item.n % 2:
        yield ab.to("rest", Item(item.n // 2, item.x, item.s, item.maybe, item.ts))
    yield item
    if item.n % 3:
        yield ab.to("odd", item)


def named(item: Item) -> str:
    return "one" if item.n % 3 else "two"


def from_letter(letter: ab.DeadLetter) -> Item:
    return Item(len(letter.item), 2.5, letter.error[:1], None, 0.0)


@st.composite
def partings(draw: st.DrawFn) -> Program:
    """A stream that is read in slices parts, again and again; what comes of it meets, in one place or by a key."""
    streams: list[Any] = [ab.from_items(Item, draw(RISING))]
    if draw(st.booleans()):
        streams = [streams[0].map(renamed) if draw(st.booleans()) else streams[0].flat_map(twice, out=Item)]
    for _ in range(draw(st.integers(1, 3))):
        streams += parts_of(draw, draw(st.sampled_from(streams)))
        if draw(st.booleans()):
            streams.append(behind(draw, draw(st.sampled_from(streams[1:]))))
    ends = draw(st.lists(st.sampled_from(streams[1:]), min_size=1, max_size=4, unique_by=id))
    if draw(st.booleans()) and len(ends) > 1:
        met = ends[0].union(*ends[1:]) if draw(st.booleans()) else ab.connect(Both, key="s", one=ends[0], two=ends[1])
        ends = [met.process(Running, key="n") if draw(st.booleans()) else met]
    try:
        return as_program(*(end.collect(f"end_{number}") for number, end in enumerate(ends)))
    except BuildError:  # nothing takes the dead letters of an operator
        reject()


def parts_of(draw: st.DrawFn, stream: Any) -> list[Any]:
    match draw(st.sampled_from(["predicates", "names", "dead letters", "dropped letters", "named outputs"])):
        case "predicates":
            found = stream.split({"one": is_large, "two": lambda item: item.n % 2 == 0})
            return draw(st.permutations([found.one, found.two]))
        case "names":
            found = stream.split(named, ["one", "two"])
            return draw(st.permutations([found.one, found.two]))
        case "dead letters":
            found = stream.map(inverted, on_error="dead_letter")
        case "dropped letters":
            found = stream.filter(lambda item: 6 // item.n > 1, on_error="dead_letter")
        case _:
            found = stream.process(parted, out=Item, outputs=NAMED, on_error=draw(st.sampled_from(["stop", "skip"])))
            return draw(st.permutations([found, found.outputs.odd, found.outputs.rest]))
    return draw(st.permutations([found, found.outputs.dead_letter.map(from_letter)]))


def behind(draw: st.DrawFn, stream: Any) -> Any:
    match draw(st.sampled_from(["map", "fails", "twice", "key"])):
        case "map":
            return stream.map(renamed)
        case "fails":
            return stream.map(inverted)
        case "twice":
            return stream.flat_map(twice, out=Item)
        case _:
            return stream.process(Running, key="n")


@drawn(50)
@given(partings(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(0, 9), st.sampled_from(FUSIONS))
def test_streams_that_part_where_they_are_read(
    program: Program, channels: int, stretch: int, seed: int, fuse: str
) -> None:
    assert on_simulated(program.graph, channels, stretch, fuse, seed=seed) == expected(program.graph)


# Who is where ---------------------------------------------------------------------------------------------------------


def layout_of(program: Program) -> Layout:
    return compile(program.graph, Settings(Target("spark"), channels=2)).phases[0].layout


def with_letters() -> Program:
    found = ab.from_items(Item, ITEMS).map(renamed).map(inverted, on_error="dead_letter").named("fails")
    letters = found.outputs.dead_letter.map(from_letter).named("letters")
    return as_program(found.filter(is_large).named("kept").collect("out"), letters.collect("failed"))


def with_split() -> Program:
    lanes = ab.from_items(Item, ITEMS).split({"large": is_large, "small": lambda item: True})
    halves = lanes.small.split(named, ["one", "two"])
    return as_program(halves.one.map(renamed).union(lanes.large, halves.two).collect("out"))


@pytest.mark.parametrize("program", [with_letters(), with_split()], ids=["dead letters", "splits"])
def test_nothing_is_exchanged_before_them(program: Program) -> None:
    layout = layout_of(program)
    assert layout.levels == ()
    homes = [layout.leading(layout.place_of(each.id)).id for each in program.graph.operators if not each.is_sink]
    assert homes.count(SOURCES) == len(homes) - sum(each.kind == "union" for each in program.graph.operators)
    cluster = Simulated()
    found = run_on(cluster, compile(program.graph), Metrics(), channels=2, stretch=10)
    assert cluster.exchanged == 0
    assert found.collected == ab.run(program, engine="sequential").collected


def test_each_output_has_an_order_key_of_its_own() -> None:
    layout = layout_of(with_letters())
    assert layout.place_of("fails").operators == ("fails", "kept")
    assert layout.place_of("fails").has_turns  # what fails and what does not are numbered together
    keys = {arrival.lineage for arrival in layout.arriving(TAIL)}
    assert keys == {(Number("draw"), Number("sources, fails", output)) for output in (0, 1)}


def test_what_needs_a_key_behind_them_is_exchanged_once() -> None:
    lanes = ab.from_items(Item, ITEMS).split({"large": is_large, "small": lambda item: True})
    one, two = lanes.large.process(Running, key="n"), lanes.small.process(Running, key="s")
    program = as_program(one.union(two).collect("out"))
    assert [[place.channels for place in level] for level in layout_of(program).levels] == [[2, 2]]
    assert on_simulated(program.graph, 3, 7) == expected(program.graph)
