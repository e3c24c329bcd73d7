"""One program by every engine and in every form: the oracle says what is right, and the others must say the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple
from typing import Any

from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics, Result
from anabranch.engines import fused, sequential
from anabranch.engines.on_transport import run_on
from anabranch.errors import RunError
from anabranch.graph.model import Graph
from anabranch.passes.layout.source_reading import must_stay
from anabranch.run import as_program
from tests.codegen.exactness import described, exact
from tests.dataflow.simulated import Simulated


def seen(run: Any, *arguments: Any, **options: Any) -> Any:
    """All that can be seen of a run: tuples to the last bit, the error, and the figures of the operators."""
    error: RunError | None = None
    try:
        result: Result = run(*arguments, **options)
    except RunError as problem:
        error, result = problem, problem.result  # type: ignore[assignment]
    figures = {} if error else {name: astuple(each) for name, each in result.metrics.operators.items()}
    return {name: exact(items) for name, items in result.collected.items()}, described(error), figures


def everywhere(
    *sinks: Any, forms: tuple[str, ...] = ("python", "native"), forms_on_spark: tuple[str, ...] = ("python",)
) -> Result:
    """The oracle's result, or its error, after all others have given the same.

    A form that there is none of is an error. Kernels for Spark's channels are others than those for one process, and
    compiling takes seconds: tests ask for both where they may differ.
    """
    graph = as_program(*sinks).graph
    expected = seen(sequential.run, graph)
    for name, found in _others(graph, forms, forms_on_spark):
        assert found == expected, f"{name}: {found}\nnot {expected}"
    return sequential.run(graph)


def _others(graph: Graph, forms: tuple[str, ...], forms_on_spark: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for form in forms:
        for size in (2, 1000):
            yield f"fused, {form}, chunks of {size}", seen(fused.run, graph, form=form, chunk_size=size)
    if must_stay(graph) is not None:
        return
    plan = compile(graph)
    for form in forms_on_spark:
        for channels, stretch in ((1, 100), (2, 1), (3, 2)):
            found = seen(run_on, Simulated(seed=channels), plan, Metrics(), form, channels=channels, stretch=stretch)
            yield f"Spark, {form}, {channels} channels, stretches of {stretch}", found
