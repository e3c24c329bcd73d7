"""Keyed windows run in channels, and give the oracle's tuples in the oracle's order, or its error.

Their time is that of the whole stream, of which a channel sees only a part; and they close in many channels at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anabranch as ab
from anabranch.codegen.chunks import Chunk
from anabranch.compiler import compile
from anabranch.dataflow.order.pieces import Piece
from anabranch.dataflow.order.ticks import latest, ticks
from anabranch.dataflow.result import Metrics
from anabranch.engines import sequential
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Program
from anabranch.graph.schema import schema_of
from anabranch.operators.windows import Axis
from anabranch.run import as_program
from tests.dataflow.outcomes import expected, in_python, outcome
from tests.dataflow.simulated import Simulated
from tests.examples_drawn import drawn

START = datetime(2024, 2, 29, 22)


class Reading(NamedTuple):
    k: int
    s: str
    v: int
    ts: float
    n: int
    at: datetime
    day: date


class Window(NamedTuple):
    k: int
    count: int
    total: int
    first: str
    last: float


class Edges(NamedTuple):
    k: int
    count: int
    start: float
    end: float


class Days(NamedTuple):
    k: int
    start: date
    end: date


class Own(NamedTuple):
    k: int
    odd: int
    values: list[int]


class Odd:
    """An aggregate of the user's own: it takes tuples apart, and fails now and then."""

    def __init__(self) -> None:
        self.odd = 0

    def add(self, reading: Reading) -> None:
        _, s, v, *_ = reading
        assert len(reading) == 7
        if s == "x":
            raise ValueError("no x")
        self.odd += v % 2

    def result(self) -> int:
        if self.odd == 3:
            raise ValueError("three")
        return self.odd


class Steps:
    """Keeps something for each key behind the windows."""

    def __init__(self) -> None:
        self.seen = 0

    def process(self, window: Window) -> Iterator[Window]:
        self.seen += 1
        for _ in range(self.seen % 3):
            yield window._replace(count=self.seen)


def twice(reading: Reading) -> Iterator[Reading]:
    yield reading
    if reading.v % 3:
        yield reading._replace(ts=reading.ts + 4.0, n=reading.n + 7)


class Noted:
    def __init__(self) -> None:
        self.count = 0

    def process(self, reading: Reading) -> Iterator[Reading]:
        self.count += 1
        yield reading._replace(v=reading.v + self.count % 2)


def reciprocal(window: Window) -> Window:
    return window._replace(total=100 // (window.count - 4))


@st.composite
def readings(draw: st.DrawFn) -> list[Reading]:
    """Time goes on, with tuples that come early, late, or at the same time; large numbers are rare."""
    made = []
    time = 0.0
    for _ in range(draw(st.integers(0, 60))):
        time += draw(st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0, 20.0]))
        ts = time - draw(st.sampled_from([0.0, 0.0, 0.0, 0.3, 2.5, 9.0]))
        v = draw(st.sampled_from([0, 1, 2, 3, 5, 2**62] if draw(st.integers(0, 9)) == 0 else [0, 1, 2, 3, 5]))
        s = draw(st.sampled_from(["a", "b", "c"] + ["x"] * (draw(st.integers(0, 19)) == 0)))
        at = START + timedelta(seconds=ts * 100)
        made.append(Reading(draw(st.integers(0, 4)), s, v, ts, int(ts * 2), at, at.date()))
    if made and draw(st.integers(0, 9)) == 0:
        at = draw(st.integers(0, len(made) - 1))
        made[at] = made[at]._replace(ts=draw(st.sampled_from([math.nan, math.inf, -1e300, 1e15])))
    if draw(st.integers(0, 4)) == 0:
        made = [one._replace(at=one.at.replace(tzinfo=UTC)) if one.v % 2 else one for one in made]
    return made


