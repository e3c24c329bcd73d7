"""Punctuations pass parallel regions: every channel sees each of them once, at its place among the tuples."""

from __future__ import annotations

from collections.abc import Iterator
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
from tests.dataflow.outcomes import expected, in_python, outcome
from tests.dataflow.simulated import Simulated
from tests.examples_drawn import drawn


class Click(NamedTuple):
    user: int
    page: str
    n: int


class Visit(NamedTuple):
    user: int
    count: int
    total: int
    page: str


class SinceThen:
    """Counts what came since the last punctuation, and says nothing when there is one."""

    def __init__(self) -> None:
        self.count = 0

    def process(self, click: Click) -> Iterator[Click]:
        self.count += 1
        if self.count != 3:
            yield click._replace(n=self.count)
        if self.count == 4:
            yield click

    def punctuation(self) -> None:
        self.count = 0


class Sessions:
    """Gives what came since the last punctuation, and at the end; some of them cannot."""

    def __init__(self) -> None:
        self.last: Click | None = None
        self.count = 0

    def process(self, click: Click) -> Iterator[Click]:
        self.last = click
        self.count += 1
        if self.count % 5 == 0:
            yield click._replace(n=self.count)
            yield click

    def punctuation(self) -> Iterator[Click]:
        if self.last is not None:
            for number in range(self.count % 4):
                yield self.last._replace(n=1200 // (17 - self.count) - number)

    def finish(self) -> Iterator[Click]:
        yield from self.punctuation()
        if self.last is not None:
            yield Click(self.last.user, self.last.page, 1200 // (13 - self.count))


class Marked:
    """Sees punctuations as tuples."""

    def __init__(self) -> None:
        self.seen = 0

    def process(self, click: Click) -> Iterator[Click]:
        yield click

    def punctuation(self) -> Iterator[Click]:
        self.seen += 1
        yield Click(-1, "punctuation", self.seen)


def twice(click: Click) -> Iterator[Click]:
    if click.n % 3:
        yield click
    yield click._replace(n=-click.n)


def reciprocal(click: Click) -> Click:
    return click._replace(n=60 // (click.n - 4))


CLICKS = st.lists(
    st.builds(Click, st.integers(0, 4), st.sampled_from("abc"), st.sampled_from([0, 1, 2, 3, 5, 6, 2**62])),
    max_size=50,
)


def through(draw: st.DrawFn, stream: Any) -> Any:
    steps = ["filter", "twice", "since", "since by page", "sessions", "sessions by page", "fails"]
    for step in draw(st.lists(st.sampled_from(steps), max_size=3)):
        match step:
            case "filter":
                stream = stream.filter(lambda click: click.n != 2)
            case "twice":
                stream = stream.flat_map(twice, out=Click)
            case "sessions":
                stream = stream.process(Sessions, key=["user", "page"])
            case "sessions by page":
                stream = stream.process(Sessions, key="page", on_error=draw(st.sampled_from(["stop", "skip"])))
            case "fails":
                stream = stream.map(reciprocal, on_error=draw(st.sampled_from(["stop", "skip", "skip"])))
            case _:
                stream = stream.process(SinceThen, key="user" if step == "since" else "page")
    return stream


@st.composite
def punctuated(draw: st.DrawFn) -> Program:
    stream: Any = ab.from_items(Click, draw(CLICKS))
    if draw(st.booleans()):
        stream = through(draw, stream)
    marks = draw(st.sampled_from([{"count": 1}, {"count": 3}, {"count": 10}, {"when": lambda click: click.n == 5}]))
    stream = through(draw, stream.punctuate(**marks))
    if draw(st.integers(0, 3)) == 0:
        stream = stream.union(through(draw, ab.from_items(Click, draw(CLICKS))))
    sinks = [] if draw(st.booleans()) else [stream.filter(lambda click: click.n != 1).collect("clicks")]
    if draw(st.booleans()):
        sinks.append(stream.process(Marked).collect("marked"))
    key = draw(st.sampled_from([None, "user", "user", "page", ["page", "user"]]))
    visits = stream.window(ab.punctuated(), key=key).aggregate(
        Visit, user=ab.last("user"), count=ab.count(), total=ab.sum_("n"), page=ab.first("page")
    )
    if draw(st.booleans()):
        again = visits.filter(lambda visit: visit.count > 1).window(ab.punctuated(), key="page")
        visits = again.aggregate(
            Visit, user=ab.first("user"), count=ab.sum_("count"), total=ab.max_("total"), page=ab.any_("page")
        )
    return as_program(*sinks, visits.collect("visits"))


@drawn(50)
@given(punctuated(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(0, 9))
def test_punctuations_pass_parallel_regions(program: Program, channels: int, stretch: int, seed: int) -> None:
    cluster = Simulated(seed=seed)
    assert in_python(cluster, program.graph, channels, stretch) == expected(program.graph)


def test_windows_between_punctuations_have_channels() -> None:
    stream = ab.from_items(Click, []).punctuate(count=3).process(SinceThen, key="user")
    visits = stream.window(ab.punctuated(), key="page").aggregate(
        Visit, user=ab.last("user"), count=ab.count(), total=ab.sum_("n"), page=ab.first("page")
    )
    cluster = Simulated()
    run_on(cluster, compile(as_program(visits.collect("out")).graph), Metrics(), channels=3)
    assert cluster.last is not None
    assert [(place.region, place.channels) for place in cluster.last.layout.places if place.region] == [
        ("R1", 3),
        ("R2", 3),
    ]


def test_instances_that_give_something_at_the_end_have_channels() -> None:
    clicks = [Click(n % 7, "abc"[n % 3], n) for n in range(60)]
    graph = as_program(ab.from_items(Click, clicks).process(Sessions, key="user").collect("out")).graph
    cluster = Simulated()
    found = outcome(run_on, cluster, compile(graph), Metrics(), channels=3, stretch=7)
    assert found == expected(graph)
    assert cluster.last is not None
    assert [place.channels for place in cluster.last.layout.places if place.is_ranked] == [3]


@pytest.mark.parametrize("users", [(0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (2, 0, 4, 1, 3)])
def test_of_instances_that_fail_at_the_end_the_first_is_reported(users: tuple[int, ...]) -> None:
    """Those of earlier keys have given what they have, in whichever channel they are."""
    clicks = [Click(user, "a", n) for n in range(13) for user in users if user in (1, 3) or n < 3]
    graph = as_program(ab.from_items(Click, clicks).process(Sessions, key="user").collect("out")).graph
    found = outcome(run_on, Simulated(), compile(graph), Metrics(), channels=3, stretch=7)
    assert found == expected(graph)
    assert "ZeroDivisionError" in str(found[1])
