"""One program on every engine: the oracle's tuples, figures of what was skipped, and error, wherever it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics, Result
from anabranch.engines import fused, sequential
from anabranch.engines.on_transport import run_on
from anabranch.errors import RunError
from anabranch.graph.model import Graph
from anabranch.graph.settings import Settings, multicore
from anabranch.run import as_program
from tests.codegen.exactness import exact
from tests.dataflow.simulated import Simulated
from tests.engines.multicore.rehearsed import Rehearsed

Seen = tuple[Any, Any, str | None]


def assert_same_everywhere(*sinks: Any, native: bool = False) -> Seen:
    """What the oracle gives, which is what every other engine gives; natively only where there is something to see."""
    graph = as_program(*sinks).graph
    expected = _seen(lambda: sequential.run(graph))
    runs: dict[str, Callable[[], Result]] = {
        "fused, tuple by tuple": lambda: fused.run(graph, form="python", chunk_size=1),
        "fused": lambda: fused.run(graph, form="python"),
        "in channels": lambda: _in_channels(graph, stretch=2),
        "in channels, all at once": lambda: _in_channels(graph, stretch=1000),
        "by workers": lambda: _by_workers(graph, stretch=2),
    }
    if native:
        runs["native"] = lambda: fused.run(graph, form="native")
    for name, run in runs.items():
        assert _seen(run) == expected, name
    return expected


def _in_channels(graph: Graph, stretch: int) -> Result:
    return run_on(Simulated(seed=stretch), compile(graph), Metrics(), channels=3, stretch=stretch)


def _by_workers(graph: Graph, stretch: int) -> Result:
    plan = compile(graph, Settings(multicore(2)))
    return run_on(Rehearsed(seed=stretch), plan, Metrics(), channels=3, stretch=stretch)


def _seen(run: Callable[[], Result]) -> Seen:
    error = None
    try:
        result = run()
    except RunError as stopped:
        error, result = str(stopped), stopped.result  # type: ignore[assignment]
    skipped = {name: each.skipped for name, each in result.metrics.operators.items() if each.skipped}
    return {name: exact(items) for name, items in result.collected.items()}, skipped, error