TUMBLING = (
    ab.tumbling(seconds=1, on="ts"),
    ab.tumbling(seconds=5, on="ts"),
    ab.tumbling(delta=0.1, on="ts"),
    ab.tumbling(delta=3, on="n"),
    ab.tumbling(minutes=5, on="at"),
    ab.tumbling(days=1, on="day"),
)
WINDOWS = (
    *TUMBLING,
    ab.sliding(seconds=6, slide=2, on="ts"),
    ab.sliding(seconds=5, slide=2, on="ts"),
    ab.sliding(delta=2, slide=5, on="n"),
    ab.sliding(minutes=10, slide=2, on="at"),
    ab.tumbling(seconds=5, on="ts", clock="key"),
    ab.sliding(seconds=6, slide=2, on="ts", clock="key"),
    ab.tumbling(count=3),
    ab.sliding(count=4, slide=2),
)


def distinct(draw: st.DrawFn, stream: Any) -> Any:
    if draw(st.booleans()):
        stream = stream.process(Noted, key="s")
    window = draw(
        st.sampled_from([
            ab.sliding(seconds=2, on="ts"),
            ab.sliding(seconds=20, on="ts"),
            ab.sliding(minutes=5, on="at"),
            ab.sliding(delta=3, on="n"),
            ab.tumbling(seconds=5, on="ts"),
            ab.tumbling(days=1, on="day"),
        ])
    )  # fmt: skip
    return stream.distinct(key=draw(st.sampled_from(["k", ["k", "v"]])), window=window)


@st.composite
def windowed(draw: st.DrawFn) -> Program:
    stream: Any = ab.from_items(Reading, draw(readings()))
    before = draw(st.sampled_from(["", "", "filter", "twice", "noted", "noted by k", "union", "distinct", "distinct"]))
    if before == "filter":
        stream = stream.filter(lambda reading: reading.v != 2)
    elif before == "twice":
        stream = stream.flat_map(twice, out=Reading)
    elif before.startswith("noted"):
        stream = stream.process(Noted, key="k" if before == "noted by k" else "s")
    elif before == "union":
        stream = stream.union(ab.from_items(Reading, draw(readings())))
    elif before == "distinct":
        stream = distinct(draw, stream)
        if draw(st.booleans()):
            return as_program(stream.collect("out"))
    window = draw(st.sampled_from(WINDOWS))
    on_error = draw(st.sampled_from(["stop", "stop", "skip"]))
    windows = stream.window(window, key=draw(st.sampled_from(["k", "k", ["s", "k"]])))
    match draw(st.sampled_from(["totals", "totals", "edges", "own"])):
        case "edges" if window.on == "ts":
            start, end = ab.window_start(), ab.window_end()
            behind = windows.aggregate(Edges, k=ab.last("k"), count=ab.count(), start=start, end=end)
        case "own":
            behind = windows.aggregate(Own, k=ab.any_("k"), odd=Odd, values=ab.collect("v"), on_error=on_error)
        case _:
            behind = windows.aggregate(
                Window, k=ab.first("k"), count=ab.count(), total=ab.sum_("v"), first=ab.first("s"), last=ab.last("ts"),
                on_error=on_error,
            )  # fmt: skip
            after = draw(st.sampled_from(["", "map", "steps", "steps", "windows", "fails"]))
            if after == "map":
                behind = behind.filter(lambda window: window.count != 2)
            elif after == "steps":
                behind = behind.process(Steps, key=draw(st.sampled_from(["k", "first"])))
            elif after == "windows":
                again = draw(st.sampled_from([ab.tumbling(seconds=10, on="last"), ab.tumbling(count=2)]))
                behind = behind.window(again, key=draw(st.sampled_from(["k", "first"])))
                behind = behind.aggregate(
                    Window, k=ab.max_("k"), count=ab.count(), total=ab.sum_("count"), first=ab.first("first"),
                    last=ab.last("last"),
                )  # fmt: skip
            elif after == "fails":
                behind = behind.map(reciprocal)
    return as_program(behind.collect("out"))


