"""A channel that makes parts of windows of the tuples of a stretch (`operators/parts.py`).

The windows of each stretch begin anew, so what was made of one is forgotten before the next. Where a tuple fails, or
what is made of several would (a sum that is no attribute any more), the tuples of the stretch go on one by one: what
puts parts together does with them what it always did, or fails where it would have.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, repeat
from typing import Any

import numpy as np
import pyarrow as pa

from anabranch.codegen.chunks import Batch, Chunk, Positions, as_columns, take_tuples
from anabranch.codegen.pe import Stopped
from anabranch.dataflow.channels.first_step_channel import FirstStepChannel
from anabranch.dataflow.channels.handing_on import Inbox, Pieces
from anabranch.dataflow.order.order_columns import Column, indices_of
from anabranch.dataflow.order.pieces import Piece, join_pieces
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.shipping import Job
from anabranch.graph.order_keys import width
from anabranch.graph.places import Layout, Place
from anabranch.graph.schema import Schema
from anabranch.operators.parts import MakeParts


def makes_parts(layout: Layout, place: Place) -> bool:
    return isinstance(layout.graph.operator(place.operators[0]).definition, MakeParts)


class PartsChannel(FirstStepChannel):
    """It is given whole stretches."""

    def __init__(self, job: Job, place: Place, inbox: Inbox) -> None:
        super().__init__(job, place, inbox)
        operator = job.layout.graph.operator(self.name)
        assert isinstance(operator.definition, MakeParts)
        self.making, self.given = operator.definition, operator.outputs[0].schema

    def process(self, stretch: int, pieces: Pieces) -> Iterator[Row]:
        [arrival] = self.arriving
        piece = join_pieces(self.schema(0), pieces[0], width(arrival.lineage))
        rows, positions = self._parts(piece.chunk) if len(piece.chunk) else ([], np.empty(0, np.int64))
        make: Any = self.given.type._make  # type: ignore[attr-defined]  # a NamedTuple
        made = Chunk.of_rows(self.given, [make(row) for row in rows])
        self.counts.received += len(piece.chunk) - len(made)  # as many parts are counted where they arrive
        self.reporter.add(len(piece.chunk), len(made))
        order = (*(column[positions] for column in piece.order), indices_of(positions))
        end = None if piece.end is None else (*piece.end, 0)
        sent = Piece(as_columns(made), order, end)
        for each in self.layout.leaving(self.place.outputs[0]):
            yield from self.sender.rows(each, stretch, sent)

    def _parts(self, chunk: Chunk) -> tuple[list[Any], Column]:
        """Parts and what moves the time between them, and for each the position of the tuple that it comes with."""
        self.forget()
        counted = self.element.metrics[self.name]
        late, length = counted.late, len(chunk)
        try:
            [closed] = self.element.process(Batch((with_positions(chunk, self.making.numbered).marked(is_last=True),)))
        except Stopped:
            return [self.making.alone(row, chunk.schema, 1) for row in chunk.rows], np.arange(length)
        self.counts.late += counted.late - late
        origins = closed.origins
        assert origins is not None
        # Whenever the time moves into another window, the one that it was in before closes.
        moving = np.unique(np.append(origins[origins < length], 0))
        needed = {at: None for part in closed.rows for at in self.making.positions(part)}
        tuples = _tuples(chunk, np.unique(np.append(moving, list(needed))).astype(np.int64))
        rows = [self.making.part(part, tuples) for part in closed.rows]
        rows += [self.making.alone(tuples[at], chunk.schema, 0) for at in moving.tolist()]
        # Windows close before the tuple that moves the time, and at the end behind the last.
        in_order = np.argsort(np.concatenate([2 * origins, 2 * moving + 1]), kind="stable")
        positions = np.minimum(np.concatenate([origins, moving]), length - 1)[in_order]
        return [rows[at] for at in in_order.tolist()], positions


def with_positions(chunk: Chunk, schema: Schema) -> Chunk:
    """Tuples with their positions."""
    if chunk.has_batch:
        columns = [*chunk.batch.columns, pa.array(np.arange(len(chunk)))]
        return Chunk.of_batch(schema, pa.record_batch(columns, names=list(schema.names)))
    plain = map(tuple.__add__, chunk.rows, zip(count(), strict=False))
    return Chunk.of_rows(schema, list(map(tuple.__new__, repeat(schema.type), plain)))


def _tuples(chunk: Chunk, positions: Positions) -> dict[int, Any]:
    return dict(zip(positions.tolist(), take_tuples(chunk, positions).rows, strict=True))
