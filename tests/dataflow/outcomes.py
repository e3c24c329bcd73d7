"""What a program gives, to the last bit: as the oracle says, and as it is laid out in channels."""

from __future__ import annotations

from typing import Any

from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics, Result
from anabranch.engines import sequential
from anabranch.engines.on_transport import run_on
from anabranch.errors import RunError
from anabranch.graph.model import Graph
from tests.codegen.exactness import exact
from tests.dataflow.simulated import Simulated, fusion_by


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


def on_simulated(
    graph: Graph, channels: int, stretch: int, fuse: str = "all", **options: Any
) -> tuple[Any, str | None]:
    plan = compile(graph)
    return outcome(run_on, Simulated(**options), plan, Metrics(), channels=channels, stretch=stretch, fuse=fuse)


def in_python(cluster: Simulated, graph: Graph, channels: int, stretch: int) -> tuple[Any, str | None]:
    """Of a program that was drawn, which is not worth compiling; fused as its seed says."""
    options = {"channels": channels, "stretch": stretch, "fuse": fusion_by(cluster.seed)}
    return outcome(run_on, cluster, compile(graph), Metrics(), "python", **options)
