"""Any program gives the oracle's tuples in the oracle's order, or its error, whatever the workers do when."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines.multicore.transport import Multicore
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Graph, Program
from anabranch.graph.settings import FUSIONS, Settings, multicore
from anabranch.workers.heuristics import HEURISTICS
from tests.codegen.palette import programs
from tests.dataflow.layout.test_layouts_exactly import meetings
from tests.dataflow.outcomes import expected, outcome
from tests.engines.multicore.rehearsed import Rehearsed
from tests.examples_drawn import drawn

STRETCHES = st.sampled_from([1, 2, 7, 100])


def on(transport: Multicore, graph: Graph, channels: int, stretch: int, fuse: str = "all") -> tuple[Any, str | None]:
    plan = compile(graph, Settings(multicore(transport.workers)))
    return outcome(run_on, transport, plan, Metrics(), "python", channels=channels, stretch=stretch, fuse=fuse)


@drawn(30)
@given(programs(), st.integers(1, 3), STRETCHES, st.integers(1, 4), st.integers(0, 999), st.sampled_from(FUSIONS))
def test_programs(program: Program, channels: int, stretch: int, workers: int, seed: int, fuse: str) -> None:
    found = on(Rehearsed(workers, seed=seed), program.graph, channels, stretch, fuse)
    assert found == expected(program.graph)


@drawn(25)
@given(meetings(), st.integers(1, 3), STRETCHES, st.integers(1, 4), st.integers(0, 999))
def test_streams_that_meet(program: Program, channels: int, stretch: int, workers: int, seed: int) -> None:
    assert on(Rehearsed(workers, seed=seed), program.graph, channels, stretch) == expected(program.graph)


@pytest.mark.parametrize("heuristic", HEURISTICS)
@drawn(5)
@given(meetings(), st.integers(1, 3), STRETCHES, st.integers(1, 4))
def test_with_threads(heuristic: str, program: Program, channels: int, stretch: int, workers: int) -> None:
    assert on(Multicore(workers, heuristic), program.graph, channels, stretch) == expected(program.graph)
