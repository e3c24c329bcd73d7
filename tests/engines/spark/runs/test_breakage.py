"""Programs that once gave something else than the oracle's tuples, order or error."""

from __future__ import annotations

import linecache
import os
import pickle
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.order.order_columns import Moment
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.transport.shipping import ship, ship_error, unship, unship_error
from anabranch.engines.on_transport import run_on
from anabranch.engines.spark.runs import engine
from anabranch.engines.spark.session.spark_errors import spark_error
from anabranch.errors import Location, OperatorError, RunError, SourceError
from anabranch.graph.model import Graph, Program
from anabranch.graph.order_keys import Number
from anabranch.graph.values import ValueProblem
from anabranch.run import as_program
from tests.codegen import palette
from tests.dataflow.outcomes import expected, on_simulated
from tests.dataflow.simulated import Simulated


class Item(NamedTuple):
    n: int
    s: str = ""


class Count:
    def __init__(self) -> None:
        self.count = 0

    def process(self, item: Item) -> Item:
        self.count += 1
        return Item(item.n, f"{item.s}{self.count}")


def same(graph: Graph) -> None:
    wanted = expected(graph)
    for channels, stretch in [(1, 1), (2, 7), (3, 100)]:
        assert on_simulated(graph, channels, stretch) == wanted


def numbers(count: int = 40) -> ab.Stream[Item]:
    return ab.from_items(Item, [Item(n, "abc"[n % 3]) for n in range(count)])


# Errors and ends ----------------------------------------------------------------------------------------------------


class Failing:
    def __init__(self) -> None:
        self.count = 0

    def process(self, item: Item) -> Item:
        self.count += 1
        return Item(item.n, f"{item.s}{10 // (item.n - 3)}")


class Last:
    def __init__(self) -> None:
        self.last: Item | None = None

    def process(self, item: Item) -> None:
        self.last = item

    def finish(self) -> Iterator[Item]:
        if self.last is not None:
            yield self.last


@pytest.mark.parametrize("count", [0, 1, 2])
@pytest.mark.parametrize(
    "meet",
    [
        lambda failing, short: ab.merge_by("n", failing, short),
        lambda failing, short: ab.merge_by("n", short, failing),
        lambda failing, short: failing.union(short.process(Last, out=Item)),
        lambda failing, short: failing.union(short.process(Last, out=Item, key="n")),
        lambda failing, short: failing.union(short.sort("n", count=9)),
        lambda failing, short: failing.union(
            short.window(ab.tumbling(count=5)).aggregate(Item, n=ab.count(), s=ab.last("s"))
        ),
    ],
)
def test_what_ended_before_a_tuple_fails_has_ended(meet: Any, count: int) -> None:
    failing = ab.from_items(Item, [Item(n, "a") for n in range(6)]).process(Failing, key="n")
    same(as_program(meet(failing, ab.from_items(Item, [Item(0, "b")] * count)).collect("out")).graph)


