"""Sources that are drawn by `order_by` are read by columns, in one task, and give the oracle's tuples in its order.

Or its error, with all that comes before it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.sources import readers, source_order_by_columns, source_tasks
from anabranch.engines import sequential
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Graph
from anabranch.run import as_program
from tests.dataflow.outcomes import expected, outcome
from tests.dataflow.simulated import Simulated
from tests.dataflow.sources.test_readers_exactly import TICKS, Sums, Tick, behind, made, partitioned, programs
from tests.examples_drawn import drawn


def refused(*_: Any) -> Any:
    raise AssertionError("this should be drawn by columns")


@pytest.fixture
def only_by_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is drawn by rows."""
    monkeypatch.setattr(source_tasks, "draw", refused)
    monkeypatch.setattr(source_order_by_columns, "draw_rest", lambda rest, guards: refused() if rest else iter(()))


def run_simulated(graph: Graph, stretch: int = 4, **options: Any) -> tuple[Any, str | None]:
    return outcome(run_on, Simulated(**options), compile(graph), Metrics(), channels=2, stretch=stretch)


@pytest.mark.usefixtures("only_by_columns")
@drawn(80)
@given(st.data(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(0, 9))
def test_several_sources(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, channels: int, stretch: int, seed: int
) -> None:
    program = programs(data.draw, tmp_path_factory.mktemp("files"), order_by="ts")
    cluster = Simulated(seed=seed)
    found = outcome(run_on, cluster, compile(program.graph), Metrics(), "python", channels=channels, stretch=stretch)
    assert found == expected(program.graph)
    assert cluster.last is not None
    assert cluster.last.readers is None


@drawn(80)
@given(st.data(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(0, 9))
def test_partitions_of_a_source(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, channels: int, stretch: int, seed: int
) -> None:
    """Where two of them have a key, the rest is drawn by rows."""
    order_by, on_error = data.draw(st.sampled_from(["ts", "v"])), data.draw(st.sampled_from(["stop", "skip"]))
    stream = partitioned(data.draw, tmp_path_factory.mktemp("files"), order_by=order_by, on_error=on_error)
    if data.draw(st.booleans()):
        stream = stream.union(ab.from_items(Tick, data.draw(TICKS), order_by=order_by))
    graph = as_program(behind(data.draw, stream).collect("out")).graph
    found = outcome(
        run_on, Simulated(seed=seed), compile(graph), Metrics(), "python", channels=channels, stretch=stretch
    )
    assert found == expected(graph)


def write(path: Path, *rows: str) -> str:
    path.write_text("".join(["k,v,ts\n", *(f"{row}\n" for row in rows)]))
    return str(path)


@pytest.mark.usefixtures("only_by_columns")
@pytest.mark.parametrize("stretch", [1, 3, 100])
def test_dead_letters_have_their_places(tmp_path: Path, stretch: int) -> None:
    one = write(tmp_path / "one.csv", "bad", "1,1,2.0", "worse", "1,2,1.0", "1,3,5.0")
    two = write(tmp_path / "two.csv", "2,1,2.0", "2,2,3.0", "no", "2,3,4.0", "end")
    sources: list[Any] = [ab.read_csv(path, Tick, order_by="ts", on_error="dead_letter") for path in (one, two)]
    letters = sources[0].outputs.dead_letter.union(sources[1].outputs.dead_letter)
    met = sources[0].union(sources[1]).process(Sums, key="k")
    graph = as_program(met.collect("out"), letters.collect("letters")).graph
    found = run_simulated(graph, stretch)
    assert found == expected(graph)
    assert len(found[0]["letters"][1]) == 4


@pytest.mark.usefixtures("only_by_columns")
def test_what_is_read_and_passed_over_is_counted(tmp_path: Path) -> None:
    one = write(tmp_path / "one.csv", "bad", "1,1,2.0", "worse", "1,2,1.0")
    sources = ab.read_csv(one, Tick, order_by="ts", on_error="skip"), ab.from_items(Tick, [made(1)] * 3, order_by="ts")
    graph = as_program(sources[0].union(sources[1]).process(Sums, key="k").collect("out")).graph
    metrics, own = Metrics(), Metrics()
    run_on(Simulated(), compile(graph), metrics, channels=2, stretch=2)
    sequential.run(graph, own)
    assert (metrics.tuples_in, metrics.operators) == (own.tuples_in, own.operators)


@pytest.mark.usefixtures("only_by_columns")
def test_a_key_that_one_partition_has_is_no_reason_to_draw_by_rows(tmp_path: Path) -> None:
    for number in range(3):
        write(tmp_path / f"{number}.csv", *(f"{number},{at},{at + number}.5" for at in range(20)))
    source = ab.read_csv(str(tmp_path / "*.csv"), Tick, partition_by="k", order_by="ts")
    graph = as_program(source.process(Sums, key="k").collect("out")).graph
    assert run_simulated(graph) == expected(graph)


class Whole(NamedTuple):
    k: int
    ts: int


def test_an_int_and_a_float_are_compared_by_rows() -> None:
    large = 2**53
    ints = ab.from_items(Whole, [Whole(1, large + 1), Whole(2, large + 2)], order_by="ts")
    floats = ab.from_items(Tick, [Tick(1, 1, float(large)), Tick(2, 2, float(large + 2))], order_by="ts")
    both = ints.map(lambda whole: Tick(whole.k, 0, 0.0), out=Tick).union(floats)
    graph = as_program(both.process(Sums, key="k").collect("out")).graph
    assert run_simulated(graph) == expected(graph)


def test_too_many_readers_are_drawn_by_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "_MOST_READERS", 2)
    sources = [ab.from_items(Tick, [made(n), made(2)], order_by="ts") for n in range(3)]
    graph = as_program(sources[0].union(*sources[1:]).process(Sums, key="k").collect("out")).graph
    assert readers.readers_by_order(graph, 4) is None
    assert run_simulated(graph) == expected(graph)


def test_a_file_that_is_gone_is_an_error_of_its_source(tmp_path: Path) -> None:
    one, two = write(tmp_path / "1.csv", "1,1,1.0"), write(tmp_path / "2.csv", "1,1,1.0")
    sources = [ab.read_csv(path, Tick, order_by="ts") for path in (one, two)]
    graph = as_program(sources[0].union(sources[1]).process(Sums, key="k").collect("out")).graph
    Path(two).unlink()
    with pytest.raises(ab.SourceError) as found:
        run_on(Simulated(), compile(graph), Metrics())
    with pytest.raises(ab.SourceError) as by_oracle:
        sequential.run(graph)
    assert str(found.value) == str(by_oracle.value)
