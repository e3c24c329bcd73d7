"""The tasks that read what has arrived: each some entries, which are the stretches of a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np

from anabranch.codegen.chunks import Chunk
from anabranch.dataflow.channels.tripwires import watch_rows
from anabranch.dataflow.sources.drawn_stretch import DrawnStretch
from anabranch.dataflow.sources.source_loop import SourceTask
from anabranch.dataflow.sources.source_slices import expect_to_read
from anabranch.dataflow.sources.source_tasks import SliceTask
from anabranch.dataflow.streams.entries import Entry
from anabranch.dataflow.streams.tcp_spool import as_files
from anabranch.dataflow.transport.rows import Kind, Row
from anabranch.dataflow.transport.sending import FIGURES
from anabranch.dataflow.transport.shipping import Job
from anabranch.dataflow.transport.task_progress import Reporter
from anabranch.errors import RunError
from anabranch.graph.model import Operator, StreamId
from anabranch.graph.places import SOURCES, Reading

_BY_SOURCE = attrgetter("source")


class EntryTask:
    """Reads entries; behind the only source of a stream the stateless operators that follow it run here too."""

    def __init__(self, job: Job) -> None:
        self.job = job
        sources = job.layout.graph.sources
        self.readers: dict[str, SliceTask | _Reader]
        if job.reading is Reading.ENTRIES:
            self.readers = {each.id: SliceTask(job, as_files(each), job.reading) for each in sources}
        else:
            reporter = job.reporter(SOURCES)
            self.readers = {each.id: _Reader(job, as_files(each), reporter) for each in sources}

    def rows(self, first: int, entries: Sequence[Entry]) -> Iterator[Row]:
        return watch_rows(self.job, self.job.layout.place(SOURCES), self._rows(first, entries))

    def _rows(self, first: int, entries: Sequence[Entry]) -> Iterator[Row]:
        for source, of_source in groupby(sorted(entries, key=_BY_SOURCE), key=_BY_SOURCE):
            reader = self.readers[source]
            expect_to_read(reader.source, [entry.piece for entry in of_source if entry.piece is not None])
        for stretch, entry in enumerate(entries, first):
            reader = self.readers[entry.source]
            yield from reader.process_stretch(stretch, entry.piece, is_last=entry.piece is None)
        for reader in self.readers.values():
            yield from reader.figures()
        yield self._reached(first + len(entries), min(entry.arrived for entry in entries))

    def _reached(self, stop: int, oldest: float) -> Row:
        """For the driver: how far this task has read, and since when the first of it had been waiting."""
        tail = len(self.job.layout.places) - 1
        return Row(0, tail, FIGURES, 0, Kind.REACHED, json.dumps([stop, oldest]).encode())


class _Reader(SourceTask):
    """One of several sources, or one with several outputs: what comes from where is numbered as it is drawn."""

    def __init__(self, job: Job, source: Operator, reporter: Reporter) -> None:
        super().__init__(job, [source], job.reading)
        self.source = source
        self.reporter = reporter
        self.streams = [StreamId(source.id, port) for port in range(len(source.outputs))]

    def process_stretch(self, stretch: int, piece: Any | None, *, is_last: bool) -> Iterator[Row]:
        drawn = DrawnStretch([port.schema for port in self.source.outputs])
        error: RunError | None = None
        try:
            for _, port, item in self.read(self.source, [piece] if piece is not None else []):
                if isinstance(item, Chunk):
                    drawn.add_columns({port: item}, np.full(len(item), port, np.int64))
                elif item is not None:
                    drawn.add(port, item)
        except RunError as problem:
            error = problem
        count = len(drawn)
        end = (count,) if is_last else None
        pieces = zip(self.streams, drawn.pieces(), strict=True)
        yield from self.sent(stretch, {stream: replace(each, end=end) for stream, each in pieces})
        yield from self.stopped(stretch, count, error)
