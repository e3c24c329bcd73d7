"""The whole program as one processing element in this process: the fastest way to run a small program."""

from __future__ import annotations

import time
from typing import Any, cast

from anabranch.codegen.build import build_pe
from anabranch.codegen.chunks import Chunk
from anabranch.codegen.forms import Form
from anabranch.codegen.part import Part, Stream
from anabranch.codegen.pe import Stopped
from anabranch.codegen.python import PythonElement, python_form
from anabranch.engines.base import Metrics, Result, carrying_result, collected
from anabranch.engines.batching import Gathered, draw_soon
from anabranch.engines.drawing import Drawn, Failed, check_sources, draw
from anabranch.engines.expected_size import expected_tuples
from anabranch.engines.interrupts import Shield, shielded
from anabranch.engines.shared_sources import may_share
from anabranch.engines.sinks import opened
from anabranch.errors import RunError, UsageError
from anabranch.graph.model import Edge, Graph, Operator
from anabranch.graph.values import copier
from anabranch.operators.base import FINAL, SinkMeaning, Unreadable
from anabranch.operators.failures import after_failure, operator_error, unreadable_error
from anabranch.operators.sinks import Collect, SinkDefinition

CHUNK_SIZE = 16_384  # tuples
_FIRST_SIZE = 64
_SHORT, _LONG = 0.01, 0.05  # seconds: how long a batch should take, so that what was read is soon to be seen


def run(graph: Graph, metrics: Metrics | None = None, form: Form = "auto", chunk_size: int = CHUNK_SIZE) -> Result:
    """Run a program in this process; an error or interrupt that stops it carries the result so far."""
    execution = _Execution(graph, metrics or Metrics(), form, chunk_size)
    with carrying_result(execution.result):
        execution.run()
    return execution.result()


# What native code saves per tuple, some 200 to 500 ns when its tuples come as rows, makes up for about a second of
# compiling it only after millions of them (`python -m benchmarks.codegen`).
_PAYS_FROM = 3_000_000  # tuples


def _chosen(graph: Graph, form: Form) -> Form:
    return "python" if form == "auto" and expected_tuples(graph) < _PAYS_FROM else form


