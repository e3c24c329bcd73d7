"""The tasks that read sources which are drawn in turn: each some of the readers, by columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from anabranch.codegen.chunks import Chunk, as_columns, join_chunks
from anabranch.dataflow.order.order_columns import Moment
from anabranch.dataflow.order.pieces import Piece
from anabranch.dataflow.sources.partition_keys import KeysOfReader
from anabranch.dataflow.sources.source_count import Failed, SourceCount
from anabranch.dataflow.sources.source_slices import read
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.sending import Sender
from anabranch.dataflow.transport.shipping import Job
from anabranch.dataflow.transport.task_progress import Reporter
from anabranch.errors import RunError
from anabranch.graph.model import StreamId
from anabranch.graph.order_keys import DRAW
from anabranch.graph.places import SOURCES, TAIL
from anabranch.operators.base import Unreadable


def reader_rows(job: Job, numbers: Iterable[int]) -> Iterator[Row]:
    """What these readers give."""
    reporter = job.reporter(SOURCES)
    for number in numbers:
        yield from _ReaderTask(job, number, reporter).rows()
    reporter.write()


class _ReaderTask:
    """Reads all that a reader gives, a stretch at a time."""

    def __init__(self, job: Job, number: int, reporter: Reporter) -> None:
        assert job.readers is not None
        self.readers = job.readers
        self.number = number
        self.reader = job.readers.each[number]
        self.source = job.layout.graph.operator(self.reader.source)
        self.leaving = job.layout.leaving(StreamId(self.source.id))
        self.sender = Sender(job.layout, sends_all=not job.readers.is_partitioned)
        self.keys = KeysOfReader(self.source) if job.readers.is_partitioned else None
        self.count = SourceCount(self.source)
        self.reporter = reporter
        self.turn = 0  # of the next item
        self.drawn: list[tuple[int, Chunk]] = []  # for this stretch, with the turn of the first tuple

    @property
    def stretch(self) -> int:
        return self.turn // self.readers.rounds

    def rows(self) -> Iterator[Row]:
        error: RunError | None = None
        try:
            for piece in self.reader.slices:
                for found in read(self.source, piece):
                    yield from self._taken(found)
        except RunError as problem:
            error = problem
        end = self.readers.end(self.number, self.turn) if error is None else None
        ends_here = end is not None and end[0] == self.stretch
        yield from self._sent(self.stretch, end if ends_here else None)
        if end is not None and not ends_here:
            yield from self._sent(end[0], end)
        if error is not None:
            here = Moment(DRAW, (self.readers.place(self.number, self.turn),))
            yield from self.sender.error(self.stretch, here, error)
        if self.keys is not None:
            yield from self.keys.rows(self.number, self.sender.numbers[TAIL])
        yield self.sender.figures({self.source.id: self.count.metrics}, self.count.tuples_in, [])

    def _taken(self, found: Chunk | Unreadable | Failed) -> Iterator[Row]:
        if not isinstance(found, Chunk):  # it has its turn, whatever becomes of it
            self.count.after_bad_row(found)
            yield from self._moved(1)
            return
        if self.keys is not None:
            self.keys.add(found, self.turn)
        start = 0
        while start < len(found):
            count = min(len(found) - start, self.readers.rounds - self.turn % self.readers.rounds)
            self.drawn.append((self.turn, _part(found, start, count)))
            self.count.add(count)
            start += count
            yield from self._moved(count)

    def _moved(self, count: int) -> Iterator[Row]:
        before = self.stretch
        self.turn += count
        if self.stretch > before:
            yield from self._sent(before)

    def _sent(self, stretch: int, end: tuple[int, int] | None = None) -> Iterator[Row]:
        drawn, self.drawn = self.drawn, []
        schema = self.source.outputs[0].schema
        turns = [np.arange(turn, turn + len(chunk), dtype=np.int64) for turn, chunk in drawn]
        order = self.readers.place(self.number, np.concatenate([np.empty(0, np.int64), *turns]))
        chunk = as_columns(join_chunks(schema, [chunk for _, chunk in drawn])) if drawn else Chunk.of_rows(schema, [])
        self.reporter.add(len(chunk), len(chunk))
        for arrival in self.leaving:
            yield from self.sender.rows(arrival, stretch, Piece(chunk, (order,), end[1:] if end else None))


def _part(chunk: Chunk, start: int, count: int) -> Chunk:
    if count == len(chunk):
        return chunk
    if chunk.has_batch:
        return Chunk.of_batch(chunk.schema, chunk.batch.slice(start, count))
    return Chunk.of_rows(chunk.schema, chunk.rows[start : start + count])
