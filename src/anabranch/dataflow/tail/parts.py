"""A large output that is written by many tasks: a folder of files, one for each stretch (design, section 5.1).

Without an order there is one for each stretch of a channel: nothing is exchanged between a region and the sink.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from anabranch.dataflow.order.order_columns import Moment
from anabranch.dataflow.order.pieces import Piece, cut_short, join_pieces
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.tail.chunk_sinks import ChunkSink
from anabranch.dataflow.transport.rows import Kind, Row
from anabranch.dataflow.transport.sending import Sender
from anabranch.dataflow.transport.shipping import Job, unship_error
from anabranch.errors import RunError, SinkError
from anabranch.graph.model import Operator
from anabranch.graph.order_keys import width
from anabranch.graph.places import PARTS, Layout
from anabranch.operators.base import SinkMeaning
from anabranch.operators.formats.addresses import FilePath
from anabranch.operators.formats.stored_files import from_full_name
from anabranch.operators.sinks.base import located
from anabranch.operators.sinks.write_file import WriteFile


def _not_seen(sink: Operator, what: str) -> SinkError:
    """Not all machines see the folder of an output."""
    assert isinstance(sink.definition, WriteFile)
    hint = "all machines must see the folder of an output, under the same path"
    return SinkError(f"{sink.definition.place}/: {what}", location=sink.location, hint=hint)


class PartWriter:
    """Writes the stretches that come to it, each as a file that is there whole or not at all."""

    def __init__(self, job: Job) -> None:
        self.place = job.layout.place(PARTS)
        [self.arrival] = job.layout.arriving(PARTS)
        self.graph = job.layout.graph
        self.sink = self.graph.operator(self.place.operators[0])
        self.schema = self.sink.inputs[0].schema
        self.folder = from_full_name(job.parts)
        self.metrics = Metrics()
        self.metrics.start(self.graph)
        self.sender = Sender(job.layout)
        self.written: list[int] = []

    def process_stretch(self, stretch: int, rows: list[Row]) -> Iterator[Row]:
        failed: Moment | None = None
        pieces: list[Piece] = []
        for row in rows:
            if row.kind == Kind.ERROR:
                moment, _ = unship_error(bytes(row.payload), self.graph)
                failed = moment if failed is None or moment.is_before(failed) else failed
            else:
                pieces.append(row.piece(self.schema))
        arrived = join_pieces(self.schema, pieces, width(self.arrival.lineage))
        if failed is not None:
            arrived = cut_short(arrived, self.arrival.lineage, failed)
        yield from self.write(stretch, arrived)

    def write(self, stretch: int, piece: Piece) -> Iterator[Row]:
        """All of a stretch, in order: as it is where it is read, so that nothing is exchanged behind a source."""
        if not len(piece.chunk):
            return
        before = self.metrics[self.sink.id].received
        number = self.number(stretch)
        try:
            with self._part(number) as part:
                part.write(piece.chunk, self.metrics)
        except RunError as error:
            at = max(0, self.metrics[self.sink.id].received - before - 1)
            numbers = tuple(int(column[at]) for column in piece.order)
            yield self.sender.failure(stretch, Moment(self.arrival.lineage, numbers), error)
        else:
            self.written.append(number)

    def number(self, stretch: int) -> int:
        """Of the file of a stretch."""
        return stretch

    @contextmanager
    def _part(self, number: int) -> Iterator[ChunkSink]:
        if (
            isinstance(self.folder, Path) and not self.folder.is_dir()
        ):  # the driver has made it, under a name that nobody else has
            raise _not_seen(self.sink, f"a worker does not see this folder ({socket.gethostname()})")
        part = part_of(self.sink, self.folder, number)
        part.meaning.open()
        try:
            yield part
            part.meaning.close()
        except RunError:
            part.meaning.keep()
            raise
        except BaseException:  # then the task is done again
            part.meaning.discard()
            raise

    def figures(self) -> Iterator[Row]:
        if self.written:
            yield self.sender.written(self.written)
        yield self.sender.figures({self.sink.id: self.metrics[self.sink.id]}, 0, [])


class PartChannel(PartWriter):
    """Writes what one channel gives, in the same task. It follows the last place of a program (`Channel.followers`)."""

    is_broken = False  # an error of its own is a row, like all others

    def __init__(self, job: Job, channel: int) -> None:
        super().__init__(job)
        self.arriving = [self.arrival]
        self.channel = channel

    def process(self, stretch: int, pieces: list[list[Piece]]) -> Iterator[Row]:
        yield from self.write(stretch, join_pieces(self.schema, pieces[0], width(self.arrival.lineage)))

    def number(self, stretch: int) -> int:
        return stretch * self.place.channels + self.channel % self.place.channels

    def begin_figures(self) -> None:
        """All of a task's are sent at its end."""


def part_of(sink: Operator, place: FilePath, number: int) -> ChunkSink:
    """A sink of its own for one of the files."""
    assert isinstance(sink.definition, WriteFile)
    return ChunkSink(replace(sink, definition=sink.definition.part(place, number)))


class WrittenParts(SinkMeaning):
    """The folder in the driver, in the place of the sink's own meaning.

    Of a run that did not succeed, whole files are kept; where it was broken off, those between them may be missing.
    """

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout.graph.operator(layout.place(PARTS).operators[0]))
        assert isinstance(self.operator.definition, WriteFile)
        self.folder = self.operator.definition.folder()

    def open(self) -> None:
        with located(self.operator):
            self.folder.open()

    def check(self, written: Iterable[int]) -> None:
        """What tasks say that they wrote is there."""
        missing = self.folder.missing(written)
        if missing is not None:
            raise _not_seen(self.operator, f"{missing.name} was written by a worker, and is not there")

    def complete(self) -> None:
        if self.folder.is_empty:  # as everywhere: a file without rows
            empty = part_of(self.operator, self.folder.place, 0).meaning
            empty.open()
            empty.close()

    def close(self) -> None:
        with located(self.operator):
            self.folder.commit()

    def keep(self) -> FilePath | None:
        return self.folder.keep()

    def discard(self) -> None:
        self.folder.discard()