class _Execution:
    def __init__(self, graph: Graph, metrics: Metrics, form: Form, chunk_size: int) -> None:
        self.graph = graph
        self.metrics = metrics
        metrics.start(graph)
        form = _chosen(graph, form)
        self.outside = [_Sink(operator) for operator in graph.sinks if not _belongs_inside(graph, operator, form)]
        self.part = _part(graph, [sink.operator for sink in self.outside])
        self.inputs = {stream: number for number, stream in enumerate(self.part.inputs)}
        # A sink inside is called by the Python form, at its place in the order.
        inside = next((name for name in self.part.operators if self.part.operator(name).is_sink), None)
        if inside is not None and form == "native":
            raise UsageError(
                f"the sink '{inside}' takes turns with others, which native code cannot do",
                location=graph.operator(inside).location,
                hint="let the form be chosen (auto)",
            )
        has_sinks = inside is not None
        self.element = python_form(self.part) if has_sinks else build_pe(self.part, form)
        metrics.operators.update(self.element.metrics)
        self.is_stepwise = any(map(may_share, graph.sources))
        self.chunk_size = 1 if self.is_stepwise else chunk_size
        self.size = min(self.chunk_size, _FIRST_SIZE)
        self.gathered = self._nothing()

    def _nothing(self) -> Gathered:
        return Gathered([[] for _ in self.part.inputs])

    # A run ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        check_sources(self.graph)
        with shielded() as shield, opened(self._sinks(), shield):
            try:
                self._draw_all(shield)
            finally:
                self.metrics.stop()
                self.metrics.notes += self.element.notes

    def _sinks(self) -> list[SinkMeaning]:
        outside = {sink.operator.id: sink.meaning for sink in self.outside}
        return [
            outside.get(sink.id) or cast(SinkMeaning, cast(PythonElement, self.element).meaning(sink.id))
            for sink in self.graph.sinks
        ]

    def _draw_all(self, shield: Shield) -> None:
        try:
            for drawn in draw(self.graph.sources) if self.is_stepwise else draw_soon(self.graph.sources):
                if drawn is not None and isinstance(drawn[1], Unreadable | Failed):
                    self._process(shield)
                    self._problem(drawn)
                elif drawn is not None:
                    self._gather(*drawn)
                if drawn is None or len(self.gathered) >= self.size:
                    self._process(shield)
        except RunError:
            self._process(shield)  # what was drawn before it
            raise
        self._process(shield)

    def _gather(self, source: Operator, item: Any, port: int = 0) -> None:
        ports = range(len(source.outputs)) if item is FINAL else (port,)
        for each in ports:
            self.gathered.add(self.inputs[Stream(source.id, each)], item)

    def _problem(self, drawn: Drawn) -> None:
        """A row that cannot be read, or a source that failed, at its place in the order."""
        source, item = drawn
        if isinstance(item, Failed):
            raise operator_error(source, item.cause, None, "reading")
        self.metrics.tuples_in += 1
        letter = after_failure(source, self.metrics[source.id], unreadable_error(source, item), item, "process")
        if letter is not None:
            self.metrics.tuples_in -= 1  # it is counted when it is processed
            self._gather(source, letter[1], letter[0])

    def _process(self, shield: Shield) -> None:
        gathered, self.gathered = self.gathered, self._nothing()
        if not gathered:
            return
        began = time.perf_counter()
        with shield:
            try:
                outputs = self.element.process(gathered.as_batch(self.part))
            except Stopped as stopped:
                self._count(gathered, stopped.begun)
                self._write(stopped.outputs)
                raise stopped.error from stopped.error.__cause__
            except KeyboardInterrupt:
                if isinstance(self.element, PythonElement):
                    begun, outputs = self.element.interrupted()
                    self._count(gathered, begun)
                    self._write(outputs)
                raise
            self._count(gathered, len(gathered))
            self._write(outputs)
        self._adapt(time.perf_counter() - began)

    def _count(self, gathered: Gathered, begun: int) -> None:
        """What the sources gave: the items that were begun."""
        turns = gathered.turns[:begun]
        for number, stream in enumerate(self.part.inputs):
            count = min(turns.count(number), len(gathered.rows[number]))  # the end is an item, but not a tuple
            self.metrics[stream.operator].emitted += count
            self.metrics.tuples_in += count

    def _write(self, outputs: list[Chunk]) -> None:
        for stream, chunk in zip(self.part.outputs, outputs, strict=True):
            for edge in self.graph.edges:
                sink = self._outside(edge)
                if sink is not None and stream == Stream(edge.source, edge.source_port):
                    sink.write(chunk, self.metrics)

    def _outside(self, edge: Edge) -> _Sink | None:
        return next((sink for sink in self.outside if sink.operator.id == edge.target), None)

    def _adapt(self, seconds: float) -> None:
        if seconds < _SHORT:
            self.size = min(2 * self.size, self.chunk_size)
        elif seconds > _LONG:
            self.size = max(self.size // 2, 1)

    def result(self) -> Result:
        return Result(self.graph, self.metrics, collected(self._sinks()))


class _Sink:
    """A sink that is written from chunks."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.meaning = cast(SinkDefinition, operator.definition).meaning(operator)
        self._copy = copier(operator.inputs[0].schema)

    def write(self, chunk: Chunk, metrics: Metrics) -> None:
        received = metrics[self.operator.id]
        for row in chunk.rows:
            received.received += 1
            try:
                self.meaning.process(0, self._copy(row))
            except StopIteration as problem:  # as the oracle says it
                stopped = RuntimeError("StopIteration")
                stopped.__cause__ = problem
                after_failure(self.operator, received, stopped, row, "process")
            except Exception as problem:
                after_failure(self.operator, received, problem, row, "process")


def _belongs_inside(graph: Graph, sink: Operator, form: Form) -> bool:
    """Whether it shows when a sink gets a tuple: it has effects, or can fail, or a neighbour may fail before it.

    Native code has no effects, so there the only sink of a program may get its tuples a chunk at a time.
    """
    if form != "python" and len(graph.sinks) == 1:
        return False
    [feeding] = [edge for edge in graph.edges if edge.target == sink.id]
    beside = [edge for edge in graph.edges if edge.source == feeding.source and edge.source_port == feeding.source_port]
    return not isinstance(sink.definition, Collect) or len(beside) > 1


def _part(graph: Graph, outside: list[Operator]) -> Part:
    """Everything but the sources and some sinks; a stream from a source to such a sink passes through."""
    sinks = [sink.id for sink in outside]
    inside = tuple(each.id for each in graph.operators if not each.is_source and each.id not in sinks)
    inputs = [Stream(source.id, port) for source in graph.sources for port in range(len(source.outputs))]
    outputs = dict.fromkeys(Stream(edge.source, edge.source_port) for edge in graph.edges if edge.target in sinks)
    return Part(graph, inside, tuple(inputs), tuple(outputs))
