"""Operators and sinks of a program that run in this process, as one processing element and the sinks behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import cast

from anabranch.codegen.build import build_elements, generate
from anabranch.codegen.chunks import Batch, Chunk
from anabranch.codegen.part import Part
from anabranch.codegen.pe import ProcessingElement, Stopped
from anabranch.codegen.python import PythonElement
from anabranch.codegen.stages import element_of, functions_of
from anabranch.dataflow.executed import Fact, Ran, Watched
from anabranch.dataflow.layout.generating import segments_at
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.transport.lines import LINES, encoded
from anabranch.graph.model import Edge, Operator, StreamId
from anabranch.graph.places import TAIL, Phase
from anabranch.graph.plan import Plan
from anabranch.graph.values import copier
from anabranch.operators.base import SinkMeaning
from anabranch.operators.failures import after_failure
from anabranch.operators.sinks import SinkDefinition
from anabranch.operators.sinks.collect import CollectMeaning
from anabranch.operators.sinks.write_file import WriteFileMeaning
from anabranch.tripwire.telling import error_of
from anabranch.tripwire.watch import Tripwire

_HERE = "here"


class LocalPart:
    """All sinks of a program, and the operators that run where they are; fed with batches of the streams from outside.

    The sinks of which it shows when they get a tuple take part in the generated code; the others are written from
    chunks. Some that are no sinks of the program's may be `taken` over, by name: who does so is given the chunks of
    their streams.
    """

    def __init__(
        self,
        part: Part,
        plan: Plan,
        phase: Phase,
        metrics: Metrics,
        *,
        tracks_changes: bool = False,
        taken: Mapping[str, Callable[[Chunk], None]] = MappingProxyType({}),
    ) -> None:
        self.part = part
        self.graph = graph = part.graph
        self.metrics = metrics
        self.taken = taken
        self.own = [sink for sink in graph.sinks if sink.id not in taken]
        lines = [each.lines.sink for each in phase.layout.arriving(TAIL) if each.lines is not None]
        self.outside = [
            LineSink(sink) if sink.id in lines else ChunkSink(sink)
            for sink in self.own
            if sink.id not in part.operators
        ]
        segments = segments_at(plan, phase.name, TAIL)
        self.element: ProcessingElement = build_elements(generate(part, segments, tracks_changes=tracks_changes))
        metrics.operators.update(self.element.metrics)
        self._watched = [part.operator(each) for each in phase.watched]
        self._tripwire = Tripwire.of({_HERE: self._watched})
        # Without operators what comes is what leaves, and need not be copied; only saved states know of its ends, but
        # those of lines nobody asks for.
        self._only_passes = not self.part.operators and (not tracks_changes or bool(lines))

    def check(self) -> None:
        """Before what a run gave is taken for good: what is built into generated code is still what it was."""
        change = self._tripwire.look_again(lambda _: self._watched)
        if change is not None:
            raise error_of(replace(change, when="generated"), self.graph)

    def executed(self) -> list[Fact]:
        """What is called here, and looked at."""
        watched = [Watched(tuple(each.id for each in self._watched))] if self._watched else []
        return [*(Ran(TAIL, *each) for each in functions_of(self.element)), *watched]

    def sinks(self) -> list[SinkMeaning]:
        """The meanings of all sinks, in the order of the program."""
        outside = {sink.operator.id: sink.meaning for sink in self.outside}
        return [
            outside.get(sink.id) or cast(SinkMeaning, element_of(self.element, sink.id).meaning(sink.id))
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
                if edge.target in self.taken and stream == StreamId(edge.source, edge.source_port):
                    self.taken[edge.target](chunk)
                sink = self._outside(edge)
                if sink is not None and stream == StreamId(edge.source, edge.source_port):
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
        taken = self._write_at_once(chunk)
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

    def _write_at_once(self, chunk: Chunk) -> int:
        """Files take columns, up to a row that fails: that one and the rest go to `process`."""
        if isinstance(self.meaning, CollectMeaning):
            return self.meaning.write_chunk(chunk)
        if not chunk.has_batch or not isinstance(self.meaning, WriteFileMeaning):
            return 0
        return self.meaning.write_chunk(chunk.batch)


class LineSink(ChunkSink):
    """The same where the lines of a file come: they are only written."""

    def __init__(self, operator: Operator) -> None:
        super().__init__(operator)
        self._copy = copier(LINES)

    def _write_at_once(self, chunk: Chunk) -> int:
        assert isinstance(self.meaning, WriteFileMeaning)
        return self.meaning.write_lines(encoded(chunk))  # it remembers what is wrong with the line behind those
