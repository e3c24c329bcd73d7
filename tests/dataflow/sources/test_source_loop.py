"""However sources are read, a row counts once, and one that cannot be read is what `on_error` says, in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics, Result
from anabranch.engines import fused, sequential
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Graph
from anabranch.run import as_program
from tests.dataflow.outcomes import expected, outcome
from tests.dataflow.simulated import Simulated


class Tick(NamedTuple):
    k: int
    v: int


class Sums:
    def __init__(self) -> None:
        self.total = 0

    def process(self, tick: Tick) -> Tick:
        self.total += tick.v
        return tick._replace(v=self.total)


def written(path: Path, start: int) -> str:
    """Every seventh row is none, the first of all included."""
    rows = [f"{n % 3},{n}" if n % 7 else "1,what" for n in range(start, start + 50)]
    path.write_text("\n".join(["k,v", *rows, ""]))
    return str(path)


def program(folder: Path, sources: int, on_error: str, order_by: str | None) -> Graph:
    read = [
        ab.read_csv(written(folder / f"{at}.csv", 1 + at), Tick, on_error=on_error, order_by=order_by)
        for at in range(sources)
    ]
    joined = read[0].union(*read[1:]) if sources > 1 else read[0]
    sinks = [joined.filter(lambda t: t.v % 5 > 0).process(Sums, key="k").collect("out")]
    if on_error == "dead_letter":
        sinks += [stream.outputs.dead_letter.collect(f"bad{at}") for at, stream in enumerate(read)]
    return as_program(*sinks).graph


def told(result: Result) -> Any:
    """What came out, and what was counted."""
    graph, metrics = result.plan.graph, result.metrics
    counted = [metrics[each.id] for each in graph.sources]
    return result.collected, metrics.tuples_in, [(each.skipped, each.dead_letters, each.emitted) for each in counted]


WAYS = [(1, None), (2, None), (2, "v"), (3, None)]  # in slices, by a task each, and drawn by one task


@pytest.mark.parametrize(("sources", "order_by"), WAYS)
@pytest.mark.parametrize("on_error", ["skip", "dead_letter"])
def test_rows_that_are_passed_over_are_counted_once(
    tmp_path: Path, sources: int, order_by: str | None, on_error: str
) -> None:
    graph = program(tmp_path, sources, on_error, order_by)
    oracle = told(sequential.run(graph))
    assert oracle[1] == 50 * sources
    assert told(fused.run(graph)) == oracle
    for channels in (1, 2, 3):
        found = run_on(Simulated(seed=channels), compile(graph), Metrics(), "python", channels=channels, stretch=9)
        assert told(found) == oracle


@pytest.mark.parametrize(("sources", "order_by"), WAYS)
def test_a_row_that_stops_a_run_does_so_behind_all_before_it(
    tmp_path: Path, sources: int, order_by: str | None
) -> None:
    graph = program(tmp_path, sources, "stop", order_by)
    assert "cannot be read" in str(expected(graph)[1])
    assert outcome(fused.run, graph) == expected(graph)
    for channels in (1, 2, 3):
        found = outcome(run_on, Simulated(), compile(graph), Metrics(), "python", channels=channels, stretch=9)
        assert found == expected(graph)
