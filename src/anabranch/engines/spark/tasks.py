"""What Spark's tasks do: read a source, or run the channels of places, epoch by epoch."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from anabranch.codegen.build import built
from anabranch.codegen.chunks import Chunk
from anabranch.codegen.part import Part
from anabranch.codegen.pe import ProcessingElement, Stopped
from anabranch.engines.spark.chunk_rows import Piece, Row, as_batch, rows_in, unpack
from anabranch.engines.spark.layout import PARTS, Layout, Place
from anabranch.engines.spark.meeting import Items, as_columns, gathered, met
from anabranch.engines.spark.order import LAST, Columns, Moment, indices, width
from anabranch.engines.spark.parts import PartWriter
from anabranch.engines.spark.sending import Sender
from anabranch.engines.spark.shipping import Job
from anabranch.engines.spark.spooling import fetched, spooled
from anabranch.engines.spark.watching import Reporter
from anabranch.operators.metrics import OperatorMetrics


def run_level(load: Callable[[], Job], level: int) -> Any:
    """The function for Spark: rows of a level in, rows of later ones out."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        job = load()
        return in_batches(_run_level(job, level, rows_in(batches)), job)

    return run


def in_batches(rows: Iterable[Row], job: Job) -> Iterator[pa.RecordBatch]:
    """What a task gives to Spark: a row at a time, since each may be large."""
    for row in spooled(rows, job.reports, only_for=None if job.shares_files else len(job.layout.places) - 1):
        yield as_batch(row)
    freeze()


@functools.cache
def freeze() -> None:
    """After the first task of a worker: Spark collects garbage behind every task, and need not look at all of us."""
    gc.freeze()


def _run_level(job: Job, level: int, rows: Iterator[Row]) -> Iterator[Row]:
    """Rows come sorted by place and epoch; those for later levels pass."""
    for number, of_place in groupby(rows, key=lambda row: row.place):
        place = job.layout.places[number]
        if place.level != level:
            yield from of_place
            continue
        channel = PartWriter(job) if place.id == PARTS else Channel(job, place)
        for epoch, of_epoch in groupby(of_place, key=lambda row: row.epoch):
            yield from channel.epoch(epoch, [fetched(row, job.reports) for row in of_epoch])
        yield channel.figures()


def part_at(layout: Layout, place: Place) -> Part:
    return Part(layout.graph, place.operators, place.inputs, place.outputs)


class Channel:
    """One channel of a place in one task."""

    def __init__(self, job: Job, place: Place, element: ProcessingElement | None = None) -> None:
        self.layout = job.layout
        self.place = place
        self.sender = Sender(job.layout)
        self.part = part_at(job.layout, place)
        self.element = element or built(job.generated[place.id], origins=True)
        self.arriving = job.layout.arriving(place.id)
        self.lineage = job.layout.lineage_of_items(place)
        self.has_stopped = False
        self.reporter = Reporter(job.reports, place.id)
        self.begin_figures()

    def epoch(self, epoch: int, rows: list[Row]) -> Iterator[Row]:
        if self.has_stopped:
            return
        items = self._items(rows)
        try:
            outputs = self.element.process(items.batch)
        except Stopped as stopped:
            self.has_stopped = True
            yield from self._sent(epoch, items, stopped.outputs)
            yield from self.sender.error(epoch, self._moment(items, stopped.begun - 1), stopped.error)
            return
        self.reporter.add(len(items), sum(map(len, outputs)))
        yield from self._sent(epoch, items, outputs)

    def _items(self, rows: list[Row]) -> Items:
        pieces: list[list[Piece]] = [[] for _ in self.arriving]
        for row in rows:
            schema = self.part.schema(self.arriving[row.arrival].stream)
            pieces[row.arrival].append(unpack(schema, row.payload))
        arrived = [
            gathered(self.part.schema(arrival.stream), each, width(arrival.lineage))
            for arrival, each in zip(self.arriving, pieces, strict=True)
        ]
        return met(arrived, [arrival.lineage for arrival in self.arriving])

    def _sent(self, epoch: int, items: Items, outputs: list[Chunk]) -> Iterator[Row]:
        for stream, chunk in zip(self.place.outputs, outputs, strict=True):
            order: Columns = ()
            if len(chunk):
                assert chunk.origins is not None
                order = tuple(column[chunk.origins] for column in items.order)
                if self.place.is_prolific:
                    order = (*order, indices(chunk.origins))
            else:
                order = (np.empty(0, np.int64),) * (len(items.order) + self.place.is_prolific)
            end = self._end(items) if chunk.is_last else None
            piece = Piece(as_columns(chunk), order, end)
            for arrival in self.layout.leaving(stream):
                yield from self.sender.rows(arrival, epoch, piece)

    def _end(self, items: Items) -> tuple[int, ...]:
        """A stream ends with the last of those it is made of."""
        numbers = tuple(int(column[max(items.ends)]) for column in items.order)
        return (*numbers, int(LAST)) if self.place.is_prolific else numbers

    def _moment(self, items: Items, at: int) -> Moment:
        """When an item failed: behind what it was made into before."""
        return Moment(self.lineage, self._numbers(items, at))

    def _numbers(self, items: Items, at: int) -> tuple[int, ...]:
        return tuple(int(column[at]) for column in items.order)

    def figures(self) -> Row:
        """What was counted since `begin_figures`, or the start."""
        self.reporter.write()
        operators = {
            name: OperatorMetrics(
                *(getattr(now, each.name) - getattr(self.before[name], each.name) for each in fields(now))
            )
            for name, now in self.element.metrics.items()
        }
        return self.sender.figures(operators, 0, list(self.element.notes))

    def begin_figures(self) -> None:
        """Count from here on: those of the batches before are with the driver."""
        self.before = {name: replace(counted) for name, counted in self.element.metrics.items()}
