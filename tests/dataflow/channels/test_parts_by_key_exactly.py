"""Windows without a key behind windows by key are put together of parts of each channel: the oracle's tuples, in order.

A channel has some of the tuples of a stretch, and those of others come between them; but their panes never go back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines import sequential
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Graph, Program
from anabranch.run import as_program
from tests.dataflow.channels.test_parts_exactly import Reading, makes_parts, reading, readings
from tests.dataflow.outcomes import expected, in_python, outcome
from tests.dataflow.simulated import Simulated
from tests.examples_drawn import drawn


class Closed(NamedTuple):
    """What a window by key gives."""

    s: str
    v: int
    x: float
    o: int | None
    ts: float
    n: int
    at: datetime
    day: date


class Total(NamedTuple):
    s: str
    count: int
    total: int
    least: float
    most: float
    last: str
    optional: int
    best: str
    worst: int | None
    different: int
    ending: float


INSIDE = {
    "ts": [ab.tumbling(seconds=1, on="ts"), ab.sliding(seconds=3, slide=1, on="ts"), ab.tumbling(delta=0.1, on="ts")],
    "n": [ab.tumbling(delta=3, on="n"), ab.sliding(delta=5, slide=2, on="n")],
    "at": [ab.tumbling(minutes=5, on="at"), ab.sliding(minutes=9, slide=6, on="at")],
    "day": [ab.tumbling(days=1, on="day")],
}
BEHIND = {
    "ts": [ab.tumbling(seconds=2, on="ts"), ab.tumbling(delta=0.3, on="ts"), ab.sliding(seconds=6, slide=2, on="ts")],
    "n": [ab.tumbling(delta=6, on="n"), ab.sliding(delta=12, slide=6, on="n")],
    "at": [ab.tumbling(minutes=7, on="at"), ab.sliding(minutes=20, slide=10, on="at")],
    "day": [ab.tumbling(days=1, on="day"), ab.sliding(days=4, slide=2, on="day")],
}


def closed(stream: Any, window: Any, time: str, given: Any, **options: Any) -> Any:
    """Windows by key, of which each gives one time."""
    columns = {"s": ab.any_("s"), "v": ab.sum_("v"), "x": ab.min_("x"), "o": ab.last("o"), "ts": ab.last("ts"),
               "n": ab.last("n"), "at": ab.last("at"), "day": ab.last("day")}  # fmt: skip
    columns[time] = given
    return stream.window(window, key="s").aggregate(Closed, **columns, **options)


def totals(stream: Any, window: Any, **options: Any) -> Any:
    return stream.window(window).aggregate(
        Total, s=ab.first("s"), count=ab.count(), total=ab.sum_("v"), least=ab.min_("x"), most=ab.max_("x"),
        last=ab.last("s"), optional=ab.sum_("o"), best=ab.arg_max("s", by="o"), worst=ab.min_("o"),
        different=ab.count_distinct("v"), ending=ab.last("ts"), **options,
    )  # fmt: skip


def renamed(one: Closed) -> Closed:
    return Closed(one.s + "!", one.v, -one.x, one.o, one.ts, one.n, one.at, one.day)


def several(one: Closed) -> Iterator[Closed]:
    for number in range(one.v % 3):
        yield Closed(one.s, number, one.x, one.o, one.ts, one.n, one.at, one.day)


def reciprocal(one: Closed) -> Closed:
    return Closed(one.s, 100 // (one.v - 4), one.x, one.o, one.ts, one.n, one.at, one.day)


def fraction(total: Total) -> Total:
    return total._replace(total=100 // (total.count - 4))


@st.composite
def windowed(draw: st.DrawFn) -> Program:
    source: Any = ab.from_items(Reading, draw(readings()))
    time = draw(st.sampled_from([*INSIDE]))
    edge = draw(st.sampled_from([ab.window_start(), ab.window_end()]))
    groups = draw(st.sampled_from([None, None, "o"]))
    stream = closed(source, draw(st.sampled_from(INSIDE[time])), time, edge, group_by=groups)
    match draw(st.sampled_from(["", "", "map", "filter", "several", "fails"])):
        case "map":
            stream = stream.map(renamed)
        case "filter":
            stream = stream.filter(lambda one: one.v != 2)
        case "several":
            stream = stream.flat_map(several, out=Closed)
        case "fails":
            stream = stream.map(reciprocal)
    behind = totals(stream, draw(st.sampled_from(BEHIND[time])), group_by=draw(st.sampled_from([None, None, "s"])))
    match draw(st.sampled_from(["", "", "fails", "beside"])):
        case "fails":
            behind = behind.map(fraction)
        case "beside":  # what comes out of windows meets the tuples that close them
            other = stream.map(lambda c: Total(c.s, c.v, 0, 0.0, 0.0, "", 0, "", None, 0, 0.0), out=Total)
            behind = behind.union(other) if draw(st.booleans()) else other.union(behind)
    return as_program(behind.collect("out"))


@drawn(30)
@given(windowed(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(0, 9))
def test_windows_of_parts_of_channels(program: Program, channels: int, stretch: int, seed: int) -> None:
    cluster = Simulated(seed=seed)
    assert in_python(cluster, program.graph, channels, stretch) == expected(program.graph)
    assert cluster.last is not None
    assert cluster.last.layout.first_steps


MANY = [reading(n % 7, n / 3, s="abcdefgh"[n * 5 % 8], o=n % 4, x=float(n * 37 % 101)) for n in range(200)]


def busiest(window: Any = None, *, given: Any = None, inside: Any = None) -> Graph:
    """As the fifth query of NEXMark."""
    stream = closed(ab.from_items(Reading, MANY), inside or INSIDE["ts"][1], "ts", given or ab.window_end())
    return as_program(totals(stream, window or ab.tumbling(seconds=4, on="ts")).collect("out")).graph


@pytest.mark.parametrize("stretch", [1, 6, 50, 1000])
def test_what_leaves_the_channels_are_parts(stretch: int) -> None:
    graph, metrics, own, cluster = busiest(), Metrics(), Metrics(), Simulated()
    found = outcome(run_on, cluster, compile(graph), metrics, "python", channels=3, stretch=stretch)
    assert found == expected(graph)
    assert cluster.last is not None
    [arrival] = cluster.last.layout.arriving("tail")
    assert arrival.stream.operator == "aggregate_2: parts"
    sequential.run(graph, own)
    assert metrics.operators == own.operators


def test_parts_of_channels_are_made_by_native_code_too() -> None:
    for window in (ab.tumbling(seconds=16, on="ts"), ab.sliding(seconds=24, slide=8, on="ts")):
        stream = closed(ab.from_items(Reading, MANY), INSIDE["ts"][1], "ts", ab.window_end())
        counted = stream.window(window).aggregate(
            Counted, count=ab.count(), least=ab.min_("x"), most=ab.max_("x"), best=ab.arg_max("s", by="v"),
            total=ab.sum_("v"), last=ab.last("n"),
        )  # fmt: skip
        graph = as_program(counted.collect("out")).graph
        plan = compile(graph, replace(compile(graph).settings, expected=10**8, channels=3))
        forms = {segment.operators: segment.form for pe in plan.pes for segment in pe.segments}
        assert forms["aggregate_2: parts",] == "native"
        for stretch in (7, 1000):
            assert outcome(run_on, Simulated(), plan, Metrics(), "auto", channels=3, stretch=stretch) == expected(graph)


class Counted(NamedTuple):
    count: int
    least: float
    most: float
    best: str
    total: int
    last: int


@pytest.mark.parametrize(
    ("inside", "given", "window", "is_so"),
    [
        pytest.param(None, ab.last("ts"), None, False, id="of tuples of windows that overlap"),
        pytest.param(ab.tumbling(seconds=2, on="ts"), ab.last("ts"), None, True, id="of tuples, windows in panes"),
        pytest.param(ab.tumbling(seconds=3, on="ts"), ab.last("ts"), None, False, id="windows over the edge of a pane"),
        pytest.param(ab.tumbling(seconds=2, on="ts"), ab.max_("x"), None, False, id="no time"),
        pytest.param(ab.tumbling(seconds=2, on="ts", clock="key"), ab.window_end(), None, False, id="a clock by key"),
        pytest.param(ab.tumbling(count=3), ab.last("ts"), None, False, id="no windows by time"),
    ],
)
def test_panes_that_may_go_back_are_not_in_two_steps(inside: Any, given: Any, window: Any, is_so: bool) -> None:
    graph = busiest(window, given=given, inside=inside)
    plan = compile(graph)
    assert makes_parts(plan) == is_so
    if not is_so:
        assert any("the time of the whole stream is not known" in why.text for why in plan.sequential["aggregate_2"])
    assert outcome(run_on, Simulated(), plan, Metrics(), channels=3, stretch=7) == expected(graph)


@drawn(20)
@given(
    readings(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.sampled_from(["first", "last", "min_", "max_"])
)
def test_times_of_tuples_of_windows_that_are_in_panes(
    items: list[Reading], channels: int, stretch: int, which: str
) -> None:
    for inside, behind in ((0.1, 0.3), (1, 2)):
        stream = closed(
            ab.from_items(Reading, items), ab.tumbling(delta=inside, on="ts"), "ts", getattr(ab, which)("ts")
        )
        graph = as_program(totals(stream, ab.tumbling(delta=behind, on="ts")).collect("out")).graph
        cluster = Simulated()
        assert in_python(cluster, graph, channels, stretch) == expected(graph)
        assert cluster.last is not None
        assert cluster.last.layout.first_steps


def test_a_stream_that_meets_another_is_not_in_two_steps() -> None:
    """Each of them ascends, but not both together."""
    windows = [closed(ab.from_items(Reading, MANY), INSIDE["ts"][0], "ts", ab.window_end()) for _ in range(2)]
    graph = as_program(totals(windows[0].union(windows[1]), ab.tumbling(seconds=4, on="ts")).collect("out")).graph
    assert not makes_parts(compile(graph))