class FailsAtLast:
    def __init__(self) -> None:
        self.last = 0

    def process(self, item: Item) -> None:
        self.last = item.n

    def finish(self) -> Iterator[Item]:
        yield Item(60 // (self.last - 2), "last")


def test_what_fails_when_a_stream_ends_keeps_it_from_ending() -> None:
    ends = numbers(6).process(FailsAtLast, key="n", out=Item).process(Last, out=Item)
    same(as_program(ends.collect("out")).graph)
    same(as_program(ends.union(numbers(9)).collect("out")).graph)


# What travels -------------------------------------------------------------------------------------------------------


def test_rows_without_columns_travel_whoever_knows_their_class() -> None:
    """Workers have the user's classes by value only: they cannot be imported there."""

    class Inner(NamedTuple):
        at: datetime | None

    class Local(NamedTuple):
        n: int
        inner: list[Inner]

    class Kept:
        def __init__(self) -> None:
            self.last = 0

        def process(self, item: Local) -> Local:
            self.last += 1
            return Local(self.last, item.inner)

    moments = [datetime(2020, 1, 1), datetime(2020, 1, 2, tzinfo=UTC), None]  # naive and aware ones have no column
    rows = [Local(n % 4, [Inner(moment) for moment in moments]) for n in range(30)]
    source = ab.from_items(Local, rows)
    same(as_program(source.process(Kept, key="n", out=Local).collect("out")).graph)


class Coded(Exception):
    """It cannot be made again from what pickle keeps of it."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(f"{why} {code}")


class Handle(Exception):
    def __init__(self) -> None:
        super().__init__("held")
        self.handle = lambda: 1


class Doubled(Exception):
    """Made again, it would say something else."""

    def __init__(self, code: object) -> None:
        super().__init__(f"code {code}")


def arrived(error: OperatorError) -> RunError:
    graph = as_program(numbers().collect("out")).graph
    return unship_error(ship_error(Moment((Number("draw"),), (3,)), error), graph)[1]


@pytest.mark.parametrize("cause", [Coded(5, "no"), Handle(), Doubled(5), ValueProblem("int expected"), ValueError("x")])
def test_an_error_says_its_tuple_whatever_its_cause_is(cause: Exception) -> None:
    error = OperatorError("one", location=None, cause=cause, item=Item(5, "x"))
    found = arrived(error)
    assert str(found) == str(error)
    assert isinstance(found, OperatorError)
    assert found.item == Item(5, "x")


def test_an_error_says_its_tuple_where_only_the_driver_knows_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a notebook's cell, and of a file in a folder that the worker is not in: it shows other lines."""
    here = tmp_path / "here"
    here.mkdir()
    cell, file = Location("/tmp/ipykernel_1/2.py", 1), Location(str(here / "app.py"), 1)
    error = OperatorError("one", location=cell, raised_at=file, cause=ValueError("x"), item=Item(5, "x"))
    sent = ship_error(Moment((Number("draw"),), (3,)), error)
    monkeypatch.chdir(here)
    monkeypatch.setitem(linecache.cache, cell.file, (8, None, ["the cell\n"], cell.file))
    found = unship_error(sent, as_program(numbers().collect("out")).graph)[1]
    assert isinstance(found, OperatorError)
    assert found.item == Item(5, "x")
    assert str(found).splitlines()[1:] == [
        "  at /tmp/ipykernel_1/2.py:1   the cell", "  raised at app.py:1", "  on Item(n=5, s='x')"
    ]  # fmt: skip


def test_a_class_of_the_main_program_is_the_users_in_a_worker_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """There `__main__` is a file of Spark's."""

    class Main(NamedTuple):
        n: int

    Main.__module__, Main.__qualname__ = "__main__", "Main"
    graph = as_program(ab.from_items(Main, [Main(1)]).collect("out")).graph
    error = OperatorError("one", location=None, cause=ValueError("no"), item=Main(7))
    with monkeypatch.context() as patched:
        patched.setattr(sys.modules["__main__"], "__file__", pickle.__file__, raising=False)
        sent = ship_error(Moment((Number("draw"),), (3,)), error)
    found = unship_error(sent, graph)[1]
    assert str(found) == str(error)
    assert type(found.item) is Main  # type: ignore[attr-defined]


@pytest.mark.parametrize("missing", ["nowhere.csv", "nowhere/*.csv"])
def test_a_file_that_is_not_there_is_missed_at_the_line_of_its_source(missing: str, tmp_path: Path) -> None:
    graph = as_program(ab.read_csv(tmp_path / missing, Item).collect("out")).graph
    with pytest.raises(SourceError) as caught:
        run_on(Simulated(), compile(graph), Metrics())
    assert str(caught.value) == str(expected_error(graph))
    assert caught.value.location is not None


def expected_error(graph: Graph) -> RunError:
    with pytest.raises(SourceError) as caught:
        ab.run(Program(graph), engine="sequential")
    return caught.value


def test_programs_are_sent_from_several_threads_at_once() -> None:
    cluster = Simulated()
    run_on(cluster, compile(as_program(numbers().process(Count, key="n").collect("out")).graph), Metrics(), channels=2)
    job = cluster.last
    assert job is not None
    problems: list[BaseException] = []

    def send() -> None:
        try:
            for _ in range(30):
                ship(job)
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=send) for _ in range(6)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert problems == []


