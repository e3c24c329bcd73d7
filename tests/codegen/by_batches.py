"""A program run by the oracle, and the same run by a processing element that is given batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from anabranch.codegen.part import Part
from anabranch.codegen.pe import ProcessingElement, Stopped
from anabranch.dataflow.sources.batching import Gathered
from anabranch.dataflow.sources.source_order import draw
from anabranch.engines import sequential
from anabranch.errors import RunError
from anabranch.graph.model import Graph, Program, StreamId
from anabranch.operators.sinks import Collect
from tests.codegen.exactness import described, exact


@dataclass(frozen=True)
class Outcome:
    """What can be seen of a run: what was collected, the error, and the figures of the operators."""

    items: dict[str, Any]
    error: Any
    metrics: dict[str, Any]


def by_oracle(program: Program) -> Outcome:
    error = None
    try:
        result: Any = sequential.run(program.graph)
    except RunError as stopped:
        error, result = stopped, stopped.result
    inside = [operator.id for operator in program.graph.operators if not operator.is_source and not operator.is_sink]
    return Outcome(
        {name: exact(items) for name, items in result.collected.items()},
        described(error),
        {each: astuple(result.metrics[each]) for each in inside},
    )


def part_of_program(graph: Graph) -> Part:
    """Everything but sources and sinks."""
    sinks = [operator.id for operator in graph.sinks]
    inside = tuple(each.id for each in graph.operators if not each.is_source and not each.is_sink)
    inputs = tuple(StreamId(source.id, port) for source in graph.sources for port in range(len(source.outputs)))
    outputs = dict.fromkeys(StreamId(edge.source, edge.source_port) for edge in graph.edges if edge.target in sinks)
    return Part(graph, inside, inputs, tuple(outputs))


def batches(part: Part, sizes: Iterator[int]) -> Iterator[Any]:
    """What the sources give, cut into batches of these sizes."""
    gathered, size = Gathered([[] for _ in part.inputs]), next(sizes)
    for source, item in draw(part.graph.sources):
        gathered.add(part.inputs.index(StreamId(source.id, 0)), item)
        if len(gathered) >= size:
            yield gathered.as_batch(part)
            gathered, size = Gathered([[] for _ in part.inputs]), next(sizes)
    yield gathered.as_batch(part)


def by_element(
    program: Program,
    build: Callable[[Part], ProcessingElement],
    sizes: Iterator[int],
    between: Callable[[ProcessingElement], ProcessingElement] = lambda element: element,
) -> Outcome:
    """The same, by a processing element; `between` batches it may become another."""
    graph = program.graph
    part = part_of_program(graph)
    element = build(part)
    collected: dict[str, list[Any]] = {
        sink.definition.name: [] for sink in graph.sinks if isinstance(sink.definition, Collect)
    }
    error: RunError | None = None
    metrics = [element.metrics]
    for batch in batches(part, sizes):
        try:
            outputs = element.process(batch)
        except Stopped as stopped:
            error, outputs = stopped.error, stopped.outputs
        for stream, chunk in zip(part.outputs, outputs, strict=True):
            for name in _sinks_of(graph, stream):
                collected[name] += chunk.rows
        if error is not None:
            break
        following = between(element)
        if following is not element:
            element = following
            metrics.append(element.metrics)
    figures = {each: _added([one[each] for one in metrics]) for each in part.operators}
    return Outcome({name: exact(items) for name, items in collected.items()}, described(error), figures)


def _added(figures: Sequence[Any]) -> tuple[int, ...]:
    return tuple(sum(each) for each in zip(*map(astuple, figures), strict=True))


def _sinks_of(graph: Graph, stream: StreamId) -> list[str]:
    sinks = {sink.id: sink.definition.name for sink in graph.sinks if isinstance(sink.definition, Collect)}
    return [
        sinks[edge.target]
        for edge in graph.edges
        if (edge.source, edge.source_port) == (stream.operator, stream.port) and edge.target in sinks
    ]