@drawn(60)
@given(windowed(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(0, 9))
def test_windows_of_many_keys(program: Program, channels: int, stretch: int, seed: int) -> None:
    cluster = Simulated(seed=seed)
    assert in_python(cluster, program.graph, channels, stretch) == expected(program.graph)
    assert cluster.last is not None
    assert [place.channels for place in cluster.last.layout.places if place.is_ranked][:1] == [channels]


def totals(items: list[Reading], window: Any, **options: Any) -> Program:
    stream = ab.from_items(Reading, items).window(window, key="k")
    first, last = ab.first("s"), ab.last("ts")
    made = stream.aggregate(Window, k=ab.first("k"), count=ab.count(), total=ab.sum_("v"), first=first, last=last)
    return as_program(made.collect("out", **options))


def reading(k: int, v: int, ts: float) -> Reading:
    return Reading(k, "a", v, ts, int(ts), START, START.date())


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (2, 0, 4, 1, 3)])
def test_of_windows_that_fail_at_the_same_time_the_first_is_reported(order: tuple[int, ...]) -> None:
    """Those that began before it have given what they held, in whichever channel they are."""
    large = {0, 1, 3}  # whose sums do not fit into 64 bits: each is told by how much
    items = [reading(k, 2**62 if k in large else k, 0.0) for k in order]
    items += [reading(k, 2**62 + k if k in large else k, 1.0) for k in order]
    items.append(reading(9, 0, 10.0))
    graph = totals(items, ab.tumbling(seconds=5, on="ts")).graph
    found = outcome(run_on, Simulated(), compile(graph), Metrics(), "python", channels=3, stretch=4)
    assert found == expected(graph)
    assert "does not fit into 64 bits" in str(found[1])


@pytest.mark.parametrize("window", [ab.tumbling(days=1, on="day"), ab.sliding(days=3, slide=1, on="day")])
@pytest.mark.parametrize("day", [date.max, date.max - timedelta(days=1), date.min, date.min + timedelta(days=1)])
def test_a_window_whose_edge_is_beyond_the_calendar_fails_at_its_place(window: Any, day: date) -> None:
    items = [reading(k, k, 0.0)._replace(day=day) for k in (3, 1, 4, 0, 2, 5)]
    stream = ab.from_items(Reading, items).window(window, key="k")
    made = stream.aggregate(Days, k=ab.first("k"), start=ab.window_start(), end=ab.window_end())
    graph = as_program(made.collect("out")).graph
    for channels in (1, 2, 3):
        assert outcome(run_on, Simulated(), compile(graph), Metrics(), "python", channels=channels) == expected(graph)


@pytest.mark.parametrize("time", [1e18, 1e19, -1e19, 1e30, 1e300, -1e300])
@pytest.mark.parametrize(
    "window",
    [
        ab.tumbling(delta=1, on="ts"),
        ab.tumbling(delta=0.1, on="ts", clock="key"),
        ab.sliding(delta=3, slide=1, on="ts"),
        ab.sliding(delta=0.3, slide=0.1, on="ts", clock="key"),
    ],
)
def test_the_number_of_a_window_may_be_larger_than_64_bits(window: Any, time: float) -> None:
    items = [reading(k, k, 0.0)._replace(ts=time * (1 + at / 10)) for at, k in enumerate((3, 1, 4, 0, 2, 1, 3))]
    graph = totals(items, window).graph
    for form in ("python", "native"):
        found = outcome(run_on, Simulated(), compile(graph), Metrics(), form, channels=3, stretch=3)
        assert found == expected(graph)


def test_a_window_may_be_longer_than_any_float() -> None:
    items = [reading(k, k, 0.0)._replace(n=n) for n, k in zip((-3, -1, 0, 5, 2), (3, 1, 4, 1, 3), strict=True)]
    graph = totals(items, ab.tumbling(delta=10**309, on="n")).graph
    assert outcome(run_on, Simulated(), compile(graph), Metrics(), "python", channels=3) == expected(graph)


