"""What comes around in a loop waits for all that was made of a source tuple, wherever the program is cut into PEs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.engines import fused
from anabranch.graph.model import Graph, Program
from anabranch.graph.settings import FUSIONS
from anabranch.run import as_program
from tests.dataflow.outcomes import expected, on_simulated, outcome
from tests.examples_drawn import drawn


class Hop(NamedTuple):
    at: int
    left: int


def twice(hop: Hop) -> Iterator[Hop]:
    yield hop
    if hop.at % 3:
        yield hop._replace(at=hop.at + 1)


def odd(hop: Hop) -> bool:
    return hop.at % 2 == 1


def onward(hop: Hop) -> Hop:
    return Hop(hop.at * 3 % 11, hop.left - 1)


class Late:
    """Gives a tuple when the next has come, and the last at the end."""

    def __init__(self) -> None:
        self.hop: Hop | None = None

    def process(self, hop: Hop) -> Iterator[Hop]:
        if self.hop is not None:
            yield self.hop
        self.hop = hop

    def finish(self) -> Iterator[Hop]:
        if self.hop is not None:
            yield self.hop
            yield self.hop._replace(at=0)


class Numbered:
    """Shows who came first."""

    def __init__(self) -> None:
        self.count = 0

    def process(self, hop: Hop) -> Hop:
        self.count += 1
        return Hop(hop.at + 100 * self.count, hop.left)


class Batch:
    """Gives every tuple at once, and all of them at a punctuation."""

    def __init__(self) -> None:
        self.hops: list[Hop] = []

    def process(self, hop: Hop) -> Iterator[Hop]:
        self.hops.append(hop)
        yield hop

    def punctuation(self) -> Iterator[Hop]:
        yield from self.hops
        self.hops = []


def around(loop: Any) -> tuple[Any, Any]:
    return loop, loop.filter(lambda hop: hop.left > 0).map(onward, out=Hop)


def around_in_batches(loop: Any) -> tuple[Any, Any]:
    batches = loop.process(Batch)
    return batches, batches.filter(lambda hop: hop.left > 0).map(onward, out=Hop)


LOOPS = ["loop", "batches", "rounds"]
STEPS = ["map", "filter", "twice", "two ways", "union", "late", "numbered", "by place", "punctuate", "sort", *LOOPS]


def through(draw: st.DrawFn, stream: Any, step: str) -> Any:
    match step:
        case "map":
            return stream.map(onward, out=Hop)
        case "filter":
            return stream.filter(odd)
        case "twice":
            return stream.flat_map(twice, out=Hop)
        case "two ways":
            return stream.filter(odd).union(stream.map(onward, out=Hop))
        case "union":
            return stream.union(source(draw))
        case "late":
            return stream.process(Late)
        case "numbered":
            return stream.process(Numbered)
        case "by place":
            return stream.process(Numbered, key="at")
        case "punctuate":
            return stream.punctuate(count=draw(st.integers(1, 4)))
        case "sort":
            return stream.sort("at", count=3)
        case "loop":
            return stream.feedback(around)
        case "batches":
            return stream.punctuate(count=2).feedback(around_in_batches)
        case _:
            return stream.feedback(around_in_batches, rounds=True)


def source(draw: st.DrawFn) -> Any:
    hops = st.builds(Hop, st.integers(0, 9), st.integers(0, 2))
    return ab.from_items(Hop, draw(st.lists(hops, max_size=8)))


@st.composite
def loops(draw: st.DrawFn) -> Program:
    stream = source(draw)
    sinks = []
    steps = draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=5))
    steps = [step for at, step in enumerate(steps) if step not in LOOPS or not set(steps[:at]) & {"batches", "rounds"}]
    for number, step in enumerate(steps):  # each of these loops makes many of one
        stream = through(draw, stream, step)
        if draw(st.integers(0, 9)) == 0:
            sinks.append(stream.collect(f"beside{number}"))
    return as_program(*sinks, stream.process(Numbered).collect("out"))


@drawn(60)
@given(loops(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(0, 9), st.sampled_from(FUSIONS))
def test_loops_anywhere(program: Program, channels: int, stretch: int, seed: int, fuse: str) -> None:
    assert on_simulated(program.graph, channels, stretch, fuse, seed=seed) == expected(program.graph)
    assert in_one_process(program.graph, fuse) == expected(program.graph)


def in_one_process(graph: Graph, fuse: str) -> Any:
    return outcome(fused.run, graph, fuse=fuse)


BEFORE = {
    "makes several tuples of one": lambda hops: hops.flat_map(twice, out=Hop),
    "goes two ways": lambda hops: hops.map(onward, out=Hop).union(hops.filter(odd)),
    "punctuates": lambda hops: hops.punctuate(count=1),
    "is a loop, too": lambda hops: hops.feedback(around),
    "emits at the end": lambda hops: hops.process(Late),
}


@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE)
@pytest.mark.parametrize("fuse", FUSIONS)
def test_a_loop_takes_turns_with_what_is_before_it(before: Any, fuse: str) -> None:
    hops = ab.from_items(Hop, [Hop(n % 7, n % 4) for n in range(12)]).filter(lambda hop: hop.at != 4)
    graph = as_program(before(hops).feedback(around_in_batches).collect("out")).graph
    assert in_one_process(graph, fuse) == expected(graph)
    for channels in (1, 2, 3):
        assert on_simulated(graph, channels, 3, fuse) == expected(graph)