# Loops --------------------------------------------------------------------------------------------------------------


def values(count: int = 40) -> ab.Stream[palette.Item]:
    return ab.from_items(palette.Item, [palette.Item(n % 9, n / 3, "abc"[n % 3], None, n * 1.0) for n in range(count)])


def around(stream: Any) -> tuple[Any, Any]:
    back = stream.filter(lambda item: item.n > 2)
    return stream, back.map(lambda item: palette.Item(item.n // 2, item.x, item.s, None, item.ts), out=palette.Item)


def test_what_comes_around_waits_for_all_that_one_source_tuple_became() -> None:
    kept = values().process(palette.Running, key="s")
    same(as_program(kept.flat_map(palette.twice).feedback(around).collect("out")).graph)
    same(as_program(values().flat_map(palette.twice).feedback(around).collect("out")).graph)
    parted = values()
    met = parted.process(palette.Running, key="s").union(parted.map(palette.doubled))
    same(as_program(met.feedback(around).collect("out")).graph)


def test_what_comes_around_is_behind_what_went_beside_the_loop() -> None:
    parted = values()
    looped = parted.feedback(around).map(palette.unchanged)
    same(as_program(looped.union(parted.process(palette.Running, key="n")).collect("out")).graph)
    parted = values()
    looped = parted.map(palette.doubled).feedback(around).map(palette.unchanged)
    same(as_program(looped.union(parted.map(palette.doubled)).collect("out")).graph)


def test_a_loop_leaves_what_gives_one_tuple_for_each_in_channels() -> None:
    cluster = Simulated()
    looped = values().filter(palette.is_large).map(palette.doubled).feedback(around)
    run_on(cluster, compile(as_program(looped.process(palette.Running, key="s").collect("out")).graph), Metrics())
    assert cluster.last is not None
    assert cluster.last.layout.place("sources").operators[1:] == ("is_large", "doubled")


# Files --------------------------------------------------------------------------------------------------------------


def test_one_task_reads_files_from_the_folder_the_run_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, session: Any
) -> None:
    """Workers live in the folder that the session was made in."""
    (tmp_path / "in.csv").write_text("n,s\n1,a\nx,b\n2,c\n")
    monkeypatch.chdir(tmp_path)
    source = ab.read_csv("in.csv", Item, on_error="dead_letter")
    sinks = [source.process(Count, key="n").collect("out"), source.outputs.dead_letter.collect("letters")]
    program = as_program(*sinks)
    wanted = ab.run(program, engine="sequential").collected
    assert [letter.where for letter in wanted["letters"]] == ["in.csv:3"]
    assert ab.run(program, engine="spark", spark=session).collected == wanted
    assert os.getcwd() == str(tmp_path)


# What comes from outside ----------------------------------------------------------------------------------------------


def test_an_interrupt_while_spark_starts_finds_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "session_for", interrupted)
    metrics = Metrics()
    with pytest.raises(KeyboardInterrupt):
        ab.run(numbers().collect("out"), engine="spark", metrics=metrics)
    assert metrics["out"].received == metrics.tuples_out == 0


@pytest.mark.parametrize(
    "problem",
    [
        EOFError(),
        ConnectionResetError(104, "reset"),
        Py4JNetworkError("sending"),
        Py4JError("An error occurred while calling o147.isActive"),
    ],
)
def test_a_java_that_was_killed_is_said_in_words(problem: Exception) -> None:
    assert str(spark_error(problem)) == "Spark failed: its Java has ended, or was killed"


def test_a_worker_with_another_version_of_the_package_says_so() -> None:
    with pytest.raises(RuntimeError, match=r"the driver has anabranch 0\.0\.1, and this worker has anabranch"):
        unship(b"anabranch 0.0.1\n" + pickle.dumps("what it would not understand"))
