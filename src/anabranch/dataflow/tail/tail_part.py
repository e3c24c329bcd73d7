"""Which sinks take part in the generated code of the process they are in, and which are written from chunks."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from anabranch.codegen.part import Part
from anabranch.graph.forms import Form
from anabranch.graph.model import Graph, Operator, StreamId
from anabranch.operators.sinks.collect import Collect


def tail_part(
    graph: Graph,
    operators: Sequence[str],
    inputs: Sequence[StreamId],
    sinks: Collection[str],
    beside: Collection[str] = (),
) -> Part:
    """These operators, and those sinks; a stream from outside to another sink passes through, but to those `beside`."""
    outside = [sink.id for sink in graph.sinks if sink.id not in sinks and sink.id not in beside]
    wanted = dict.fromkeys((*operators, *sinks))
    inside = tuple(each.id for each in graph.operators if each.id in wanted)
    outputs = dict.fromkeys(StreamId(edge.source, edge.source_port) for edge in graph.edges if edge.target in outside)
    return Part(graph, inside, tuple(inputs), tuple(outputs))


def belongs_inside(graph: Graph, sink: Operator, form: Form) -> bool:
    """Whether it shows when a sink gets a tuple: it has effects, or can fail, or a neighbour may fail before it.

    Native code has no effects, so there the only sink of a program may get its tuples a chunk at a time.
    """
    if form != "python" and len(graph.sinks) == 1:
        return False
    [feeding] = [edge for edge in graph.edges if edge.target == sink.id]
    beside = [edge for edge in graph.edges if edge.source == feeding.source and edge.source_port == feeding.source_port]
    return not isinstance(sink.definition, Collect) or len(beside) > 1
