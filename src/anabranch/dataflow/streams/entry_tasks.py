"""The tasks that read what has arrived: each some entries, which are the stretches of a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from anabranch.codegen.chunks import Chunk
from anabranch.dataflow.channels.tripwires import watch_rows
from anabranch.dataflow.order.order_columns import Moment
from anabranch.dataflow.sources.drawn_stretch import DrawnStretch
from anabranch.dataflow.sources.source_count import Failed, SourceCount
from anabranch.dataflow.sources.source_slices import read
from anabranch.dataflow.sources.source_tasks import SliceTask
from anabranch.dataflow.streams.entries import Entry
from anabranch.dataflow.streams.tcp_spool import as_files
from anabranch.dataflow.transport.rows import Kind, Row
from anabranch.dataflow.transport.sending import FIGURES, Sender
from anabranch.dataflow.transport.shipping import Job
from anabranch.errors import RunError
from anabranch.graph.model import Operator, StreamId
from anabranch.graph.order_keys import DRAW
from anabranch.graph.places import SOURCES, TAIL
from anabranch.operators.base import Unreadable
from anabranch.passes.layout.source_reading import has_one_stream


class EntryTask:
    """Reads entries; behind the only source of a stream the stateless operators that follow it run here too."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.sender = Sender(job.layout)
        sources = job.layout.graph.sources
        self.task = SliceTask(job, as_files(sources[0])) if has_one_stream(job.layout.graph) else None
        self.readers = {} if self.task is not None else {each.id: _Reader(job, each) for each in sources}

    def rows(self, first: int, entries: Sequence[Entry]) -> Iterator[Row]:
        return watch_rows(self.job, self.job.layout.place(SOURCES), self._rows(first, entries))

    def _rows(self, first: int, entries: Sequence[Entry]) -> Iterator[Row]:
        for stretch, entry in enumerate(entries, first):
            if self.task is not None:
                yield from self.task.process_stretch(stretch, entry.piece, is_last=entry.piece is None)
            else:
                yield from self.readers[entry.source].process_stretch(stretch, entry)
        if self.task is not None:
            yield self.task.figures()
        else:
            counted = {name: reader.count.metrics for name, reader in self.readers.items()}
            yield self.sender.figures(counted, sum(reader.count.tuples_in for reader in self.readers.values()), [])
        yield self._reached(first + len(entries), min(entry.arrived for entry in entries))

    def _reached(self, stop: int, oldest: float) -> Row:
        """For the driver: how far this task has read, and since when the first of it had been waiting."""
        payload = json.dumps([stop, oldest]).encode()
        return Row(0, self.sender.numbers[TAIL], FIGURES, 0, Kind.REACHED, payload)


class _Reader:
    """One of several sources, or one with several outputs: what comes from where is numbered as it is drawn."""

    def __init__(self, job: Job, source: Operator) -> None:
        self.source = as_files(source)
        self.layout = job.layout
        self.sender = Sender(job.layout)
        self.streams = [StreamId(source.id, port) for port in range(len(source.outputs))]
        self.count = SourceCount(self.source)

    def process_stretch(self, stretch: int, entry: Entry) -> Iterator[Row]:
        drawn = DrawnStretch([port.schema for port in self.source.outputs])
        error: RunError | None = None
        try:
            for found in read(self.source, entry.piece) if entry.piece is not None else ():
                self._take(found, drawn)
        except RunError as problem:
            error = problem
        count = len(drawn)
        pieces = drawn.pieces()
        for stream, piece in zip(self.streams, pieces, strict=True):
            sent = piece if entry.piece is not None else replace(piece, end=(count,))
            for arrival in self.layout.leaving(stream):
                yield from self.sender.rows(arrival, stretch, sent)
        if error is not None:
            yield from self.sender.error(stretch, Moment(DRAW, (count,)), error)

    def _take(self, found: Chunk | Unreadable | Failed, drawn: DrawnStretch) -> None:
        if isinstance(found, Chunk):
            drawn.add_columns({0: found}, np.zeros(len(found), np.int64))
            self.count.add(len(found))
            return
        letter = self.count.after_bad_row(found)
        if letter is not None:
            drawn.add(*letter)
            self.count.add(1)
