"""The tasks that read sources: each some stretches of the only source, or one task that draws from all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from anabranch.codegen.build import build_elements
from anabranch.codegen.chunks import Batch, Chunk, as_columns, join_chunks
from anabranch.codegen.pe import Stopped
from anabranch.dataflow.channels.tripwires import watch_rows
from anabranch.dataflow.order.order_columns import Moment
from anabranch.dataflow.order.pieces import Piece
from anabranch.dataflow.sources.drawn_stretch import DrawnStretch
from anabranch.dataflow.sources.readers import readers_by_order
from anabranch.dataflow.sources.source_count import Failed, SourceCount, Tally
from anabranch.dataflow.sources.source_order import Drawn, draw
from anabranch.dataflow.sources.source_order_by_columns import draw_by_columns
from anabranch.dataflow.sources.source_slices import read
from anabranch.dataflow.tail.parts import PartWriter
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.sending import Sender
from anabranch.dataflow.transport.shipping import Job
from anabranch.errors import RunError
from anabranch.graph.model import Operator, StreamId
from anabranch.graph.order_keys import DRAW
from anabranch.graph.places import PARTS, SOURCES
from anabranch.operators.base import FINAL, Unreadable
from anabranch.operators.metrics import OperatorMetrics


def drawn_rows(job: Job) -> Iterator[Row]:
    """All that one task draws, with what it counted, and a row that says where it ends."""
    task = DrawTask(job)
    yield from task.rows(_items(job))
    yield task.figures()
    yield task.sender.end(task.stretch)


def _items(job: Job) -> Iterator[Drawn | Batch]:
    """All items of all sources, by columns where that can be."""
    sources = job.layout.graph.sources
    readers = readers_by_order(job.layout.graph, job.stretch)
    yield from draw(sources) if readers is None else draw_by_columns(sources, readers)


class SliceTask:
    """Reads slices, and runs the stateless operators that follow the source at once."""

    def __init__(self, job: Job, source: Operator) -> None:
        self.job = job
        self.place = job.layout.place(SOURCES)
        self.sender = Sender(job.layout)
        self.source = source
        self.count = SourceCount(source)
        code = job.code.get(SOURCES)
        self.element = build_elements(code) if code is not None else None
        self.sender.begin(SOURCES, self.element)
        self.reporter = job.reporter(SOURCES)
        self.parts = PartWriter(job) if job.parts else None

    def rows(self, stretches: Iterable[int]) -> Iterator[Row]:
        return watch_rows(self.job, self.place, self._rows(stretches))

    def _rows(self, stretches: Iterable[int]) -> Iterator[Row]:
        slices = self.job.slices
        assert slices is not None
        for stretch in stretches:
            yield from self.process_stretch(stretch, slices[stretch], is_last=stretch == len(slices) - 1)
        self.reporter.write()
        yield self.figures()
        if self.parts is not None:
            yield from self.parts.figures()

    def figures(self) -> Row:
        operators = {self.source.id: self.count.metrics}
        notes: list[str] = []
        if self.element is not None:
            operators |= self.element.metrics
            notes = self.element.notes
        return self.sender.figures(operators, self.count.tuples_in, notes)

    def process_stretch(self, stretch: int, piece: Any | None, *, is_last: bool) -> Iterator[Row]:
        """The rows of a slice, which is a stretch; without one there are no more tuples, but an end."""
        outputs: list[list[Chunk]] = [[] for _ in self.place.outputs]
        error: RunError | None = None
        before = self.count.tuples_in
        try:
            for found in read(self.source, piece) if piece is not None else ():
                for number, chunk in self._processed(found):
                    outputs[number].append(chunk)
        except Stopped as stopped:
            for number, chunk in enumerate(stopped.outputs):
                outputs[number].append(chunk)
            error = stopped.error
        except RunError as problem:
            error = problem
        count = 0
        self.reporter.add(self.count.tuples_in - before, 0)
        for stream, chunks in zip(self.place.outputs, outputs, strict=True):
            schema = self.job.layout.graph.operator(stream.operator).outputs[stream.port].schema
            chunk = as_columns(join_chunks(schema, chunks)) if chunks else Chunk.of_rows(schema, [])
            count = len(chunk)
            sent = Piece(chunk, None, (count,) if is_last and error is None else None)
            self.reporter.add(0, count)
            for arrival in self.job.layout.leaving(stream):
                if arrival.place == PARTS:
                    assert self.parts is not None
                    self.sender.note(arrival, sent)
                    yield from self.parts.write(stretch, sent)
                else:
                    yield from self.sender.rows(arrival, stretch, sent)
        if error is not None:
            yield from self.sender.error(stretch, Moment(DRAW, (count,)), error)

    def _processed(self, found: Chunk | Unreadable | Failed) -> Iterator[tuple[int, Chunk]]:
        if not isinstance(found, Chunk):
            self.count.after_bad_row(found)
            return
        self.count.add(len(found))
        if self.element is None:
            yield 0, found
        elif len(found):
            yield from enumerate(self.element.process(Batch((found,))))


class DrawTask:
    """Draws from all sources, in the order of the program, a stretch at a time."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.graph = job.layout.graph
        self.place = job.layout.place(SOURCES)
        self.sender = Sender(job.layout)
        self.numbers = {stream: number for number, stream in enumerate(self.place.outputs)}
        self.schemas = [self.graph.operator(each.operator).outputs[each.port].schema for each in self.place.outputs]
        self.gathered = DrawnStretch(self.schemas)
        self.stretch = 0
        self.has_ended = False
        self._count_anew()

    def _count_anew(self) -> None:
        self.total = Tally()
        self.counts = {each.id: SourceCount(each, OperatorMetrics(), self.total) for each in self.graph.sources}
        self.reported = 0

    def rows(self, drawn: Iterator[Drawn | Batch | None]) -> Iterator[Row]:
        """The rows of what is drawn, up to where nothing comes for a while (None) or to the end."""
        self.reporter = self.job.reporter(SOURCES)
        error: RunError | None = None
        try:
            for each in drawn:
                if each is None:
                    break
                if isinstance(each, Batch):
                    yield from self._gather_columns(each)
                else:
                    self._gather(*each)
                if len(self.gathered) >= self.job.stretch:
                    yield from self._sent()
            else:
                self.has_ended = True
        except RunError as problem:
            error, self.has_ended = problem, True
        stretch, count = self.stretch, len(self.gathered)
        yield from self._sent()
        self.reporter.write()
        if error is not None:
            yield from self.sender.error(stretch, Moment(DRAW, (count,)), error)

    def figures(self) -> Row:
        """What was counted since this was last asked for."""
        counted = {name: count.metrics for name, count in self.counts.items()}
        row = self.sender.figures(counted, self.total.tuples_in, [])
        self._count_anew()
        return row

    def _gather(self, source: Operator, item: Any) -> None:
        port, count = 0, self.counts[source.id]
        if isinstance(item, Unreadable | Failed):
            letter = count.after_bad_row(item)
            if letter is None:
                return
            port, item = letter
        ports = range(len(source.outputs)) if item is FINAL else (port,)
        for each in ports:
            number = self.numbers.get(StreamId(source.id, each))
            if item is not FINAL:
                count.add(1)
            if number is not None:
                self.gathered.add(number, item)

    def _gather_columns(self, batch: Batch) -> Iterator[Row]:
        """Tuples, with an input for each source: so many at a time as a stretch has room for."""
        assert batch.turns is not None
        sources = self.graph.sources
        numbers = np.array([self.numbers.get(StreamId(source.id), -1) for source in sources], np.int64)
        start, begun = 0, np.zeros(len(sources), np.int64)
        while start < len(batch.turns):
            turns = batch.turns[start : start + self.job.stretch - len(self.gathered)]
            counts = np.bincount(turns, minlength=len(sources))
            cuts = {}
            for at in np.flatnonzero(counts).tolist():
                chunk, count = batch.chunks[at], int(counts[at])
                assert chunk is not None
                cuts[int(numbers[at])] = chunk.cut(int(begun[at]), int(begun[at]) + count)
                self.counts[sources[at].id].add(count)
            cuts.pop(-1, None)  # of a source whose tuples nobody takes
            of_streams = numbers[turns]
            self.gathered.add_columns(cuts, of_streams[of_streams >= 0])
            start, begun = start + len(turns), begun + counts
            if len(self.gathered) >= self.job.stretch:
                yield from self._sent()

    def _sent(self) -> Iterator[Row]:
        self.reporter.add(self.total.tuples_in - self.reported, self.gathered.tuples)
        self.reported = self.total.tuples_in
        for stream, piece in zip(self.place.outputs, self.gathered.pieces(), strict=True):
            for arrival in self.job.layout.leaving(stream):
                yield from self.sender.rows(arrival, self.stretch, piece)
        self.stretch += 1
        self.gathered = DrawnStretch(self.schemas)
