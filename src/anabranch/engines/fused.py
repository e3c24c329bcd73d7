"""The whole program as one place in this process: the fastest way to run a small program."""

from __future__ import annotations

from anabranch.compiler import execute_with
from anabranch.dataflow.result import Metrics, Result
from anabranch.engines import in_process
from anabranch.graph.forms import Form
from anabranch.graph.model import Graph
from anabranch.graph.plan import Plan
from anabranch.graph.settings import IN_PROCESS, Settings


def run(
    graph: Graph,
    metrics: Metrics | None = None,
    form: Form = "auto",
    chunk_size: int = in_process.CHUNK_SIZE,
    *,
    fuse: str = "all",
) -> Result:
    """Run a program in this process. What may be parallel is of no interest there, and is not asked for."""
    plan = execute_with(Plan(graph), Settings(IN_PROCESS, form=form, fuse=fuse))
    return in_process.run(plan, metrics, chunk_size)
