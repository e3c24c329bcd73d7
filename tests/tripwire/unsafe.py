"""Runs in which the analysis is not asked, by workers that have objects of their own: what the tripwire is for."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch
from weakref import WeakValueDictionary

from cloudpickle import cloudpickle

from anabranch.analysis import analyze_function, analyze_operator
from anabranch.analysis.findings import Findings
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics, Result
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.shipping import Job, read_job, ship
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Graph, Operator
from anabranch.passes import effects, infer_properties, lay_out
from tests.dataflow.simulated import Simulated


class Apart(Simulated):
    """A cluster with a worker that has a copy of the program, as it is sent."""

    def rows(self, job: Job, given: Sequence[Row] | None = None) -> Generator[Row, None, None]:
        return super().rows(copied(job), given)


def copied(job: Job) -> Job:
    """As another process has it: in its own, the pickler would find the classes again, and change them."""
    shipment = ship(job)
    with patch.object(cloudpickle, "_DYNAMIC_CLASS_TRACKER_BY_ID", WeakValueDictionary()):
        return read_job(shipment)


@contextmanager
def analysis_switched_off() -> Iterator[None]:
    """Nothing is shared, whatever a function does."""

    def believe(findings: Findings, *, keeps_own: bool) -> Findings:
        return replace(findings, shared=(), own=findings.own if keeps_own else ())

    def function(fn: Any, **options: Any) -> Findings:
        return believe(analyze_function(fn, **options), keeps_own=False)

    def operator(factory: Any, **options: Any) -> Findings:
        return believe(analyze_operator(factory, **options), keeps_own=True)

    with (
        patch.object(infer_properties, "analyze_function", function),
        patch.object(infer_properties, "analyze_operator", operator),
    ):
        yield


@contextmanager
def analysis_switched_off_for_code(function: Any) -> Iterator[None]:
    """One function is taken to have no effects where code is generated."""

    def has_effects(operator: Operator) -> bool:
        return getattr(operator.definition, "fn", None) is not function and effects.has_effects(operator)

    with patch.object(lay_out, "has_effects", has_effects):
        yield


def run_unsafely(
    graph: Graph, *, on: Apart | None = None, channels: int = 2, stretch: int = 7, **options: Any
) -> Result:
    with analysis_switched_off():
        plan = compile(graph)
    return run_on(on or Apart(), plan, Metrics(), channels=channels, stretch=stretch, **options)
