"""A whole program in this process: its sources drawn in order, gathered into batches, and processed as one part."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np

from anabranch.codegen.chunks import Batch, Chunk
from anabranch.dataflow.executed import Read
from anabranch.dataflow.layout.place_parts import part_of_tail
from anabranch.dataflow.layout.verify_executable import verify_executable
from anabranch.dataflow.result import Metrics, Result, carrying_result, collected
from anabranch.dataflow.sources.batching import Gathered, draw_soon
from anabranch.dataflow.sources.reading import slices_of
from anabranch.dataflow.sources.source_count import Failed, SourceCount
from anabranch.dataflow.sources.source_loop import take
from anabranch.dataflow.sources.source_order import Drawn, check_sources, draw
from anabranch.dataflow.sources.source_slices import cut_source, expect_to_read, read_all
from anabranch.dataflow.tail.interrupts import Shield, shielded
from anabranch.dataflow.tail.local_part import LocalPart
from anabranch.dataflow.tail.sinks import opened
from anabranch.errors import RunError
from anabranch.graph.model import Operator
from anabranch.graph.places import Reading, Taking
from anabranch.graph.plan import Plan
from anabranch.operators.base import FINAL, Unreadable
from anabranch.operators.sources.from_frame import FromFrame
from anabranch.operators.sources.read_files import ReadFiles

CHUNK_SIZE = 16_384  # tuples
_FIRST_SIZE = 64
_SHORT, _LONG = 0.01, 0.05  # seconds: how long a batch should take, so that what was read is soon to be seen


def run(plan: Plan, metrics: Metrics | None = None, chunk_size: int = CHUNK_SIZE) -> Result:
    """Run a program in this process; an error or interrupt that stops it carries the result so far."""
    verify_executable(plan)
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
        self.numbers = {(stream.operator, stream.port): number for number, stream in enumerate(part.inputs)}
        self.counts = {each.id: SourceCount(each, metrics[each.id], metrics) for each in graph.sources}
        self.phase = phase
        self.chunk_size = 1 if phase.taking is Taking.ONE_BY_ONE else chunk_size
        self.size = min(self.chunk_size, _FIRST_SIZE)
        self.gathered = self._nothing()

    def _nothing(self) -> Gathered:
        return Gathered([[] for _ in self.numbers])

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
        try:
            for each in take(self._drawn(), self.counts, counts_tuples=False):
                assert not isinstance(each, Batch)
                if each is None:
                    self._process(shield)
                elif isinstance(each[2], Chunk):
                    self._process_chunk(each[0], each[2], shield)
                elif each[2] is not None:
                    source, port, item = each
                    self.gathered.add(self.numbers[source.id, port], item)
                if len(self.gathered) >= self.size:
                    self._process(shield)
        except RunError:
            self._process(shield)  # what was drawn before it
            raise
        self._process(shield)

    def _drawn(self) -> Iterator[Drawn | None]:
        """All items, with a pause before what cannot be read: that stops the run, or is counted, in its turn."""
        drawn, by_columns = self._opened()
        for each in drawn:
            is_bad = each is not None and isinstance(each[1], Unreadable | Failed)
            if is_bad:
                yield None
            yield each
            if is_bad and by_columns:  # a dead letter, perhaps, and the next chunk is large
                yield None

    def _opened(self) -> tuple[Iterator[Drawn | None], bool]:
        """What the sources give, and whether as columns: files and frames are read faster so, by several times."""
        if self.phase.taking is Taking.COLUMNS:
            slices = self._slices()
            if slices is not None:
                self._note(Taking.COLUMNS)
                return self._read_all(slices), True
            self.phase = replace(self.phase, taking=Taking.TOGETHER)  # that is known only now: a pipe, for one
            self.plan = replace(self.plan, phases=(self.phase,))
        if self.phase.taking is Taking.ONE_BY_ONE:
            self._note(Taking.ONE_BY_ONE)
            return draw(self.graph.sources), False
        self._note(Taking.TOGETHER)
        return draw_soon(self.graph.sources), False

    def _note(self, taking: Taking) -> None:
        facts = [Read(source.id, Reading.HERE.value, taking.value) for source in self.graph.sources]
        self.metrics.executed |= dict.fromkeys((self.phase.name, fact) for fact in facts)

    def _slices(self) -> Sequence[Any] | None:
        [source] = self.graph.sources
        if isinstance(source.definition, FromFrame):
            return cut_source(source, CHUNK_SIZE)
        return slices_of(source.definition) if isinstance(source.definition, ReadFiles) else None

    def _read_all(self, slices: Sequence[Any]) -> Iterator[Drawn]:
        [source] = self.graph.sources
        expect_to_read(source, slices)
        yield from zip(repeat(source), read_all(source, slices, CHUNK_SIZE))
        yield source, FINAL

    def _process_chunk(self, source: Operator, chunk: Chunk, shield: Shield) -> None:
        """A chunk, cut so that no part of it takes long."""
        done = 0
        while done < len(chunk):
            some = chunk.cut(done, done + self.size)
            began = time.perf_counter()
            with shield:
                others = (None,) * (len(self.numbers) - 1)
                batch = Batch((some, *others), np.zeros(len(some), np.uint16) if others else None)
                self.local.process(batch, len(some), partial(self._count_read, source))
            self._adapt(time.perf_counter() - began)
            done += len(some)

    def _count_read(self, source: Operator, begun: int) -> None:
        self.counts[source.id].add(begun)

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
        for (source_id, _), number in self.numbers.items():
            count = min(turns.count(number), len(gathered.rows[number]))  # the end is an item, but not a tuple
            self.counts[source_id].add(count)

    def _adapt(self, seconds: float) -> None:
        if seconds < _SHORT:
            self.size = min(2 * self.size, self.chunk_size)
        elif seconds > _LONG:
            self.size = max(self.size // 2, 1)

    def result(self) -> Result:
        return Result(self.plan, self.metrics, collected(self.local.sinks()))
