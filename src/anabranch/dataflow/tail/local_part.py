"""Operators and sinks of a program that run in this process, as one processing element and the sinks behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import cast

import pyarrow as pa

from anabranch.analysis.modules import held_world
from anabranch.codegen.build import build_pe
from anabranch.codegen.chunks import Batch, Chunk
from anabranch.codegen.effects import has_effects
from anabranch.codegen.forms import Form
from anabranch.codegen.part import Part, Stream
from anabranch.codegen.pe import ProcessingElement, Stopped
from anabranch.codegen.python import PythonElement, python_form
from anabranch.dataflow.result import Metrics
from anabranch.errors import UsageError
from anabranch.graph.model import Edge, Graph, Operator
from anabranch.graph.values import copier
from anabranch.operators.base import SinkMeaning
from anabranch.operators.failures import after_failure
from anabranch.operators.sinks import Collect, SinkDefinition
from anabranch.operators.sinks.write_file import WriteFileMeaning
from anabranch.tripwire.telling import error_of
from anabranch.tripwire.watch import Tripwire

_HERE = "here"


def _without_effects(part: Part) -> list[Operator]:
    """The operators in whose generated code constants may be built in: whoever shares nothing, or so it seems."""
    inside = [part.operator(name) for name in part.operators]
    with held_world(thoroughly=False):
        return [operator for operator in inside if not operator.is_sink and not has_effects(operator)]


class LocalPart:
    """All sinks of a program, and the operators that run where they are; fed with batches of the streams from outside.

    `operators` are without the sinks. The sinks of which it shows when they get a tuple take part in the generated
    code; the others are written from chunks. Some that are no sinks of the program's may be `taken` over, by name: who
    does so is given the chunks of their streams.
    """

    def __init__(
        self,
        graph: Graph,
        operators: Sequence[str],
        inputs: Sequence[Stream],
        metrics: Metrics,
        form: Form,
        *,
        tracks_changes: bool = False,
        taken: Mapping[str, Callable[[Chunk], None]] = MappingProxyType({}),
    ) -> None:
        self.graph = graph
        self.metrics = metrics
        self.taken = taken
        self.own = [sink for sink in graph.sinks if sink.id not in taken]
        self.outside = [ChunkSink(sink) for sink in self.own if not _belongs_inside(graph, sink, form)]
        leaving = [*(sink.operator.id for sink in self.outside), *taken]
        self.part = _part(graph, operators, inputs, leaving)
        # A sink inside is called by the Python form, at its place in the order.
        inside = next((name for name in self.part.operators if self.part.operator(name).is_sink), None)
        if inside is not None and form == "native":
            raise UsageError(
                f"the sink '{inside}' takes turns with others, which native code cannot do",
                location=graph.operator(inside).location,
                hint="let the form be chosen (auto)",
            )
        build = python_form if inside is not None else partial(build_pe, form=form)
        self.element: ProcessingElement = build(self.part, tracks_changes=tracks_changes)
        metrics.operators.update(self.element.metrics)
        self._safe = _without_effects(self.part)
        self._tripwire = Tripwire.of({_HERE: self._safe})
        # Without operators what comes is what leaves, and need not be copied; only saved states know of its ends.
        self._only_passes = not self.part.operators and not tracks_changes

    def check(self) -> None:
        """Before what a run gave is taken for good: what is built into generated code is still what it was."""
        change = self._tripwire.look_again(lambda _: self._safe)
        if change is not None:
            raise error_of(replace(change, when="generated"), self.graph)

    def sinks(self) -> list[SinkMeaning]:
        """The meanings of all sinks, in the order of the program."""
        outside = {sink.operator.id: sink.meaning for sink in self.outside}
        return [
            outside.get(sink.id) or cast(SinkMeaning, cast(PythonElement, self.element).meaning(sink.id))
            for sink in self.own
        ]

    def process(self, batch: Batch, count: int, begun: Callable[[int], None]) -> None:
        """Process the `count` items of a batch. `begun` is told how many were, before what they became is written."""
        if self._only_passes:
            begun(count)
            self._write([batch.chunks[self.part.inputs.index(stream)] for stream in self.part.outputs])
            return
        try:
            outputs = self.element.process(batch)
        except Stopped as stopped:
            begun(stopped.begun)
            self._write(stopped.outputs)
            raise stopped.error from stopped.error.__cause__
        except KeyboardInterrupt:
            if isinstance(self.element, PythonElement):
                some, outputs = self.element.interrupted()
                begun(some)
                self._write(outputs)
            raise
        begun(count)
        self._write(outputs)

    def _write(self, outputs: Sequence[Chunk | None]) -> None:
        for stream, chunk in zip(self.part.outputs, outputs, strict=True):
            if chunk is None:  # nothing came
                continue
            for edge in self.graph.edges:
                if edge.target in self.taken and stream == Stream(edge.source, edge.source_port):
                    self.taken[edge.target](chunk)
                sink = self._outside(edge)
                if sink is not None and stream == Stream(edge.source, edge.source_port):
                    sink.write(chunk, self.metrics)

    def _outside(self, edge: Edge) -> ChunkSink | None:
        return next((sink for sink in self.outside if sink.operator.id == edge.target), None)


class ChunkSink:
    """A sink that is written from chunks."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.meaning = cast(SinkDefinition, operator.definition).meaning(operator)
        self._copy = copier(operator.inputs[0].schema)

    def write(self, chunk: Chunk, metrics: Metrics) -> None:
        received = metrics[self.operator.id]
        taken = self._write_batch(chunk.batch) if chunk.has_batch else 0
        received.received += taken
        for row in chunk.rows[taken:] if taken < len(chunk) else ():
            received.received += 1
            try:
                self.meaning.process(0, self._copy(row))
            except StopIteration as problem:  # as the oracle says it
                stopped = RuntimeError("StopIteration")
                stopped.__cause__ = problem
                after_failure(self.operator, received, stopped, row, "process")
            except Exception as problem:
                after_failure(self.operator, received, problem, row, "process")

    def _write_batch(self, batch: pa.RecordBatch) -> int:
        """Files take columns, up to a row that fails: that one and the rest go to `process`."""
        return self.meaning.write_chunk(batch) if isinstance(self.meaning, WriteFileMeaning) else 0


def _belongs_inside(graph: Graph, sink: Operator, form: Form) -> bool:
    """Whether it shows when a sink gets a tuple: it has effects, or can fail, or a neighbour may fail before it.

    Native code has no effects, so there the only sink of a program may get its tuples a chunk at a time.
    """
    if form != "python" and len(graph.sinks) == 1:
        return False
    [feeding] = [edge for edge in graph.edges if edge.target == sink.id]
    beside = [edge for edge in graph.edges if edge.source == feeding.source and edge.source_port == feeding.source_port]
    return not isinstance(sink.definition, Collect) or len(beside) > 1


def _part(graph: Graph, operators: Sequence[str], inputs: Sequence[Stream], sinks: list[str]) -> Part:
    """These operators and the sinks but some; a stream from outside to such a sink passes through."""
    wanted = dict.fromkeys((*operators, *(sink.id for sink in graph.sinks if sink.id not in sinks)))
    inside = tuple(each.id for each in graph.operators if each.id in wanted)
    outputs = dict.fromkeys(Stream(edge.source, edge.source_port) for edge in graph.edges if edge.target in sinks)
    return Part(graph, inside, tuple(inputs), tuple(outputs))
