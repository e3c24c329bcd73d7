"""The tasks that read sources: each some stretches of the only source, or one task that draws from all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from anabranch.codegen.build import build_elements
from anabranch.codegen.chunks import Batch, Chunk, as_columns, join_chunks
from anabranch.codegen.pe import Stopped
from anabranch.dataflow.channels.levels import inbox_of
from anabranch.dataflow.channels.tripwires import watch_rows
from anabranch.dataflow.order.pieces import Piece
from anabranch.dataflow.sources.drawn_stretch import DrawnStretch
from anabranch.dataflow.sources.readers import readers_by_order
from anabranch.dataflow.sources.source_loop import SourceTask
from anabranch.dataflow.sources.source_order import Drawn, draw
from anabranch.dataflow.sources.source_order_by_columns import draw_by_columns
from anabranch.dataflow.sources.source_slices import expect_to_read, read_whole
from anabranch.dataflow.transport.printing import said_by, with_printing
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.shipping import Job
from anabranch.errors import RunError
from anabranch.graph.model import Operator
from anabranch.graph.places import SOURCES, Reading
from anabranch.operators.base import FINAL


def drawn_rows(job: Job) -> Iterator[Row]:
    """All that one task draws, with what it counted, and a row that says where it ends."""
    task = DrawTask(job)
    yield from task.rows(_items(job))
    yield from task.figures()
    yield task.sender.end(task.stretch)


def _items(job: Job) -> Iterator[Drawn | Batch]:
    """All items of all sources, by columns where that can be."""
    sources = job.layout.graph.sources
    if len(sources) == 1:
        found = read_whole(sources[0])
        if found is not None:
            for each in found:
                if isinstance(each, Chunk):
                    yield Batch((each,), np.zeros(len(each), np.uint16))
                else:
                    yield sources[0], each
            yield sources[0], FINAL
            return
    readers = readers_by_order(job.layout.graph, job.stretch)
    yield from draw(sources) if readers is None else draw_by_columns(sources, readers)


class SliceTask(SourceTask):
    """Reads slices, and runs the stateless operators that follow the source at once, or where its stream parts."""

    def __init__(self, job: Job, source: Operator, reading: Reading = Reading.SLICES) -> None:
        super().__init__(job, [source], reading)
        self.source = source
        code = job.code.get(SOURCES)
        self.element = build_elements(code) if code is not None else None
        self.sender.begin(SOURCES, self.element)
        self.reporter = job.reporter(SOURCES)
        self.inbox = inbox_of(job, self.place)

    def rows(self, stretches: Iterable[int]) -> Iterator[Row]:
        return watch_rows(self.job, self.place, self._rows(stretches))

    def _rows(self, stretches: Iterable[int]) -> Iterator[Row]:
        slices = self.job.slices
        assert slices is not None
        expect_to_read(self.source, slices, tasks=self.job.cores)
        for stretch in stretches:
            rows = self.process_stretch(stretch, slices[stretch], is_last=stretch == len(slices) - 1)
            yield from with_printing(rows, said_by(self.job, stretch, -1, 0), self.job.log_level)
        self.reporter.write()
        yield from self.figures()

    def figures(self) -> Iterator[Row]:
        operators = {name: count.metrics for name, count in self.counts.items()}
        notes: list[str] = []
        if self.element is not None:
            operators |= self.element.metrics
            notes = self.element.notes
        yield self.sender.figures(operators, self.total.tuples_in, notes)
        for follower in self.inbox.followers:
            yield from follower.figures()

    def process_stretch(self, stretch: int, piece: Any | None, *, is_last: bool) -> Iterator[Row]:
        """The rows of a slice, which is a stretch; without one there are no more tuples, but an end."""
        outputs: list[list[Chunk]] = [[] for _ in self.place.outputs]
        error: RunError | None = None
        try:
            for _, _, chunk in self.read(self.source, [piece] if piece is not None else []):
                if self.element is None:
                    given = [chunk] if chunk is not None else []
                else:
                    given = self.element.process(Batch((chunk,))) if chunk else []
                for number, each in enumerate(given):
                    outputs[number].append(each)
        except Stopped as stopped:
            for number, each in enumerate(stopped.outputs):
                outputs[number].append(each)
            error = stopped.error
        except RunError as problem:
            error = problem
        count = 0
        pieces = {}
        for stream, chunks in zip(self.place.outputs, outputs, strict=True):
            chunk = as_columns(join_chunks(self.layout.graph.schema(stream), chunks))
            count = len(chunk)
            pieces[stream] = Piece(chunk, None, (count,) if is_last and error is None else None)
        yield from self.sent(stretch, pieces)
        yield from self.stopped(stretch, count, error)


class DrawTask(SourceTask):
    """Draws from all sources, in the order of the program, a stretch at a time."""

    def __init__(self, job: Job, reading: Reading = Reading.ONE_TASK) -> None:
        super().__init__(job, job.layout.graph.sources, reading)
        self.numbers = {(stream.operator, stream.port): number for number, stream in enumerate(self.place.outputs)}
        self.schemas = [job.layout.graph.schema(stream) for stream in self.place.outputs]
        self.gathered = DrawnStretch(self.schemas)
        self.stretch = 0
        self.has_ended = False

    def rows(self, drawn: Iterator[Drawn | Batch | None]) -> Iterator[Row]:
        """The rows of what is drawn, up to where nothing comes for a while (None) or to the end."""
        self.reporter = self.job.reporter(SOURCES)
        error: RunError | None = None
        try:
            for each in self.take(drawn):
                if each is None:
                    break
                if isinstance(each, Batch):
                    yield from self._gather_columns(each)
                else:
                    source, port, item = each
                    number = self.numbers.get((source.id, port))
                    if number is not None and item is not None:
                        self.gathered.add(number, item)
                if len(self.gathered) >= self.job.stretch:
                    yield from self._sent()
            else:
                self.has_ended = True
        except RunError as problem:
            error, self.has_ended = problem, True
        stretch, count = self.stretch, len(self.gathered)
        yield from self._sent()
        self.reporter.write()
        yield from self.stopped(stretch, count, error)

    def _gather_columns(self, batch: Batch) -> Iterator[Row]:
        """Tuples, with an input for each source: so many at a time as a stretch has room for."""
        assert batch.turns is not None
        numbers = np.array([self.numbers.get((source.id, 0), -1) for source in self.sources], np.int64)
        start, begun = 0, np.zeros(len(self.sources), np.int64)
        while start < len(batch.turns):
            turns = batch.turns[start : start + self.job.stretch - len(self.gathered)]
            counts = np.bincount(turns, minlength=len(self.sources))
            cuts = {}
            for at in np.flatnonzero(counts).tolist():
                chunk, count = batch.chunks[at], int(counts[at])
                assert chunk is not None
                cuts[int(numbers[at])] = chunk.cut(int(begun[at]), int(begun[at]) + count)
                self.counts[self.sources[at].id].add(count)
            cuts.pop(-1, None)  # of a source whose tuples nobody takes
            of_streams = numbers[turns]
            self.gathered.add_columns(cuts, of_streams[of_streams >= 0])
            start, begun = start + len(turns), begun + counts
            if len(self.gathered) >= self.job.stretch:
                yield from self._sent()

    def _sent(self) -> Iterator[Row]:
        pieces = zip(self.place.outputs, self.gathered.pieces(), strict=True)
        yield from self.sent(self.stretch, dict(pieces))
        self.stretch += 1
        self.gathered = DrawnStretch(self.schemas)
