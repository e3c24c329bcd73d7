"""A processing element says where tuples come from, and in which order it gave them on all of its outputs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.codegen.build import build_elements, build_pe, generate
from anabranch.codegen.chunks import Batch, Chunk
from anabranch.codegen.part import Part, part_of
from anabranch.codegen.pe import ProcessingElement, Stopped
from anabranch.engines import sequential
from anabranch.graph.model import Graph
from anabranch.graph.plan import Segment
from anabranch.passes.fusion.cuts import cut_up
from anabranch.run import as_program


class Point(NamedTuple):
    n: int
    key: int
    ts: float


class Squares:
    """Numbers that need more than 64 bits before long, but only while they are worked with."""

    def __init__(self) -> None:
        self.square = 2

    def process(self, item: Point) -> Iterator[Any]:
        self.square = self.square * self.square % 1_000_000_007_000 if item.n % 2 else self.square
        yield ab.to("squares", Point(self.square, item.key, item.ts))
        if item.n % 3:
            yield item
        yield ab.to("rest", item)


ITEMS = [Point(n % 5, n % 3, float(n // 3)) for n in range(80)]


def some_of(item: Point) -> Iterator[Point]:
    for number in range(item.n):
        yield item._replace(n=item.n + number)


def program(seen: list[tuple[int, str]], *, is_long: bool = False) -> Graph:
    """Streams leave before and behind operators that take them here; sinks say what they see."""
    named = {"squares": Point, "rest": Point}
    items: Any = ab.from_items(Point, ITEMS)
    if is_long:
        items = items.flat_map(some_of).filter(lambda item: item.n != 2).flat_map(some_of)
    found = items.process(Squares, key="key", out=Point, outputs=named)
    few = found.outputs.squares.filter(lambda item: item.n % 3 == 1)
    windows = few.window(ab.tumbling(seconds=2, on="ts"), key="key").aggregate(
        Point, n=ab.count(), key=ab.first("key"), ts=ab.last("ts")
    )
    streams = [found, found.outputs.squares, windows, few, found.outputs.rest]
    streams.append(found.outputs.squares.map(lambda item: Point(item.n % 7, item.key, item.ts), out=Point))
    return as_program(*[each.for_each(partial(_see, seen, number)) for number, each in enumerate(streams)]).graph


def _see(seen: list[tuple[int, str]], number: int, item: Point) -> None:
    seen.append((number, repr(item)))


def part_of_program(graph: Graph) -> Part:
    return part_of(graph, tuple(each.id for each in graph.operators if not each.is_source and not each.is_sink))


def in_order(part: Part, element: ProcessingElement, cuts: list[int]) -> list[tuple[int, str]]:
    """What leaves for which sink, by items and turns."""
    sinks = [sink.id for sink in part.graph.sinks]
    targets = {(edge.source, edge.source_port): edge.target for edge in part.graph.edges if edge.target in sinks}
    numbers = [sinks.index(targets[stream.operator, stream.port]) for stream in part.outputs]
    found = []
    for start, stop in zip([0, *cuts], [*cuts, len(ITEMS)], strict=True):
        chunk = Chunk.of_rows(part.schema(part.inputs[0]), ITEMS[start:stop], is_last=stop == len(ITEMS))
        left: list[tuple[int, int, int, str]] = []
        for number, given in zip(numbers, given_by(element, chunk), strict=True):
            assert given.origins is not None
            assert given.turns is not None
            rows = zip(given.origins.tolist(), given.turns.tolist(), given.rows, strict=True)
            left += [(item, turn, number, repr(row)) for item, turn, row in rows]
            left += [(*given.ended, number, "end")] if given.ended is not None else []
        assert len({each[:2] for each in left}) == len(left), "no two have the same turn"
        found += [each[2:] for each in sorted(left)]
    return found


def given_by(element: ProcessingElement, chunk: Chunk) -> list[Chunk]:
    try:
        return element.process(Batch((chunk,)))
    except Stopped as stopped:
        return stopped.outputs


@pytest.mark.parametrize("cuts", [[], [1, 2, 30], list(range(1, len(ITEMS)))])
def test_turns_are_the_order_of_the_oracle(cuts: list[int]) -> None:
    seen: list[tuple[int, str]] = []
    graph = program(seen)
    sequential.run(graph)
    part = part_of_program(graph)
    found = in_order(part, build_pe(part, "python", origins=True), cuts)
    assert [each for each in found if each[1] != "end"] == seen
    assert len(found) == len(seen) + len(part.outputs)


@pytest.mark.parametrize("form", ["native", "python"])
def test_native_code_takes_the_same_turns_also_where_it_is_left(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are more than 64 bits at last: one item is handed over, or all from there on."""
    if form == "python":
        monkeypatch.setattr("anabranch.codegen.native.element._MOST_SAVED", 0)
    part = part_of_program(program([]))
    native = build_pe(part, "native", origins=True)
    cuts = [7, 8, 50]
    assert in_order(part, native, cuts) == in_order(part, build_pe(part, "python", origins=True), cuts)
    assert native.form == form
    assert native.notes


def test_native_code_knows_where_punctuations_come_from_before_any_tuple_has_come() -> None:
    moved = ab.from_items(Point, []).punctuate(count=1).map(lambda item: item._replace(n=item.n + 1), out=Point)
    graph = as_program(moved.collect("out")).graph
    [name] = [each.id for each in graph.operators if each.kind == "map"]
    part = part_of(graph, (name,))
    chunk = Chunk.of_rows(part.schema(part.inputs[0]), [], punctuations=[0, 0])
    [given] = build_pe(part, "native", origins=True).process(Batch((chunk,)))
    assert given.punctuation_origins is not None
    assert given.punctuation_origins.tolist() == [0, 1]


@pytest.mark.parametrize("cuts", [[], [1, 2, 30], list(range(1, len(ITEMS)))])
def test_turns_and_origins_are_the_same_where_a_part_is_cut_in_stages(cuts: list[int]) -> None:
    """Each stage knows only which item of the stage before it an output came from."""
    part = part_of_program(program([], is_long=True))
    groups = [group.operators for group in cut_up(part.graph, part.operators, lambda one, other: True)]
    assert len(groups) == 4
    staged = build_elements(generate(part, [[Segment(group, "python")] for group in groups], origins=True))
    assert in_order(part, staged, cuts) == in_order(part, build_pe(part, "python", origins=True), cuts)
