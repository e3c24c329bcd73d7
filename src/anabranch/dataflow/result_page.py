"""A result and a stream as notebooks show them: the first tuples of what was collected, and figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anabranch.dataflow.result import Metrics
from anabranch.graph.drawing.markup import Element, element
from anabranch.graph.model import Graph
from anabranch.graph.page import fragment, table
from anabranch.operators.sinks.collect import CollectMeaning

_ROWS = 10
_LONGEST = 200  # characters of a value
_FIGURES = ("received", "emitted", "late", "skipped", "dead_letters")


def result_fragment(graph: Graph, metrics: Metrics, collected: Mapping[str, CollectMeaning]) -> str:
    parts: list[Element] = []
    for name, sink in collected.items():
        parts += _tuples(name, sink)
    rows: list[list[Element | str]] = [
        [element("code", each.id), *(f"{getattr(metrics[each.id], figure):,}" for figure in _FIGURES)]
        for each in graph.operators
        if each.id in metrics.operators
    ]
    heads = ("operator", *(figure.replace("_", " ") for figure in _FIGURES))
    notes = [element("p", note) for note in metrics.notes]
    summary = f"{metrics.tuples_in:,} tuples in, {metrics.tuples_out:,} out, {metrics.elapsed:.1f} s"
    return fragment(*parts, element("details", element("summary", summary), *table(heads, rows), *notes))


def _tuples(name: str, sink: CollectMeaning) -> list[Element]:
    first, count = sink.first(_ROWS)
    shown = "" if len(first) == count else f", the first {len(first)}"
    rows: list[list[Element | str]] = [[_short(value) for value in row] for row in first]
    return [
        element("p", element("b", name), f": {count:,} tuple{'' if count == 1 else 's'}{shown}"),
        *table(sink.operator.inputs[0].schema.names, rows),
    ]


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
