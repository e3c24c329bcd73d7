"""Sources that can be read in this process only: what is behind them is in channels all the same, in the same order."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.runs import as_it_comes
from anabranch.dataflow.sources.batching import draw_soon
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Program
from anabranch.passes.layout.source_reading import can_be_dealt_out, must_stay
from anabranch.run import as_program
from tests.codegen.palette import RISING, Item, Running
from tests.dataflow.layout.test_layouts_exactly import Both, through
from tests.dataflow.outcomes import expected, outcome
from tests.dataflow.simulated import Simulated
from tests.examples_drawn import drawn

ITEMS = [Item(n % 5, float(n), "abc"[n % 3], None, float(n)) for n in range(200)]


class Jobs(Simulated):
    """Counts them."""

    count = 0

    def rows(self, *arguments: Any) -> Any:
        self.count += 1
        return super().rows(*arguments)


def on_simulated(graph: Any, channels: int, stretch: int, seed: int = 0) -> tuple[Any, str | None]:
    return outcome(run_on, Simulated(seed=seed), compile(graph), Metrics(), channels=channels, stretch=stretch)


@pytest.fixture(autouse=True)
def _small_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(as_it_comes, "_STRETCHES", 3)


def generated(items: list[Item], fails_behind: int | None = None) -> Any:
    def source() -> Iterator[Item]:
        for number, item in enumerate(items):
            if number == fails_behind:
                raise OSError("the line is dead")
            yield item

    return ab.generate(Item, source)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """One or two sources that are read here, and perhaps one that need not be."""
    items = [draw(RISING) for _ in range(draw(st.integers(1, 3)))]
    streams = [generated(items[0], draw(st.none() | st.integers(0, 9)))]
    streams += [generated(each) if draw(st.booleans()) else ab.from_items(Item, each) for each in items[1:]]
    one, two = through(draw, streams[0]), through(draw, draw(st.sampled_from(streams)))
    kind = draw(st.sampled_from(["met", "union", "one"]))
    behind = {
        "met": lambda: ab.connect(Both, key="s", one=one, two=two),
        "union": lambda: one.union(two).process(Running, key="n"),
        "one": lambda: one.process(Running, key=draw(st.sampled_from(["n", "s"]))),
    }[kind]()
    windows = behind.window(ab.tumbling(seconds=3, on="ts"), key="s").aggregate(
        Item, n=ab.count(), x=ab.sum_("x"), s=ab.first("s"), maybe=ab.last("maybe"), ts=ab.last("ts")
    )
    return as_program(behind.collect("out"), windows.collect("windows"))


@drawn(30)
@given(programs(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(0, 9))
def test_random_programs(program: Program, channels: int, stretch: int, seed: int) -> None:
    assert can_be_dealt_out(compile(program.graph))
    assert on_simulated(program.graph, channels, stretch, seed) == expected(program.graph)


def test_a_source_of_the_users_own_is_dealt_out_to_channels_in_several_jobs() -> None:
    graph = as_program(generated(ITEMS).process(Running, key="n").collect("out")).graph
    cluster, metrics = Jobs(), Metrics()
    result = run_on(cluster, compile(graph), metrics, channels=2, stretch=10)
    assert result.items("out") == ab.run(Program(graph), engine="sequential").items("out")
    assert cluster.count >= 200 // 30
    assert cluster.last is not None
    assert [[place.channels for place in level] for level in cluster.last.layout.levels] == [[2]]
    assert metrics.tuples_in == 200
    assert {place: (flow.received, flow.emitted) for place, flow in metrics.flows.items()} == {
        "sources": (200, 200),
        "R1": (200, len(result.items("out"))),
    }
    assert metrics["generate"].emitted == 200
    assert metrics.notes == ["the sources were read in the driver: 'generate' gives tuples as they arrive"]


def test_what_a_source_holds_is_not_sent(tmp_path: Path) -> None:
    lock = threading.Lock()

    def source() -> Iterator[Item]:
        with lock:
            yield from ITEMS

    graph = as_program(ab.generate(Item, source).process(Running, key="n").write_csv(str(tmp_path / "out.csv"))).graph
    assert must_stay(graph) is not None
    run_on(Simulated(), compile(graph), Metrics(), channels=2, stretch=50)
    written = (tmp_path / "out.csv").read_text()
    ab.run(Program(graph), engine="sequential")
    assert (tmp_path / "out.csv").read_text() == written


SEEN: list[int] = []


def noted(item: Item) -> Item:
    SEEN.append(item.n)
    return item


def following() -> Iterator[Item]:
    yield from ITEMS[: 10 + len(SEEN)]


@pytest.mark.parametrize(
    ("sink", "why"),
    [
        (lambda: generated(ITEMS).process(Running, key="n").for_each(print), "somebody looks at what comes out"),
        (lambda: generated(ITEMS).collect("out"), "there is no region"),
        (lambda: ab.generate(Item, following).map(noted).process(Running, key="n").collect("out"), "they share SEEN"),
    ],
)
def test_where_drawing_ahead_could_be_seen_or_brings_nothing_all_stays_here(sink: Any, why: str) -> None:
    assert not can_be_dealt_out(compile(as_program(sink()).graph)), why


def test_what_has_come_is_processed_while_a_source_keeps_everybody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(as_it_comes, "_PATIENCE", 0.01)
    is_done = threading.Event()

    def source() -> Iterator[Item]:
        yield from ITEMS[:5]
        assert is_done.wait(60), "the first five are processed before there is a sixth"
        yield from ITEMS[5:]

    class Watching(Simulated):
        def rows(self, *arguments: Any) -> Any:
            yield from super().rows(*arguments)
            is_done.set()

    graph = as_program(ab.generate(Item, source).process(Running, key="n").collect("out")).graph
    result = run_on(Watching(), compile(graph), Metrics(), channels=2, stretch=100)
    oracle = as_program(ab.from_items(Item, ITEMS).process(Running, key="n").collect("out"))
    assert result.items("out") == ab.run(oracle, engine="sequential").items("out")


class Failing:
    def __init__(self) -> None:
        self.count = 0

    def process(self, item: Item) -> Item:
        self.count += 1
        if item.x == 7.0:
            raise ValueError("seven")
        return item


def test_a_source_is_let_go_when_the_run_has_failed() -> None:
    is_let_go = threading.Event()

    def source() -> Iterator[Item]:
        try:
            for number in range(10_000_000):
                yield Item(number, float(number), "", None, 0.0)
        finally:
            is_let_go.set()

    graph = as_program(ab.generate(Item, source).process(Failing, key="n").collect("out")).graph
    with pytest.raises(ab.OperatorError, match="seven"):
        run_on(Simulated(), compile(graph), Metrics(), channels=2, stretch=4)
    assert is_let_go.wait(60), "nobody draws any more"


def test_a_default_argument_may_be_shared_with_an_operator() -> None:
    shared: list[int] = []

    def source(seen: list[int] = shared) -> Iterator[Item]:
        for number in range(20):
            yield Item(number % 3, float(len(seen)), "", None, 0.0)

    def noted(item: Item) -> Item:
        shared.append(1)
        return item

    program = as_program(ab.generate(Item, source).map(noted).process(Running, key="n").collect("out"))
    expected = ab.run(program, engine="sequential").items("out")
    shared.clear()
    assert ab.run(program, engine="fused").items("out") == expected
    assert not can_be_dealt_out(compile(program.graph))


def test_nothing_is_said_to_be_missing_before_the_patience_is_over() -> None:
    def source() -> Iterator[Item]:
        for item in ITEMS[:20]:
            time.sleep(0.002)
            yield item

    graph = as_program(ab.generate(Item, source).collect("out")).graph
    drawn_items = list(draw_soon(graph.sources, patience=30.0))
    assert None not in drawn_items
    assert len(drawn_items) == 21, "and the end"


def test_on_spark(session: Any) -> None:
    lock = threading.Lock()  # it cannot be sent, and need not be

    def source() -> Iterator[Item]:
        with lock:
            yield from ITEMS

    program = as_program(ab.generate(Item, source).process(Running, key="n").collect("out"))
    result = ab.run(program, engine="spark", spark=session, channels=2)
    assert result.items("out") == ab.run(program, engine="sequential").items("out")
    assert [note for note in result.metrics.notes if "in the driver" in note] == [
        "the sources were read in the driver: 'generate' gives tuples as they arrive"
    ]
