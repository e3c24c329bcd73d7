"""Runs a plan on the cores of this machine: workers of this process run the channels of its places."""

from __future__ import annotations

import logging
import os

from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics, Result
from anabranch.engines.multicore.transport import Multicore
from anabranch.engines.on_transport import check, run_checked, run_here
from anabranch.errors import UsageError, shown
from anabranch.graph.forms import Form
from anabranch.graph.model import Graph
from anabranch.graph.settings import Channels, Settings, multicore

_notes = logging.getLogger("anabranch.notes")


def number_of_workers(asked: int | None) -> int:
    """As many as there are cores, unless somebody asks for another number."""
    cores = len(os.sched_getaffinity(0))
    if asked is None:
        return cores
    if isinstance(asked, bool) or not isinstance(asked, int) or asked < 1:
        raise UsageError(f"{shown(asked)} is no number of workers", hint="give a whole number, 1 or more")
    if asked > cores:
        _notes.warning(f"{asked} workers share {cores} {'core' if cores == 1 else 'cores'}")
    return asked


def run(
    graph: Graph,
    metrics: Metrics | None = None,
    workers: int = 1,
    channels: Channels = "auto",
    form: Form = "auto",
    fuse: str = "all",
) -> Result:
    """Run a bounded program; an error or interrupt that stops it carries the result so far."""
    metrics = metrics or Metrics()
    metrics.start(graph)
    plan = compile(graph, Settings(multicore(workers), channels, form, fuse=fuse))
    if plan.is_in_process:
        return run_here(plan, metrics)
    check(plan, metrics)
    return run_checked(Multicore(workers), plan, plan.settings, metrics)
