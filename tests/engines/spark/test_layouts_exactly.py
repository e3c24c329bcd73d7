"""Any program, laid out in places and channels, gives the oracle's tuples in the oracle's order, or its error.

Rows are exchanged in this process: what is shown here is that places, routes and order keys are right. That Spark moves
rows as it should is shown by `test_engine.py`.
"""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anabranch.compiler import compile
from anabranch.engines import sequential
from anabranch.engines.base import Metrics, Result
from anabranch.engines.spark.engine import run_on
from anabranch.engines.spark.sources import must_stay
from anabranch.errors import RunError
from anabranch.graph.model import Graph, Program
from tests.codegen.exactness import exact
from tests.codegen.palette import programs
from tests.engines.spark.simulated import Simulated


def outcome(run: Any, *arguments: Any, **options: Any) -> tuple[Any, str | None]:
    """The tuples of every sink, to the last bit, and the error."""
    error = None
    try:
        result: Result = run(*arguments, **options)
    except RunError as problem:
        error = str(problem)
        result = problem.result  # type: ignore[assignment]
    return {name: exact(items) for name, items in result.collected.items()}, error


def expected(graph: Graph) -> tuple[Any, str | None]:
    return outcome(sequential.run, graph)


def on_simulated(graph: Graph, channels: int, epoch: int, **options: Any) -> tuple[Any, str | None]:
    return outcome(run_on, Simulated(**options), compile(graph), Metrics(), channels=channels, epoch=epoch)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(1, 3), st.integers(0, 9))
def test_random_programs(program: Program, channels: int, epoch: int, readers: int, seed: int) -> None:
    if must_stay(program.graph) is None:
        found = on_simulated(program.graph, channels, epoch, readers=readers, seed=seed)
        assert found == expected(program.graph)
