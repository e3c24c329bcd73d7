"""A loop that runs in rounds is a job for every round, with parallel regions: the oracle's tuples, in its order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines import sequential
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Program
from anabranch.run import as_program
from tests.dataflow.outcomes import expected, in_python, outcome
from tests.dataflow.simulated import Simulated
from tests.examples_drawn import drawn


class Parcel(NamedTuple):
    at: int
    to: int
    n: int


class Spread:
    """Sends a parcel on, to as many as have come here; every fifth tuple fails for some numbers."""

    def __init__(self) -> None:
        self.seen = 0

    def process(self, parcel: Parcel) -> Iterator[Parcel]:
        self.seen += 1
        for number in range(self.seen % 3):
            yield Parcel(parcel.to, (parcel.at + number) % 5, parcel.n + 60 // (self.seen - 9))


class Sum:
    """What came to a place in a round."""

    def __init__(self) -> None:
        self.at = self.n = self.rounds = 0

    def process(self, parcel: Parcel) -> None:
        self.at = parcel.at
        self.n += parcel.n

    def punctuation(self) -> Iterator[Parcel]:
        self.rounds += 1
        for number in range(self.n % 3):
            yield Parcel(self.at, (self.n + number) % 5, self.n // (self.rounds - 4))
        self.n = abs(self.n) // 2


class Gather:
    """Decides whether there is another round."""

    def __init__(self, rounds: int) -> None:
        self.left = rounds
        self.parcels: list[Parcel] = []

    def process(self, parcel: Parcel) -> None:
        self.parcels.append(parcel)

    def punctuation(self) -> Iterator[Parcel | ab.To]:
        self.left -= 1
        for parcel in self.parcels:
            yield parcel if self.left > 0 and parcel.n % 7 else ab.to("done", parcel)
        self.parcels = []


class Last:
    """Keeps the last of each place, and gives it at the end."""

    def __init__(self) -> None:
        self.last: Parcel | None = None

    def process(self, parcel: Parcel) -> Iterator[Parcel]:
        self.last = parcel
        if parcel.n % 2:
            yield parcel

    def finish(self) -> Iterator[Parcel]:
        if self.last is not None:
            yield self.last


def twice(parcel: Parcel) -> Iterator[Parcel]:
    yield parcel
    if parcel.n % 3:
        yield parcel._replace(at=parcel.to)


def reciprocal(parcel: Parcel) -> Parcel:
    return parcel._replace(n=60 // (parcel.n - 4))


PARCELS = st.lists(
    st.builds(Parcel, st.integers(0, 4), st.integers(0, 4), st.sampled_from([0, 1, 2, 3, 5, 6, 8])), max_size=40
)


def through(draw: st.DrawFn, stream: Any, steps: list[str]) -> Any:
    for step in draw(st.lists(st.sampled_from(steps), max_size=2)):
        match step:
            case "filter":
                stream = stream.filter(lambda parcel: parcel.n != 2)
            case "twice":
                stream = stream.flat_map(twice, out=Parcel)
            case "fails":
                stream = stream.map(reciprocal, on_error=draw(st.sampled_from(["stop", "skip", "skip"])))
            case "spread":
                stream = stream.process(Spread, key="at", on_error=draw(st.sampled_from(["stop", "skip", "skip"])))
            case "last":
                stream = stream.process(Last, key="to")
            case "sum":
                stream = stream.process(Sum, key="at", on_error=draw(st.sampled_from(["stop", "skip", "skip"])))
    return stream


@st.composite
def looped(draw: st.DrawFn) -> Program:
    stream: Any = ab.from_items(Parcel, draw(PARCELS))
    if draw(st.integers(0, 3)) == 0:
        stream = stream.union(ab.from_items(Parcel, draw(PARCELS)))
    stream = through(draw, stream, ["filter", "twice", "spread", "fails", "last"])
    sinks = [stream.collect("before")] if draw(st.integers(0, 6)) == 0 else []
    if draw(st.integers(0, 2)) == 0:
        stream = stream.punctuate(count=draw(st.sampled_from([1, 3, 10])))
    made: list[Any] = []

    def body(loop: Any) -> tuple[Any, Any]:
        before = through(draw, loop, ["filter", "twice", "spread", "spread", "fails"])
        sums = before.process(Sum, key="at", on_error=draw(st.sampled_from(["stop", "skip"])))
        sums = through(draw, sums, ["filter", "twice", "spread", "sum"])
        gathered = sums.process(partial(Gather, draw(st.integers(1, 5))), outputs={"done": Parcel})
        back = through(draw, gathered, ["filter", "twice", "sum"])
        made.extend([gathered.outputs.done, before, sums, loop])
        return gathered.outputs.done, back

    onward: Any = stream.feedback(body, rounds=True)
    for number, other in enumerate(made[1:], 1):
        if draw(st.integers(0, 4)) == 0:
            sinks.append(other.collect(f"other{number}"))
    behind = through(draw, onward, ["filter", "twice", "spread", "last", "fails"])
    return as_program(*sinks, behind.collect("out"))


@drawn(40)
@given(looped(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(0, 9))
def test_rounds_are_jobs(program: Program, channels: int, stretch: int, seed: int) -> None:
    cluster = Simulated(seed=seed, shares_files=seed % 3 != 0)
    assert in_python(cluster, program.graph, channels, stretch) == expected(program.graph)


def pages(steps: Any = None, *, has_sink: bool = False) -> Program:
    """A loop with a region in it, and one behind it."""

    def body(loop: Any) -> tuple[Any, Any]:
        gathered = loop.process(Sum, key="at").process(partial(Gather, 3), outputs={"done": Parcel})
        return gathered.outputs.done, steps(gathered) if steps else gathered

    parcels = [Parcel(n % 5, n % 3, n % 8) for n in range(50)]
    stream = ab.from_items(Parcel, parcels).process(Spread, key="at", on_error="skip")
    onward: Any = stream.feedback(body, rounds=True)
    sinks = [stream.collect("before")] if has_sink else []
    return as_program(*sinks, onward.process(Last, key="to").collect("out"))


def test_the_regions_in_a_loop_and_behind_it_have_channels() -> None:
    cluster = Simulated()
    result = run_on(cluster, compile(pages().graph), Metrics(), channels=3)
    assert cluster.last is not None
    assert [[place.channels for place in level] for level in cluster.last.layout.levels] == [[3], [1], [3]]
    assert result.metrics.notes == []
    assert result.collected == sequential.run(pages().graph).collected


@pytest.mark.parametrize(
    ("why", "program"),
    [
        ("an operator in it emits when the stream ends", lambda: pages(lambda stream: stream.process(Last, key="to"))),
        ("there is a sink before it", lambda: pages(has_sink=True)),
    ],
)
def test_it_is_said_why_a_loop_runs_as_a_whole(why: str, program: Any) -> None:
    result = run_on(Simulated(), compile(program().graph), Metrics(), channels=3)
    assert result.metrics.notes[0] == f"in one place: the loop of 'feedback' runs as a whole: {why}"
    assert result.collected == sequential.run(program().graph).collected


class Counted:
    def __init__(self) -> None:
        self.count = 0

    def process(self, parcel: Parcel) -> Parcel:
        self.count += 1
        return parcel._replace(n=parcel.n + self.count)


class Strict:
    """Gives everything that came in a round at its end; a two fails."""

    def __init__(self) -> None:
        self.parcels: list[Parcel] = []
        self.rounds = 0

    def process(self, parcel: Parcel) -> None:
        if parcel.n == 2:
            raise ValueError("two")
        self.parcels.append(parcel)

    def punctuation(self) -> Iterator[Parcel | ab.To]:
        self.rounds += 1
        for parcel in self.parcels:
            yield ab.to("done", parcel._replace(to=self.rounds))
        self.parcels = []


def test_dead_letters_come_around_before_the_next_tuple() -> None:
    """An operator that keeps silent until a punctuation does not where it sends dead letters."""

    def body(loop: Any) -> tuple[Any, Any]:
        counted = loop.process(Counted, key="at")
        strict = counted.process(Strict, out=Parcel, outputs={"done": Parcel}, on_error="dead_letter")
        letters = strict.outputs.dead_letter
        return strict.outputs.done, letters.map(lambda letter: Parcel(7, 7, len(letter.item)), out=Parcel)

    parcels = [Parcel(n % 3, 0, 1) for n in range(4)]
    graph = as_program(ab.from_items(Parcel, parcels).feedback(body, rounds=True).collect("out")).graph
    assert outcome(run_on, Simulated(), compile(graph), Metrics(), channels=2) == expected(graph)
