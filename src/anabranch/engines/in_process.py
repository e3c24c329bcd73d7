"""A whole program in this process: its sources drawn in order, gathered into batches, and processed as one part."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from anabranch.codegen.chunks import Batch, Chunk
from anabranch.dataflow.layout.place_parts import part_of_tail
from anabranch.dataflow.result import Metrics, Result, carrying_result, collected
from anabranch.dataflow.sources.batching import Gathered, draw_soon
from anabranch.dataflow.sources.reading import Slice, chunks_of, slices_of
from anabranch.dataflow.sources.source_count import Failed, SourceCount
from anabranch.dataflow.sources.source_order import Drawn, check_sources, draw
from anabranch.dataflow.tail.interrupts import Shield, shielded
from anabranch.dataflow.tail.local_part import LocalPart
from anabranch.dataflow.tail.sinks import opened
from anabranch.errors import RunError
from anabranch.graph.model import Operator, StreamId
from anabranch.graph.plan import Plan
from anabranch.operators.base import FINAL, Unreadable
from anabranch.operators.sources.read_files import ReadFiles
from anabranch.passes.layout.source_reading import may_share

CHUNK_SIZE = 16_384  # tuples
_FIRST_SIZE = 64
_SHORT, _LONG = 0.01, 0.05  # seconds: how long a batch should take, so that what was read is soon to be seen


def run(plan: Plan, metrics: Metrics | None = None, chunk_size: int = CHUNK_SIZE) -> Result:
    """Run a program in this process; an error or interrupt that stops it carries the result so far."""
    execution = _Execution(plan, metrics or Metrics(), chunk_size)
    with carrying_result(execution.result):
        execution.run()
    return execution.result()


class _Execution:
    def __init__(self, plan: Plan, metrics: Metrics, chunk_size: int) -> None:
        self.plan = plan
        self.graph = graph = plan.graph
        self.metrics = metrics
        metrics.start(graph)
        [phase] = plan.phases
        part = part_of_tail(plan, phase)
        assert part is not None, "a program has sources"
        self.local = LocalPart(part, plan, phase, metrics)
        metrics.executed |= dict.fromkeys((phase.name, fact) for fact in self.local.executed())
        self.inputs = {stream: number for number, stream in enumerate(part.inputs)}
        self.is_stepwise = any(map(may_share, graph.sources))
        self.chunk_size = 1 if self.is_stepwise else chunk_size
        self.size = min(self.chunk_size, _FIRST_SIZE)
        self.gathered = self._nothing()

    def _nothing(self) -> Gathered:
        return Gathered([[] for _ in self.inputs])

    # A run ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        check_sources(self.graph)
        with shielded() as shield, opened(self.local.sinks(), shield):
            try:
                self._draw_all(shield)
                self.local.check()
            finally:
                self.metrics.stop()
                self.metrics.notes += self.local.element.notes

    def _draw_all(self, shield: Shield) -> None:
        if len(self.graph.sources) == 1 and isinstance(self.graph.sources[0].definition, ReadFiles):
            slices = slices_of(self.graph.sources[0].definition)
            if slices is not None:
                self._read_all(self.graph.sources[0], slices, shield)
                return
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

    def _read_all(self, source: Operator, slices: list[Slice], shield: Shield) -> None:
        """Files are read as columns, which is several times faster than by rows."""
        for part in slices:
            for found in chunks_of(source, part, chunk_size=CHUNK_SIZE):
                if isinstance(found, Chunk):
                    self._process_chunk(source, found, shield)
                else:
                    self._problem((source, found))
                    self._process(shield)  # a dead letter, perhaps
        self._gather(source, FINAL)
        self._process(shield)

    def _process_chunk(self, source: Operator, chunk: Chunk, shield: Shield) -> None:
        """A chunk, cut so that no part of it takes long."""
        done = 0
        while done < len(chunk):
            some = chunk.cut(done, done + self.size)
            began = time.perf_counter()
            with shield:
                others = (None,) * (len(self.inputs) - 1)
                batch = Batch((some, *others), np.zeros(len(some), np.uint16) if others else None)
                self.local.process(batch, len(some), partial(self._count_read, source))
            self._adapt(time.perf_counter() - began)
            done += len(some)

    def _count_read(self, source: Operator, begun: int) -> None:
        self._count_of(source).add(begun)

    def _count_of(self, source: Operator) -> SourceCount:
        return SourceCount(source, self.metrics[source.id], self.metrics)

    def _gather(self, source: Operator, item: Any, port: int = 0) -> None:
        ports = range(len(source.outputs)) if item is FINAL else (port,)
        for each in ports:
            self.gathered.add(self.inputs[StreamId(source.id, each)], item)

    def _problem(self, drawn: Drawn) -> None:
        """A row that cannot be read, or a source that failed, at its place in the order."""
        source, item = drawn
        letter = self._count_of(source).after_bad_row(item)
        if letter is not None:  # it is counted when it is processed
            self._gather(source, letter[1], letter[0])

    def _process(self, shield: Shield) -> None:
        gathered, self.gathered = self.gathered, self._nothing()
        if not gathered:
            return
        began = time.perf_counter()
        with shield:
            self.local.process(gathered.as_batch(self.local.part), len(gathered), partial(self._count, gathered))
        self._adapt(time.perf_counter() - began)

    def _count(self, gathered: Gathered, begun: int) -> None:
        """What the sources gave: the items that were begun."""
        turns = gathered.turns[:begun]
        for stream, number in self.inputs.items():
            count = min(turns.count(number), len(gathered.rows[number]))  # the end is an item, but not a tuple
            self._count_of(self.graph.operator(stream.operator)).add(count)

    def _adapt(self, seconds: float) -> None:
        if seconds < _SHORT:
            self.size = min(2 * self.size, self.chunk_size)
        elif seconds > _LONG:
            self.size = max(self.size // 2, 1)

    def result(self) -> Result:
        return Result(self.plan, self.metrics, collected(self.local.sinks()))
