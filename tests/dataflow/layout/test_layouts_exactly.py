"""Any program, laid out in places and channels, gives the oracle's tuples in the oracle's order, or its error.

Rows are exchanged in this process: what is shown here is that places, routes and order keys are right. That Spark moves
rows as it should is shown by `test_engine.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines import fused
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Program
from anabranch.graph.settings import FUSIONS
from anabranch.passes.layout.source_reading import must_stay
from anabranch.run import as_program
from tests.codegen.palette import RISING, Item, Running, programs, twice
from tests.dataflow.outcomes import expected, on_simulated, outcome
from tests.dataflow.simulated import Simulated
from tests.examples_drawn import drawn


class Both:
    """Keeps something for each key, of two streams."""

    def __init__(self) -> None:
        self.total = 0

    def one(self, item: Item) -> Iterator[Item]:
        self.total += item.maybe or 1
        yield item._replace(maybe=self.total)
        if self.total % 3 == 0:
            yield item

    def two(self, item: Item) -> Iterator[Item]:
        self.total += 1
        if self.total % 2:
            yield item._replace(x=float(self.total))


class Pair(NamedTuple):
    left: Item
    right: Item


def merged(pair: Pair) -> Item:
    return Item(pair.right.n, pair.left.x, pair.left.s, pair.right.maybe, pair.right.ts)


def renamed(item: Item) -> Item:
    return Item(item.n, item.x, item.s + "!", item.maybe, item.ts)


@st.composite
def meetings(draw: st.DrawFn) -> Program:
    """Streams of one or two sources, or of one that parts, that meet in a parallel region."""
    sources = [ab.from_items(Item, draw(RISING)) for _ in range(draw(st.integers(1, 2)))]
    one, two = (through(draw, draw(st.sampled_from(sources))) for _ in range(2))
    if draw(st.booleans()):
        met: Any = ab.connect(Both, key=draw(st.sampled_from(["n", "s", ["s", "maybe"]])), one=one, two=two)
    else:
        window = ab.sliding(count=draw(st.integers(1, 3)), per_key=True)
        met = one.join(two, left=window, right=window, on=draw(st.sampled_from(["s", "n"])), out=Pair).map(merged)
    behind = through(draw, met)
    return as_program(behind.collect("met"), *([one.collect("one")] if draw(st.booleans()) else []))


def through(draw: st.DrawFn, stream: Any) -> Any:
    for step in draw(st.lists(st.sampled_from(["map", "twice", "running"]), max_size=2)):
        if step == "map":
            stream = stream.map(renamed)
        elif step == "twice":
            stream = stream.flat_map(twice, out=Item)
        else:
            stream = stream.process(Running, key=draw(st.sampled_from(["n", "s"])))
    return stream


@drawn(60)
@given(meetings(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(0, 9), st.sampled_from(FUSIONS))
def test_streams_that_meet_in_a_parallel_region(
    program: Program, channels: int, stretch: int, seed: int, fuse: str
) -> None:
    assert on_simulated(program.graph, channels, stretch, fuse, seed=seed) == expected(program.graph)


def test_a_region_where_two_streams_meet_has_channels() -> None:
    sources = [ab.from_items(Item, []) for _ in range(2)]
    met = ab.connect(Both, key="n", one=sources[0], two=sources[1].map(renamed)).process(Running, key="s")
    cluster = Simulated()
    run_on(cluster, compile(as_program(met.collect("out")).graph), Metrics(), channels=3)
    assert cluster.last is not None
    assert [[place.channels for place in level] for level in cluster.last.layout.levels] == [[3], [3], [3]]


@drawn(80)
@given(programs(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(0, 9), st.sampled_from(FUSIONS))
def test_random_programs(program: Program, channels: int, stretch: int, seed: int, fuse: str) -> None:
    if must_stay(program.graph) is None:
        found = on_simulated(program.graph, channels, stretch, fuse, readers=1 + seed % 3, seed=seed)
        assert found == expected(program.graph)


def around(loop: Any) -> tuple[Any, Any]:
    return loop, loop.filter(lambda item: item.n < 9).map(lambda item: item._replace(n=item.n + 5), out=Item)


@pytest.mark.parametrize("has_region_before", [True, False])
def test_a_loop_behind_a_split_keeps_the_regions_around_it_in_one_place(has_region_before: bool) -> None:
    stream: Any = ab.from_items(Item, [Item(n, 0.0, "ab"[n % 2], None, 0.0) for n in range(9)])
    if has_region_before:
        stream = stream.process(Running, key="n")
    parts = stream.split({"odd": lambda item: item.n % 2 == 1, "even": lambda item: True})
    graph = as_program(parts.odd.union(parts.even).feedback(around).process(Running, key="s").collect("out")).graph
    assert on_simulated(graph, 2, 3) == expected(graph)


class Doubled:
    """Stays in one place, and makes several of one."""

    def __init__(self) -> None:
        self.count = 0

    def process(self, item: Item) -> Iterator[Item]:
        self.count += 1
        for number in range(item.n % 3 + 1):
            yield item._replace(n=number, maybe=self.count)


@pytest.mark.parametrize("beside", ["a sink that needs no order", "a region"])
def test_a_loop_takes_all_of_a_source_tuple_at_once_whatever_stands_beside_it(beside: str) -> None:
    """What goes around waits until all that was made of a source tuple has come through."""
    items = [Item(n % 5, 0.0, "ab"[n % 2], None, 0.0) for n in range(9)]
    stream: Any = ab.from_items(Item, items).process(Doubled)
    loop = stream.feedback(around).collect("out")
    aside = stream if beside != "a region" else stream.process(Running, key="s")
    graph = as_program(loop, aside.collect("aside", ordered=beside == "a region")).graph
    found, wanted = on_simulated(graph, 2, 3), expected(graph)
    assert found[0]["out"] == wanted[0]["out"]


# Files --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("on_error", ["stop", "skip", "dead_letter"])
def test_files_are_read_in_slices_to_the_first_row_that_stops_the_run(tmp_path: Path, on_error: str) -> None:
    for number, damage in enumerate(["", "x,1.5,a,,0.0\n", ""]):
        rows = "".join(f"{n},{n}.5,{'ab'[n % 2]},,{n}.0\n" for n in range(200))
        (tmp_path / f"{number}.csv").write_text(f"n,x,s,maybe,ts\n{rows}{damage}{rows}")
    source = ab.read_csv(str(tmp_path / "*.csv"), Item, on_error=on_error)
    stream = source.map(renamed).process(Running, key="n")
    sinks = [stream.collect("out")]
    if on_error == "dead_letter":
        sinks.append(source.outputs.dead_letter.collect("letters"))
    graph = as_program(*sinks).graph
    for stretch in (1, 10, 1000):
        assert on_simulated(graph, 2, stretch) == expected(graph)


def test_a_file_that_lacks_a_column_stops_the_run_when_it_is_reached(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("n,x,s,maybe,ts\n1,2.0,a,,0.0\n2,2.0,b,,0.0\n")
    (tmp_path / "2.csv").write_text("n,x,s,ts\n1,2.0,a,0.0\n")
    graph = as_program(ab.read_csv(str(tmp_path / "*.csv"), Item).process(Running, key="n").collect("out")).graph
    assert "no column 'maybe'" in str(expected(graph)[1])
    assert on_simulated(graph, 2, 1) == expected(graph) == outcome(fused.run, graph)


# Sinks that need no order -------------------------------------------------------------------------------------------


def test_a_sink_that_needs_no_order_gets_the_same_tuples_as_they_come() -> None:
    items = [Item(n % 10, float(n), "ab"[n % 2], None, float(n)) for n in range(100)]

    def found(ordered: bool) -> list[Any]:
        sink = ab.from_items(Item, items).process(Running, key="n").collect("out", ordered=ordered)
        return run_on(Simulated(seed=3), compile(as_program(sink).graph), Metrics(), channels=2, stretch=7).items("out")

    assert found(ordered=False) != found(ordered=True)
    assert sorted(found(ordered=False)) == sorted(found(ordered=True))
