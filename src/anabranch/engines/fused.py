"""The whole program as one processing element in this process: the fastest way to run a small program."""

from __future__ import annotations

from anabranch.codegen.forms import Form
from anabranch.dataflow.result import Metrics, Result
from anabranch.engines import in_process
from anabranch.graph.model import Graph


def run(
    graph: Graph, metrics: Metrics | None = None, form: Form = "auto", chunk_size: int = in_process.CHUNK_SIZE
) -> Result:
    """Run a program in this process; an error or interrupt that stops it carries the result so far."""
    return in_process.run(graph, metrics, form, chunk_size)
