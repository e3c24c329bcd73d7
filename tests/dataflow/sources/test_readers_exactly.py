"""Sources that are drawn in turn are read by tasks of their own, and give the oracle's tuples in the oracle's order.

Or its error, with all that comes before it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.sources import readers
from anabranch.engines import sequential
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Program
from anabranch.passes.layout.source_reading import must_stay
from anabranch.run import as_program
from tests.dataflow.outcomes import expected, outcome
from tests.dataflow.simulated import Simulated
from tests.examples_drawn import drawn


class Tick(NamedTuple):
    k: int
    v: int
    ts: float


class Pair(NamedTuple):
    k: int
    left: int
    right: int


class Sums:
    def __init__(self) -> None:
        self.total = 0

    def process(self, tick: Tick) -> Iterator[Tick]:
        self.total += tick.v
        yield tick._replace(v=self.total)

    def finish(self) -> Iterator[Tick]:
        yield Tick(-1, self.total, 0.0)


class Noted:
    """Keeps something for each key of several streams, and the order in which they came."""

    def __init__(self) -> None:
        self.seen = 0

    def one(self, tick: Tick) -> Iterator[Tick]:
        self.seen += tick.v
        yield tick._replace(v=self.seen)

    def two(self, tick: Tick) -> Iterator[Tick]:
        self.seen *= 2
        if tick.v % 2:
            yield tick._replace(v=self.seen)


def paired(left: Tick, right: Tick) -> Pair:
    return Pair(left.k, left.v, right.v)


def made(number: int) -> Tick:
    return Tick(number % 3, number, float(number))


def made_or_not(number: int) -> Tick:
    return Tick(number % 3, 12 // (5 - number), float(number))


def doubled(tick: Tick) -> Tick:
    return tick._replace(v=tick.v * 2)


def is_even(tick: Tick) -> bool:
    return tick.v % 2 == 0


TICKS = st.lists(st.builds(Tick, st.integers(0, 3), st.integers(0, 9), st.sampled_from([0.0, 1.0, 2.5])), max_size=20)
_numbers = count()


@st.composite
def files(draw: st.DrawFn, folder: Path, **options: Any) -> Any:
    """Files of a format, perhaps with rows that cannot be read."""
    name = f"{next(_numbers)}"
    kind = draw(st.sampled_from(["csv", "csv", "jsonl", "parquet"]))
    for number in range(draw(st.integers(1, 2))):
        ticks, bad = draw(TICKS), draw(st.sampled_from([None, None, None, 0, 2, 5]))
        path = folder / f"{name}-{number}.{kind}"
        if kind == "parquet":
            pq.write_table(_table(ticks), path)
            continue
        lines = [_line(tick, kind) for tick in ticks]
        if bad is not None:
            lines.insert(bad, "bad\n")
        path.write_text("".join(["k,v,ts\n" if kind == "csv" else "", *lines]))
    read = {"csv": ab.read_csv, "jsonl": ab.read_jsonl, "parquet": ab.read_parquet}[kind]
    on_error = draw(st.sampled_from(["stop", "skip", "skip"]))
    return read(str(folder / f"{name}-*.{kind}"), Tick, on_error=on_error, **options)


def _line(tick: Tick, kind: str) -> str:
    return f"{tick.k},{tick.v},{tick.ts}\n" if kind == "csv" else json.dumps(tick._asdict()) + "\n"


def _table(ticks: list[Tick]) -> pa.Table:
    columns = list(zip(*ticks, strict=True)) or [[], [], []]
    kinds = [pa.int64(), pa.int64(), pa.float64()]
    return pa.table([pa.array(*each) for each in zip(columns, kinds, strict=True)], names=["k", "v", "ts"])


def source(draw: st.DrawFn, folder: Path, **options: Any) -> Any:
    match draw(st.sampled_from(["items", "items", "beacon", "files", "files", "bad items"])):
        case "items":
            return ab.from_items(Tick, draw(TICKS), **options)
        case "bad items":
            items: list[Any] = [*draw(TICKS), (1, "one", 2.0), *draw(TICKS)]
            return ab.from_items(Tick, items, on_error=draw(st.sampled_from(["stop", "skip"])), **options)
        case "beacon":
            fn = draw(st.sampled_from([made, made, made_or_not]))
            return ab.beacon(Tick, fn, count=draw(st.integers(0, 20)), **options)
    return draw(files(folder, **options))


def through(draw: st.DrawFn, stream: Any) -> Any:
    match draw(st.sampled_from(["", "", "map", "filter", "by key", "window"])):
        case "map":
            return stream.map(doubled)
        case "filter":
            return stream.filter(is_even)
        case "by key":
            return stream.process(Sums, key="k")
        case "window":
            window = ab.tumbling(seconds=2, on="ts")
            return stream.window(window, key="k").aggregate(Tick, k=ab.first("k"), v=ab.sum_("v"), ts=ab.last("ts"))
    return stream


def programs(draw: st.DrawFn, folder: Path, **options: Any) -> Program:
    streams = [through(draw, source(draw, folder, **options)) for _ in range(draw(st.integers(2, 4)))]
    met: Any
    match draw(st.sampled_from(["union", "merge_by", "barrier", "join", "join by time", "connect"])):
        case "union":
            met = through(draw, streams[0].union(*streams[1:]))
        case "merge_by":
            met = through(draw, ab.merge_by("ts", *streams))
        case "barrier":
            met = ab.barrier(*streams[:2], out=paired)
        case "connect":
            met = through(draw, ab.connect(Noted, key="k", one=streams[0], two=streams[1]))
        case "join":
            window = ab.sliding(count=2, per_key=True)
            met = streams[0].join(streams[1], left=window, right=window, on="k", out=paired)
        case _:
            window = ab.sliding(seconds=1, on="ts")
            met = streams[0].join(streams[1], left=window, right=window, on="k", out=paired)
    others = streams[2:] if draw(st.booleans()) else []
    return as_program(met.collect("out"), *(each.collect(f"other_{at}") for at, each in enumerate(others)))


@drawn(80)
@given(st.data(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(1, 3), st.integers(0, 9))
def test_several_sources(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, channels: int, stretch: int, tasks: int, seed: int
) -> None:
    program = programs(data.draw, tmp_path_factory.mktemp("files"))
    cluster = Simulated(seed=seed, readers=tasks)
    found = outcome(run_on, cluster, compile(program.graph), Metrics(), "python", channels=channels, stretch=stretch)
    assert found == expected(program.graph)
    assert cluster.last is not None
    assert cluster.last.readers is not None


def union_of(*sources: Any) -> Program:
    return as_program(sources[0].union(*sources[1:]).collect("out"))


def run_simulated(program: Program, stretch: int = 4) -> tuple[Any, Simulated]:
    cluster = Simulated()
    return outcome(run_on, cluster, compile(program.graph), Metrics(), channels=2, stretch=stretch), cluster


@pytest.mark.parametrize("fails_at", [0, 1, 4, 5, 19, 20])
def test_of_two_sources_that_fail_the_first_in_the_order_is_told(tmp_path: Path, fails_at: int) -> None:
    rows = [f"{n},{n},0.0\n" for n in range(20)]
    (tmp_path / "one.csv").write_text("k,v,ts\n" + "".join([*rows[:5], "bad\n", *rows[5:]]))
    (tmp_path / "two.csv").write_text("k,v,ts\n" + "".join([*rows[:fails_at], "worse\n", *rows[fails_at:]]))
    program = union_of(*(ab.read_csv(str(tmp_path / name), Tick) for name in ("one.csv", "two.csv")))
    found, _ = run_simulated(program)
    assert found == expected(program.graph)
    assert ("one.csv" if fails_at >= 5 else "two.csv") in str(found[1])


def test_rows_that_are_passed_over_are_counted_and_have_had_their_turn(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("k,v,ts\nbad\nbad\n1,1,1.0\n")
    sources = ab.read_csv(str(tmp_path / "one.csv"), Tick, on_error="skip"), ab.from_items(Tick, [made(9)] * 3)
    program = union_of(*sources)
    metrics, own = Metrics(), Metrics()
    result = run_on(Simulated(), compile(program.graph), metrics, stretch=2)
    assert [tick.v for tick in result.items("out")] == [9, 9, 1, 9]
    sequential.run(program.graph, own)
    assert (metrics.tuples_in, metrics.operators) == (own.tuples_in, own.operators)


def test_an_epoch_of_many_readers_has_many_rounds() -> None:
    many = readers.readers_of(union_of(*(ab.from_items(Tick, []) for _ in range(300))).graph, 16_384)
    assert many is not None
    assert many.rounds == 256
    two = readers.readers_of(union_of(*(ab.from_items(Tick, [made(1)] * 50_000) for _ in range(2))).graph, 16_384)
    assert two is not None
    assert (two.rounds, two.stretches) == (8_192, 7)


@pytest.mark.parametrize("kind", ["by order", "dead letters", "partitions"])
def test_one_task_draws_from_what_cannot_be_read_apart(kind: str) -> None:
    other: Any
    match kind:
        case "by order":
            one, other = (ab.from_items(Tick, [made(n), made(2)], order_by="ts") for n in (1, 5))
        case "dead letters":
            one = ab.from_items(Tick, [made(1)])
            other = ab.from_items(Tick, [made(1), (1, "one", 2.0)], on_error="dead_letter")
        case _:
            one = ab.from_items(Tick, [made(1)])
            other = ab.from_items(Tick, [made(n) for n in range(5)], partition_by="k")
    sinks = [one.union(other).collect("out")]
    if kind == "dead letters":
        sinks.append(other.outputs.dead_letter.collect("letters"))
    program = as_program(*sinks)
    found, cluster = run_simulated(program)
    assert found == expected(program.graph)
    assert cluster.last is not None
    assert cluster.last.readers is None


def test_a_source_without_an_end_stays_in_the_driver() -> None:
    endless = union_of(ab.beacon(Tick, made), ab.from_items(Tick, [])).graph
    assert must_stay(endless) == "'beacon' has no end, for which a job would wait"
    assert must_stay(union_of(ab.beacon(Tick, made, count=9), ab.from_items(Tick, [])).graph) is None


# Partitions ---------------------------------------------------------------------------------------------------------


def partitioned(draw: st.DrawFn, folder: Path, **options: Any) -> Any:
    """Files that have keys of their own, but for some that another has too, and some rows that cannot be read."""
    kind = draw(st.sampled_from(["csv", "csv", "parquet"]))
    borrows = draw(st.booleans())
    for number in range(draw(st.integers(1, 4))):
        ticks = [tick._replace(k=tick.k % 2 + number * 2) for tick in draw(TICKS)]
        if borrows and ticks and draw(st.integers(0, 2)) == 0:
            at = draw(st.integers(0, len(ticks) - 1))
            ticks[at] = ticks[at]._replace(k=draw(st.integers(0, 7)))
        path = folder / f"{number}.{kind}"
        if kind == "parquet":
            pq.write_table(_table(ticks), path)
            continue
        lines = [_line(tick, kind) for tick in ticks]
        if draw(st.integers(0, 5)) == 0:
            lines.insert(draw(st.sampled_from([0, 2, 5])), "bad\n")
        path.write_text("".join(["k,v,ts\n", *lines]))
    read: Any = {"csv": ab.read_csv, "parquet": ab.read_parquet}[kind]
    key = draw(st.sampled_from(["k", "k", ["k", "v"]]))
    return read(str(folder / f"*.{kind}"), Tick, partition_by=key, **options)


def behind(draw: st.DrawFn, stream: Any) -> Any:
    match draw(st.sampled_from(["", "key", "window", "sliding", "distinct", "join", "one place"])):
        case "key":
            return stream.process(Sums, key="k").map(doubled)
        case "window":
            return through_window(stream, ab.tumbling(seconds=2, on="ts"))
        case "sliding":
            return through_window(stream, ab.sliding(seconds=2, slide=1, on="ts"))
        case "distinct":
            return stream.distinct(key="k", window=ab.sliding(seconds=1, on="ts"))
        case "join":
            window = ab.sliding(seconds=1, on="ts")
            return stream.join(stream.filter(is_even), left=window, right=window, on="k", out=paired)
        case "one place":
            return stream.process(Sums).process(Sums, key="k")
    return stream


def through_window(stream: Any, window: Any) -> Any:
    return stream.window(window, key="k").aggregate(Tick, k=ab.first("k"), v=ab.sum_("v"), ts=ab.last("ts"))


@drawn(60)
@given(st.data(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(1, 3), st.integers(0, 9))
def test_partitions_of_a_source(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, channels: int, stretch: int, tasks: int, seed: int
) -> None:
    source = partitioned(data.draw, tmp_path_factory.mktemp("files"))
    graph = as_program(behind(data.draw, source).collect("out")).graph
    cluster = Simulated(seed=seed, readers=tasks)
    found = outcome(run_on, cluster, compile(graph), Metrics(), "python", channels=channels, stretch=stretch)
    assert found == expected(graph)
    assert cluster.last is not None
    assert cluster.last.readers is not None


def write_partitions(folder: Path, *keys: list[int]) -> str:
    for number, of_file in enumerate(keys):
        rows = "".join(f"{k},{at},0.0\n" for at, k in enumerate(of_file))
        (folder / f"{number}.csv").write_text(f"k,v,ts\n{rows}")
    return str(folder / "*.csv")


@pytest.mark.parametrize("stretch", [1, 4, 100])
def test_a_key_in_three_partitions_is_told_where_the_second_has_it(tmp_path: Path, stretch: int) -> None:
    path = write_partitions(tmp_path, [1, 1, 1, 9, 9], [2, 2, 9, 2], [3, 3, 3, 3, 9])
    graph = as_program(ab.read_csv(path, Tick, partition_by="k").process(Sums, key="k").collect("out")).graph
    found = outcome(run_on, Simulated(), compile(graph), Metrics(), channels=2, stretch=stretch)
    assert found == expected(graph)
    assert "9 occurs in" in str(found[1])
    assert [tick.k for tick in _items(graph, stretch)] == [1, 2, 3, 1, 2, 3, 1, 9, 3]


def _items(graph: Any, stretch: int) -> list[Tick]:
    with pytest.raises(ab.SourceError) as found:
        run_on(Simulated(), compile(graph), Metrics(), channels=2, stretch=stretch)
    result: Any = found.value.result  # type: ignore[attr-defined]
    items: list[Tick] = result.items("out")
    return items


def test_a_key_in_two_partitions_is_told_where_nothing_comes_through_at_that_time(tmp_path: Path) -> None:
    path = write_partitions(tmp_path, [1] * 30, [2] * 20 + [1] + [2] * 9)
    source = ab.read_csv(path, Tick, partition_by="k").filter(lambda tick: tick.v < 2)
    graph = as_program(source.process(Sums, key="k").collect("out")).graph
    found = outcome(run_on, Simulated(), compile(graph), Metrics(), channels=2, stretch=4)
    assert found == expected(graph)
    assert "1 occurs in" in str(found[1])


@pytest.mark.parametrize("kind", ["by order", "passed over", "floats", "a folder", "no order"])
def test_one_task_draws_from_partitions_whose_keys_cannot_be_compared_elsewhere(tmp_path: Path, kind: str) -> None:
    path = write_partitions(tmp_path, [1, 1, 2], [3, 3, 1])
    options: dict[str, Any] = {"partition_by": "ts" if kind == "floats" else "k"}
    options |= {"order_by": "v"} if kind == "by order" else {"on_error": "skip"} if kind == "passed over" else {}
    stream = ab.read_csv(path, Tick, **options).process(Sums, key="k")
    if kind == "a folder":
        sink: Any = stream.write_csv(f"{tmp_path}/out/")
    else:
        sink = stream.collect("out", ordered=kind != "no order")
    cluster = Simulated()
    outcome(run_on, cluster, compile(as_program(sink).graph), Metrics(), channels=2, stretch=2)
    assert cluster.last is not None
    assert cluster.last.readers is None


# Files that are not there -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_alone", [True, False])
def test_a_link_that_leads_nowhere_is_an_error_of_the_source(tmp_path: Path, is_alone: bool) -> None:
    (tmp_path / "1.csv").write_text("k,v,ts\n1,1,1.0\n")
    (tmp_path / "2.csv").symlink_to(tmp_path / "nothing.csv")
    files = ab.read_csv(str(tmp_path / "*.csv"), Tick)
    graph = as_program(files.collect("out")).graph if is_alone else union_of(files, ab.from_items(Tick, [])).graph
    with pytest.raises(ab.SourceError) as by_oracle:
        sequential.run(graph)
    with pytest.raises(ab.SourceError) as found:
        run_on(Simulated(), compile(graph), Metrics())
    assert str(found.value) == str(by_oracle.value)
