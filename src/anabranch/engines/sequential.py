"""The oracle: section 2 of the design, one tuple at a time, and nothing else.

Take the next source tuple, run it depth-first through the graph to completion, take the next. Every other engine is
right exactly if it gives what this one gives.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from anabranch.dataflow.result import Metrics, Result, carrying_result, collected
from anabranch.dataflow.sources.source_count import Failed
from anabranch.dataflow.sources.source_order import check_sources, draw
from anabranch.dataflow.tail.interrupts import Shield, shielded
from anabranch.dataflow.tail.sinks import opened
from anabranch.graph.model import Graph
from anabranch.graph.plan import Plan
from anabranch.operators.base import FINAL, Emissions, SinkMeaning, Unreadable
from anabranch.operators.failures import operator_error, unreadable_error
from anabranch.operators.traversal import Frame, Node, Traversal


def run(graph: Graph, metrics: Metrics | None = None) -> Result:
    """Run a program sequentially; an error or interrupt that stops it carries the result so far."""
    execution = _Execution(graph, metrics or Metrics())
    with carrying_result(execution.result):
        execution.run()
    return execution.result()


class _Execution:
    def __init__(self, graph: Graph, metrics: Metrics) -> None:
        self.graph = graph
        self.metrics = metrics
        metrics.start(graph)
        self.traversal = Traversal(graph, metrics.operators)
        self.meanings = [node.meaning for node in self.traversal.nodes.values() if node.meaning is not None]

    def run(self) -> None:
        check_sources(self.graph)
        sinks = [meaning for meaning in self.meanings if isinstance(meaning, SinkMeaning)]
        with shielded() as shield, opened(sinks, shield):
            try:
                self._draw_all(shield)
            finally:
                self.metrics.stop()

    def _draw_all(self, shield: Shield) -> None:
        for operator, item in draw(self.graph.sources):
            with shield:
                node = self.traversal.nodes[operator.id]
                if isinstance(item, Failed):
                    raise operator_error(operator, item.cause, None, "reading")
                if item is not FINAL:
                    self.metrics.tuples_in += 1
                self.traversal.traverse(Frame(node, partial(_source_emissions, node, item), item))
                self.traversal.settle()

    def result(self) -> Result:
        for meaning in self.meanings:
            self.metrics[meaning.operator.id].late = meaning.late
        return Result(Plan(self.graph), self.metrics, collected(self.meanings))


def _source_emissions(node: Node, item: Any) -> Emissions:
    if isinstance(item, Unreadable):
        raise unreadable_error(node.operator, item)
    yield 0, item
    if item is FINAL and node.operator.on_error == "dead_letter":
        yield 1, FINAL
