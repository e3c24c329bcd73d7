"""Windows with both a key and groups run in channels: a key's groups stay together, in the order of the keys."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Program
from anabranch.run import as_program
from tests.dataflow.channels.test_windows_exactly import WINDOWS, Noted, Odd, Reading, reading, readings, twice
from tests.dataflow.outcomes import expected, in_python, outcome
from tests.dataflow.simulated import Simulated
from tests.examples_drawn import drawn


class Group(NamedTuple):
    k: int
    v: int
    count: int
    total: int
    s: str


class Edges(NamedTuple):
    k: int
    v: int
    start: float
    end: float


class Fails(NamedTuple):
    k: int
    odd: int


class Again:
    """Keeps something for each key behind the windows."""

    def __init__(self) -> None:
        self.seen = 0

    def process(self, group: Group) -> Iterator[Group]:
        self.seen += 1
        for _ in range(self.seen % 3):
            yield group._replace(count=self.seen)


@st.composite
def grouped(draw: st.DrawFn) -> Program:
    stream: Any = ab.from_items(Reading, draw(readings()))
    before = draw(st.sampled_from(["", "", "twice", "noted", "union"]))
    if before == "twice":
        stream = stream.flat_map(twice, out=Reading)
    elif before == "noted":
        stream = stream.process(Noted, key="s")
    elif before == "union":
        stream = stream.union(ab.from_items(Reading, draw(readings())))
    window = draw(st.sampled_from([*WINDOWS, ab.punctuated()]))
    if window.shape == "punctuated":
        stream = stream.punctuate(count=draw(st.sampled_from([1, 3, 10])))
    windows = stream.window(window, key=draw(st.sampled_from(["k", "k", "ts", ["s", "k"]])))
    groups = {"group_by": draw(st.sampled_from(["v", "s", ["v", "s"], "ts"]))}
    if window.on == "ts" and draw(st.booleans()):
        start, end = ab.window_start(), ab.window_end()
        return as_program(
            windows.aggregate(Edges, k=ab.last("k"), v=ab.last("v"), start=start, end=end, **groups).collect("out")
        )
    total = draw(st.sampled_from([ab.sum_("v"), ab.sum_("v"), Odd]))
    behind = windows.aggregate(
        Group, k=ab.first("k"), v=ab.first("v"), count=ab.count(), total=total, s=ab.last("s"), **groups,
        on_error=draw(st.sampled_from(["stop", "stop", "stop", "skip"])),
    )  # fmt: skip
    if draw(st.integers(0, 2)) == 0:
        behind = behind.process(Again, key=draw(st.sampled_from(["k", "v"])))
    return as_program(behind.collect("out"))


@drawn(25)
@given(grouped(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(0, 9))
def test_windows_with_a_key_and_groups(program: Program, channels: int, stretch: int, seed: int) -> None:
    cluster = Simulated(seed=seed)
    assert in_python(cluster, program.graph, channels, stretch) == expected(program.graph)
    assert cluster.last is not None
    in_channels = [place.channels for place in cluster.last.layout.places if place.is_ranked]
    assert in_channels == ([channels] if program.graph.operator("aggregate").on_error == "stop" else [])


def groups(items: list[Reading], window: Any, prepare: Callable[[Any], Any] = lambda stream: stream) -> Program:
    stream = prepare(ab.from_items(Reading, items)).window(window, key="k")
    given = {"k": ab.first("k"), "v": ab.first("v"), "count": ab.count(), "total": ab.sum_("v"), "s": ab.last("s")}
    return as_program(stream.aggregate(Group, **given, group_by="s").collect("out"))


KINDS = [
    ab.tumbling(seconds=20, on="ts"),
    ab.sliding(seconds=20, slide=10, on="ts"),
    ab.tumbling(seconds=20, on="ts", clock="key"),
    ab.tumbling(count=7),
    ab.sliding(count=9, slide=4),
    ab.punctuated(),
]


@pytest.mark.parametrize("window", KINDS, ids=str)
def test_groups_of_every_kind_of_window(window: Any) -> None:
    items = [reading(n * 5 % 7, n, n / 3)._replace(s="abc"[n * n % 11 % 3]) for n in range(300)]
    is_punctuated = window.shape == "punctuated"
    graph = groups(items, window, lambda stream: stream.punctuate(count=40) if is_punctuated else stream).graph
    for channels in (2, 3):
        found = outcome(run_on, Simulated(), compile(graph), Metrics(), "python", channels=channels, stretch=25)
        assert found == expected(graph)


@pytest.mark.parametrize("window", KINDS[:2], ids=str)
def test_groups_in_native_code_whose_time_passes_elsewhere(window: Any) -> None:
    """Windows that close, and begin, with no tuple of the channel's own."""
    for seed in range(4):
        rng = random.Random(seed)
        times = [n / 3 + rng.choice([0, 0, 0, 15, 60, -25]) for n in range(rng.choice([3, 40, 150]))]
        items = [reading(rng.randrange(5), n, ts)._replace(s=rng.choice("abc")) for n, ts in enumerate(times)]
        graph = groups(items, window).graph
        stretch = rng.choice([1, 3, 25])
        found = outcome(run_on, Simulated(), compile(graph), Metrics(), "native", channels=3, stretch=stretch)
        assert found == expected(graph)


@pytest.mark.parametrize("group_by", [None, "v"])
@pytest.mark.parametrize("wrong", [0, 1, 3, 7])
def test_a_tuple_that_fails_when_its_window_is_made_at_the_end_fails_at_its_place(group_by: Any, wrong: int) -> None:
    """The last tuples are added to windows by count when these are given."""
    items = [reading(k, at % 3 * 2, 0.0) for at, k in enumerate((5, 3, 7, 1, 0, 2, 6, 4) * 3)]
    items[wrong + 16] = items[wrong + 16]._replace(s="x")
    windows = ab.from_items(Reading, items).window(ab.sliding(count=4, slide=2), key="k")
    graph = as_program(windows.aggregate(Fails, k=ab.first("k"), odd=Odd, group_by=group_by).collect("out")).graph
    for channels in (2, 3):
        found = outcome(run_on, Simulated(), compile(graph), Metrics(), "python", channels=channels, stretch=5)
        assert found == expected(graph)
        assert "no x" in str(found[1])


@pytest.mark.parametrize("large", [(0, "a"), (0, "b"), (2, "a"), (2, "b"), (3, "c")])
@pytest.mark.parametrize("window", KINDS[:2], ids=str)
def test_of_groups_that_fail_at_the_same_time_the_first_is_reported(window: Any, large: tuple[int, str]) -> None:
    """All groups of keys that came before have given what they held, and none of those behind."""
    keys = [(k, s) for s in "abc" for k in (2, 0, 3, 1)]
    values = {pair: 2**62 if pair == large or pair == (1, "b") else 1 for pair in keys}
    items = [reading(k, values[k, s], 0.0)._replace(s=s) for _ in range(2) for k, s in keys]
    graph = groups([*items, reading(9, 0, 90.0)], window).graph
    for channels in (2, 3):
        found = outcome(run_on, Simulated(), compile(graph), Metrics(), "python", channels=channels, stretch=5)
        assert found == expected(graph)
        assert "does not fit into 64 bits" in str(found[1])