def test_tuples_that_only_bring_the_time_are_not_counted() -> None:
    items = [reading(n % 7, n, float(n)) for n in range(100)]
    graph = totals(items, ab.tumbling(seconds=3, on="ts")).graph
    metrics, own = Metrics(), Metrics()
    run_on(Simulated(), compile(graph), metrics, "python", channels=3, stretch=10)
    sequential.run(graph, own)
    assert metrics["aggregate"] == own["aggregate"]


def test_an_error_shows_the_tuple_as_the_user_knows_it() -> None:
    items = [reading(n % 3, n, float(n)) for n in range(10)]
    items[7] = items[7]._replace(ts=math.nan)
    graph = totals(items, ab.tumbling(seconds=3, on="ts")).graph
    found = outcome(run_on, Simulated(), compile(graph), Metrics(), "python", channels=2, stretch=3)
    assert found == expected(graph)
    assert f"on {items[7]}" in str(found[1])


# Which tuples move the clock of all channels --------------------------------------------------------------------------

SLIDES = (0.1, 1 / 3, 1.0, 7.0, 1e-6, 86_400.0)


@settings(max_examples=300, deadline=None)
@given(st.data(), st.sampled_from(SLIDES), st.booleans())
def test_every_tuple_that_ends_a_window_goes_to_all_channels(data: st.DataObject, slide: float, is_near: bool) -> None:
    """Even where floats are close to a boundary, and whoever of several senders has it."""
    near = st.integers(-50, 10**9).flatmap(
        lambda index: st.sampled_from([index * slide, math.nextafter(index * slide, 1e300), index * slide - slide / 3])
    )
    times = data.draw(st.lists(near if is_near else st.floats(-1e12, 1e12), max_size=30))
    schema = schema_of(Reading)
    window = ab.sliding(delta=slide * 3, slide=slide, on="ts")
    axis = Axis(window, schema)
    senders = data.draw(st.lists(st.integers(0, 1), min_size=len(times), max_size=len(times)))
    sent: set[int] = set()
    for sender in (0, 1):
        mine = np.array([at for at, each in enumerate(senders) if each == sender], np.int64)
        rows = [reading(0, 0, 0.0)._replace(ts=times[at]) for at in mine]
        sent |= set(ticks(Piece(Chunk.of_rows(schema, rows), (mine,)), window).order[0].tolist())  # type: ignore[index]
    reached: int | None = None
    for at, time in enumerate(times):
        boundary = axis.boundary(time)
        if reached is None or boundary > reached:
            reached = boundary
            assert at in sent


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 30) | st.sampled_from([2**60, 2**60 + 1]), max_size=30), st.data())
def test_a_channel_knows_the_time_of_the_stream_whenever_a_tuple_comes(times: list[int], data: st.DataObject) -> None:
    schema = schema_of(Reading)
    rows = [reading(0, 0, 0.0)._replace(n=time) for time in times]
    mine = data.draw(st.lists(st.booleans(), min_size=len(times), max_size=len(times)))
    own = np.flatnonzero(mine)
    got = latest(Piece(Chunk.of_rows(schema, rows), None), ab.sliding(delta=3, on="n"), own).order
    assert got is not None
    known = sorted([*got[0].tolist(), *own.tolist()])
    for at in [*own.tolist(), len(times) - 1] if times else []:
        assert max(times[: at + 1]) == max(times[other] for other in known if other <= at)
    assert len(known) <= 2 * len(own) + 1


def test_tuples_within_one_window_stay_where_they_are() -> None:
    rows = [reading(0, 0, 100.005 + n * 0.01) for n in range(500)]
    piece = Piece(Chunk.of_rows(schema_of(Reading), rows), None)
    assert len(ticks(piece, ab.tumbling(seconds=2, on="ts")).chunk) == 3
