"""The tasks that read what has arrived: each some entries, which are the epochs of a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from anabranch.codegen.chunks import Chunk, as_columns, joined
from anabranch.codegen.part import Stream
from anabranch.dataflow.channels.tripwires import checked
from anabranch.dataflow.layout.places import SOURCES, TAIL
from anabranch.dataflow.order.order_keys import DRAW, Moment
from anabranch.dataflow.order.pieces import Piece
from anabranch.dataflow.sources.source_order import Failed, after_bad_row
from anabranch.dataflow.sources.source_slices import read
from anabranch.dataflow.sources.source_tasks import SliceTask
from anabranch.dataflow.streams.entries import Entry
from anabranch.dataflow.streams.tcp_spool import as_files
from anabranch.dataflow.transport.rows import Kind, Row
from anabranch.dataflow.transport.sending import FIGURES, Sender
from anabranch.dataflow.transport.shipping import Job
from anabranch.errors import RunError
from anabranch.graph.model import Graph, Operator
from anabranch.operators.base import Unreadable
from anabranch.operators.metrics import OperatorMetrics


def has_one_stream(graph: Graph) -> bool:
    """Whether all that arrives is one stream: then what follows at once, and has no state, runs where it is read."""
    return len(graph.sources) == 1 and len(graph.sources[0].outputs) == 1


class EntryTask:
    """Reads entries; behind the only source of a stream the stateless operators that follow it run here too."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.sender = Sender(job.layout)
        sources = job.layout.graph.sources
        self.task = SliceTask(job, as_files(sources[0])) if has_one_stream(job.layout.graph) else None
        self.readers = {} if self.task is not None else {each.id: _Reader(job, each) for each in sources}

    def rows(self, first: int, entries: Sequence[Entry]) -> Iterator[Row]:
        return checked(self.job, self.job.layout.place(SOURCES), self._rows(first, entries))

    def _rows(self, first: int, entries: Sequence[Entry]) -> Iterator[Row]:
        for epoch, entry in enumerate(entries, first):
            if self.task is not None:
                yield from self.task.epoch(epoch, entry.piece, is_last=entry.piece is None)
            else:
                yield from self.readers[entry.source].epoch(epoch, entry)
        if self.task is not None:
            yield self.task.figures()
        else:
            counted = {name: reader.counted for name, reader in self.readers.items()}
            yield self.sender.figures(counted, sum(reader.tuples_in for reader in self.readers.values()), [])
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
        outputs = job.layout.place(SOURCES).outputs
        self.ports = [port for port in range(len(source.outputs)) if Stream(source.id, port) in outputs]
        self.counted = OperatorMetrics()
        self.tuples_in = 0

    def epoch(self, epoch: int, entry: Entry) -> Iterator[Row]:
        drawn: dict[int, list[tuple[int, Chunk]]] = {port: [] for port in range(len(self.source.outputs))}
        error: RunError | None = None
        count = 0
        try:
            for found in read(self.source, entry.piece) if entry.piece is not None else ():
                port, chunk = self._drawn(found)
                if chunk is not None:
                    drawn[port].append((count, chunk))
                    count += len(chunk)
                    self.counted.emitted += len(chunk)
                    self.tuples_in += len(chunk)
        except RunError as problem:
            error = problem
        end = (count,) if entry.piece is None else None
        for port in self.ports:
            stream = Stream(self.source.id, port)
            piece = self._piece(drawn[port], self.source.outputs[port].schema, end)
            for arrival in self.layout.leaving(stream):
                yield from self.sender.rows(arrival, epoch, piece)
        if error is not None:
            yield from self.sender.error(epoch, Moment(DRAW, (count,)), error)

    def _drawn(self, found: Chunk | Unreadable | Failed) -> tuple[int, Chunk | None]:
        if isinstance(found, Chunk):
            return 0, found
        letter = after_bad_row(self.source, self.counted, found)
        if letter is None:
            self.tuples_in += 1
            return 0, None
        port, item = letter
        return port, Chunk.of_rows(self.source.outputs[port].schema, [item])

    def _piece(self, drawn: list[tuple[int, Chunk]], schema: Any, end: tuple[int, ...] | None) -> Piece:
        if not drawn:
            return Piece(Chunk.of_rows(schema, []), (np.empty(0, np.int64),), end)
        positions = np.concatenate([np.arange(at, at + len(chunk), dtype=np.int64) for at, chunk in drawn])
        return Piece(as_columns(joined(schema, [chunk for _, chunk in drawn])), (positions,), end)
