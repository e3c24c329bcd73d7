"""Joins over windows of time run in channels, and give the oracle's tuples in the oracle's order, or its error.

Their clock is the largest time on either of two streams, of which a channel sees only a part.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anabranch as ab
from anabranch.codegen.chunks import Chunk
from anabranch.compiler import compile
from anabranch.dataflow.channels.join_channel import JoinChannel
from anabranch.dataflow.order.pieces import Piece
from anabranch.dataflow.order.ticks import bare_times
from anabranch.dataflow.result import Metrics
from anabranch.engines import sequential
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Program
from anabranch.graph.schema import schema_of
from anabranch.run import as_program
from tests.dataflow.outcomes import expected, in_python, outcome
from tests.dataflow.simulated import Simulated
from tests.examples_drawn import drawn

START = datetime(2024, 2, 29, 22)


class Event(NamedTuple):
    k: int
    s: str
    v: int
    ts: float
    n: int
    at: datetime
    day: date


class Both(NamedTuple):
    k: int
    s: str
    left: int
    right: int
    ts: float
    n: int


class Summed(NamedTuple):
    k: int
    total: int
    count: int


class Noted:
    def __init__(self) -> None:
        self.count = 0

    def process(self, event: Event) -> Iterator[Event]:
        self.count += 1
        yield event._replace(v=event.v + self.count % 2)


class Met:
    """Keeps something for each key behind a join."""

    def __init__(self) -> None:
        self.met = 0

    def process(self, both: Both) -> Iterator[Both]:
        self.met += 1
        for _ in range(self.met % 3):
            yield both._replace(n=self.met)


def twice(event: Event) -> Iterator[Event]:
    yield event
    if event.v % 3:
        yield event._replace(ts=event.ts + 4.0, n=event.n + 7)


def paired(left: Event, right: Event) -> Both:
    assert len(left) == len(right) == 7
    return Both(left.k, right.s, left.v, right.v, right.ts, left.n)


def paired_or_not(left: Event, right: Event) -> Both:
    return paired(left, right)._replace(left=6 // (left.v - right.v + 4))


def met_again(both: Both, event: Event) -> Both:
    return both._replace(right=event.v)


def is_near(left: Event, right: Event) -> bool:
    return 3 // (left.v + right.v + 1) < 3


@st.composite
def events(draw: st.DrawFn) -> list[Event]:
    """Time goes on, with tuples that come early, late, or at the same time, and once in a while with none."""
    made = []
    time = float(draw(st.sampled_from([0, 0, 30])))
    for _ in range(draw(st.integers(0, 40))):
        time += draw(st.sampled_from([0.0, 0.0, 0.1, 0.5, 1.0, 3.0, 20.0]))
        ts = time - draw(st.sampled_from([0.0, 0.0, 0.0, 0.3, 2.5, 9.0, 25.0]))
        at = START + timedelta(seconds=ts * 100)
        v = draw(st.sampled_from([0, 1, 2, 3, 5]))
        made.append(Event(draw(st.integers(0, 3)), draw(st.sampled_from("ab")), v, ts, int(ts * 2), at, at.date()))
    if made and draw(st.integers(0, 5)) == 0:
        at = draw(st.integers(0, len(made) - 1))
        made[at] = made[at]._replace(ts=draw(st.sampled_from([math.nan, math.inf, -1e300, 1e15])))
    if draw(st.integers(0, 4)) == 0:
        made = [one._replace(at=one.at.replace(tzinfo=UTC)) if one.v % 2 else one for one in made]
    return made


BY_COUNT = (ab.sliding(count=0), *(ab.sliding(count=count, per_key=True) for count in (1, 3)))
WINDOWS = (
    (*(ab.sliding(seconds=seconds, on="ts") for seconds in (0.5, 3, 20)),),
    (*(ab.sliding(delta=delta, on="n") for delta in (1, 6, 50)),),
    (*(ab.sliding(minutes=minutes, on="at") for minutes in (1, 6)), ab.sliding(days=1, on="day")),
)


def through(draw: st.DrawFn, stream: Any) -> Any:
    """What is before a join: nothing, or regions whose channels send parts of the same stretch."""
    match draw(st.sampled_from(["", "", "filter", "twice", "noted", "noted by k", "window"])):
        case "filter":
            return stream.filter(lambda event: event.v != 2)
        case "twice":
            return stream.flat_map(twice, out=Event)
        case "noted":
            return stream.process(Noted, key="s")
        case "noted by k":
            return stream.process(Noted, key="k")
        case "window":
            firsts = {name: ab.first(name) for name in Event._fields}
            return stream.window(ab.tumbling(seconds=2, on="ts"), key="s").aggregate(Event, **firsts, on_error="skip")
    return stream


@st.composite
def joined(draw: st.DrawFn) -> Program:
    """Two sources, one that parts, or one stream that meets itself."""
    how = draw(st.sampled_from(["two", "two", "in order", "parts", "itself"]))
    order = {"order_by": "n"} if how == "in order" else {}
    source = ab.from_items(Event, draw(events()), **order)
    left = through(draw, source)
    if how == "itself":
        right = left
    else:
        right = through(draw, source if how == "parts" else ab.from_items(Event, draw(events()), **order))
    if draw(st.integers(0, 3)) == 0:
        left, right = right, left
    kinds = draw(st.sampled_from(WINDOWS))
    windows = [draw(st.sampled_from(kinds)), draw(st.sampled_from(kinds + BY_COUNT))]
    if draw(st.booleans()):
        windows.reverse()
    match = draw(st.sampled_from([None, None, None, lambda left, right: left.v >= right.v, is_near]))
    behind: Any = left.join(
        right, left=windows[0], right=windows[1], on=draw(st.sampled_from(["k", "k", "s", ["s", "k"]])), match=match,
        out=draw(st.sampled_from([paired, paired, paired_or_not])), on_error=draw(st.sampled_from(["stop", "skip"])),
    )  # fmt: skip
    match draw(st.sampled_from(["", "", "filter", "met", "window", "again"])):
        case "filter":
            behind = behind.filter(lambda both: both.left != 2)
        case "met":
            behind = behind.process(Met, key=draw(st.sampled_from(["k", "s"])))
        case "window":
            behind = behind.window(ab.tumbling(seconds=3, on="ts"), key="k")
            behind = behind.aggregate(Summed, k=ab.first("k"), total=ab.sum_("left"), count=ab.count(), on_error="skip")
        case "again":
            window = ab.sliding(seconds=4, on="ts")
            other = ab.from_items(Event, draw(events()), **order)
            behind = behind.join(other, left=window, right=window, on="s", out=met_again)
    return as_program(behind.collect("out"), *([left.collect("left")] if draw(st.integers(0, 9)) == 0 else []))


@drawn(25)
@given(joined(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(0, 9))
def test_joins_over_windows_of_time(program: Program, channels: int, stretch: int, seed: int) -> None:
    cluster = Simulated(seed=seed)
    assert in_python(cluster, program.graph, channels, stretch) == expected(program.graph)


def event(k: int, v: int, ts: float) -> Event:
    return Event(k, "ab"[v % 2], v, ts, int(ts), START, START.date())


MINUTE = ab.sliding(seconds=60, on="ts")


@pytest.mark.parametrize("how", ["two sources", "one that parts", "itself", "several senders", "one by count"])
def test_a_join_over_windows_of_time_has_channels(how: str) -> None:
    left = ab.from_items(Event, [event(n % 3, n, n * 10.0) for n in range(50)])
    right, window = left, MINUTE
    match how:
        case "two sources":
            right = ab.from_items(Event, [event(n % 4, n, n * 7.0) for n in range(50)])
        case "one that parts":
            right = left.filter(lambda event: event.v % 5 > 0)
        case "several senders":
            left, right = left.process(Noted, key="s"), left.flat_map(twice, out=Event)
        case "one by count":
            window = ab.sliding(count=2, per_key=True)
    program = as_program(left.join(right, left=MINUTE, right=window, on="k", out=paired).collect("out"))
    cluster = Simulated()
    found = outcome(run_on, cluster, compile(program.graph), Metrics(), channels=3, stretch=8)
    assert found == expected(program.graph)
    assert found[0]["out"]
    assert cluster.last is not None
    assert cluster.last.layout.place_of("join").channels == 3


def joined_sources(left: list[Event], right: list[Event], window: Any = MINUTE, other: Any = None) -> Program:
    streams = ab.from_items(Event, left), ab.from_items(Event, right)
    met = streams[0].join(streams[1], left=window, right=other or window, on="k", out=paired)
    return as_program(met.collect("out"))


@pytest.mark.parametrize("stretch", [1, 2, 3, 100])
def test_time_that_passed_in_other_channels_has_passed(stretch: int) -> None:
    """Whoever sent it, and however long ago: what it pushed out is met no more, and what is too late stays out."""
    late = [event(1, 1, 0.0), *(event(k, k, 100.0) for k in (2, 3, 4)), event(1, 5, 1.0), event(1, 6, 99.0)]
    graph = joined_sources(late, [event(9, 9, 0.0)] * 4 + [event(1, 2, 2.0), event(1, 3, 98.0), event(1, 4, 0.0)]).graph
    for channels in (2, 3, 5):
        found = outcome(run_on, Simulated(), compile(graph), Metrics(), channels=channels, stretch=stretch)
        assert found == expected(graph)
    assert [both.left for both in sequential.run(graph, Metrics()).items("out")] == [6, 6]


def test_channels_hold_no_more_than_the_windows_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where no tuple comes any more that could push another out: time goes on elsewhere."""
    held: dict[JoinChannel, int] = {}  # in the end
    process = JoinChannel.process

    def counted(channel: JoinChannel, *arguments: Any) -> Iterator[Any]:
        yield from process(channel, *arguments)
        held[channel] = sum(len(window.by_time) for window in channel.join.windows)

    monkeypatch.setattr(JoinChannel, "process", counted)
    left = [event(n // 100, n, float(n)) for n in range(600)]  # one key after the other
    program = joined_sources(left, [event(0, 0, 0.0)])
    run_on(Simulated(), compile(program.graph), Metrics(), channels=3, stretch=50)
    assert sum(held.values()) == 60


def test_times_that_others_send_are_not_counted() -> None:
    graph = joined_sources(*([event(n % 7, n, n * step) for n in range(60)] for step in (3.0, 5.0))).graph
    metrics, own = Metrics(), Metrics()
    run_on(Simulated(), compile(graph), metrics, "python", channels=3, stretch=10)
    sequential.run(graph, own)
    assert metrics["join"] == own["join"]


def test_times_of_which_one_is_an_int_and_the_other_a_float_stay_in_one_place() -> None:
    left, right = ([event(n % 3, n, n * step) for n in range(30)] for step in (3.0, 5.0))
    graph = joined_sources(left, right, ab.sliding(delta=20, on="ts"), ab.sliding(delta=20, on="n")).graph
    cluster = Simulated()
    assert outcome(run_on, cluster, compile(graph), Metrics(), channels=3, stretch=8) == expected(graph)
    assert cluster.last is not None
    assert cluster.last.layout.refused == (("R1", "the time of 'join' is that of the whole stream"),)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-1e12, 1e12) | st.sampled_from([math.nan, math.inf, 0.0, 5.0]), max_size=30))
def test_the_times_that_are_sent_are_those_that_rise(times: list[float]) -> None:
    piece = Piece(Chunk.of_rows(schema_of(Event), [event(0, 0, 0.0)._replace(ts=time) for time in times]), None)
    sent = bare_times(piece, MINUTE)
    known, expected_places = -math.inf, []
    for at, time in enumerate(times):
        if math.isfinite(time) and time > known:
            known = time
            expected_places.append(at)
    assert sent.order is not None
    assert sent.order[0].tolist() == expected_places
    assert [row.time for row in sent.chunk.rows] == [times[at] for at in expected_places]
