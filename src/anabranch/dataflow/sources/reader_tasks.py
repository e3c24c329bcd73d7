"""The tasks that read sources which are drawn in turn: each some of the readers, by columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from anabranch.codegen.chunks import Chunk, as_columns, join_chunks
from anabranch.dataflow.order.pieces import Piece
from anabranch.dataflow.sources.partition_keys import KeysOfReader
from anabranch.dataflow.sources.source_loop import SourceTask
from anabranch.dataflow.sources.source_slices import expect_to_read
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.shipping import Job
from anabranch.dataflow.transport.task_progress import Reporter
from anabranch.errors import RunError
from anabranch.graph.model import StreamId
from anabranch.graph.places import SOURCES, TAIL, Reading


def reader_rows(job: Job, numbers: Iterable[int]) -> Iterator[Row]:
    """What these readers give."""
    reporter = job.reporter(SOURCES)
    for number in numbers:
        yield from _ReaderTask(job, number, reporter).rows()
    reporter.write()


class _ReaderTask(SourceTask):
    """Reads all that a reader gives, a stretch at a time."""

    def __init__(self, job: Job, number: int, reporter: Reporter) -> None:
        assert job.readers is not None
        self.readers = job.readers
        self.number = number
        self.reader = job.readers.each[number]
        self.source = job.layout.graph.operator(self.reader.source)
        super().__init__(job, [self.source], Reading.APART, sends_all=not job.readers.is_partitioned)
        self.keys = KeysOfReader(self.source) if job.readers.is_partitioned else None
        self.reporter = reporter
        self.turn = 0  # of the next item
        self.drawn: list[tuple[int, Chunk]] = []  # for this stretch, with the turn of the first tuple

    @property
    def stretch(self) -> int:
        return self.turn // self.readers.rounds

    def rows(self) -> Iterator[Row]:
        error: RunError | None = None
        expect_to_read(self.source, self.reader.slices)
        try:
            for _, _, chunk in self.read(self.source, self.reader.slices):
                yield from self._gather(chunk) if chunk is not None else self._move(1)  # a bad row has its turn
        except RunError as problem:
            error = problem
        end = self.readers.end(self.number, self.turn) if error is None else None
        ends_here = end is not None and end[0] == self.stretch
        yield from self._sent(self.stretch, end if ends_here else None)
        if end is not None and not ends_here:
            yield from self._sent(end[0], end)
        yield from self.stopped(self.stretch, self.readers.place(self.number, self.turn), error)
        if self.keys is not None:
            yield from self.keys.rows(self.number, self.sender.numbers[TAIL])
        yield from self.figures()

    def _gather(self, chunk: Chunk) -> Iterator[Row]:
        if self.keys is not None:
            self.keys.add(chunk, self.turn)
        start = 0
        while start < len(chunk):
            count = min(len(chunk) - start, self.readers.rounds - self.turn % self.readers.rounds)
            self.drawn.append((self.turn, chunk.cut(start, start + count)))
            start += count
            yield from self._move(count)

    def _move(self, count: int) -> Iterator[Row]:
        before = self.stretch
        self.turn += count
        if self.stretch > before:
            yield from self._sent(before)

    def _sent(self, stretch: int, end: tuple[int, int] | None = None) -> Iterator[Row]:
        drawn, self.drawn = self.drawn, []
        turns = [np.arange(turn, turn + len(chunk), dtype=np.int64) for turn, chunk in drawn]
        order = self.readers.place(self.number, np.concatenate([np.empty(0, np.int64), *turns]))
        chunk = as_columns(join_chunks(self.source.outputs[0].schema, [chunk for _, chunk in drawn]))
        yield from self.sent(stretch, {StreamId(self.source.id): Piece(chunk, (order,), end[1:] if end else None)})
