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
from anabranch.dataflow.order.meeting import Items
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.tail.chunk_sinks import ChunkSink
from anabranch.dataflow.tail.line_sinks import LineSinks
from anabranch.graph.model import Edge, StreamId
from anabranch.graph.places import TAIL, Phase
from anabranch.graph.plan import Plan
from anabranch.operators.base import SinkMeaning
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
        self.lines = LineSinks(graph, phase.layout.items(TAIL), metrics)
        of_lines = {each.operator.id for each in self.lines.sinks.values()}
        self.outside = [
            ChunkSink(sink) for sink in self.own if sink.id not in part.operators and sink.id not in of_lines
        ]
        segments = segments_at(plan, phase.name, TAIL)
        self.element: ProcessingElement = build_elements(generate(part, segments, tracks_changes=tracks_changes))
        metrics.operators.update(self.element.metrics)
        self._watched = [part.operator(each) for each in phase.watched]
        self._tripwire = Tripwire.of({_HERE: self._watched})
        # Without operators what comes is what leaves, and need not be copied; only saved states know of its ends.
        self._only_passes = not self.part.operators and not tracks_changes

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
        outside = {sink.operator.id: sink.meaning for sink in (*self.outside, *self.lines.sinks.values())}
        return [
            outside.get(sink.id) or cast(SinkMeaning, element_of(self.element, sink.id).meaning(sink.id))
            for sink in self.own
        ]

    def process(self, batch: Batch, count: int, begun: Callable[[int], None]) -> None:
        """Process the `count` items of a batch. `begun` is told how many were, before what they became is written.

        Where lines are among them, that nobody asks.
        """
        if self.lines.sinks:
            assert isinstance(batch, Items)
            self.lines.process(batch, self._process)
            return
        self._process(batch, count, begun)

    def _process(self, batch: Batch, count: int, begun: Callable[[int], None]) -> None:
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
