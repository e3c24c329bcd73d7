"""A channel that makes parts of windows of the tuples of a stretch (`operators/parts.py`).

The panes of each stretch begin anew, so what was made of one is forgotten before the next. Where a tuple fails, or what
is known of several would (a sum that is no attribute any more), the tuples of the stretch go on one by one: what puts
parts together does with them what it always did, or fails where it would have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, repeat
from typing import Any

import numpy as np
import pyarrow as pa

from anabranch.codegen.chunks import Batch, Chunk, Positions, take_tuples
from anabranch.codegen.pe import Stopped
from anabranch.dataflow.channels.first_step_channel import FirstStepChannel
from anabranch.dataflow.channels.handing_on import Inbox, Pieces
from anabranch.dataflow.order.pieces import join_pieces
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.shipping import Job
from anabranch.graph.order_keys import width
from anabranch.graph.places import Layout, Place
from anabranch.graph.schema import Schema
from anabranch.operators.parts import MakeParts


def makes_parts(layout: Layout, place: Place) -> bool:
    return isinstance(layout.graph.operator(place.operators[0]).definition, MakeParts)


class PartsChannel(FirstStepChannel):
    """It is given whole stretches, or of each all that is in its channel."""

    def __init__(self, job: Job, place: Place, inbox: Inbox) -> None:
        super().__init__(job, place, inbox)
        operator = job.layout.graph.operator(self.name)
        assert isinstance(operator.definition, MakeParts)
        self.making, self.given = operator.definition, operator.outputs[0].schema

    def process(self, stretch: int, pieces: Pieces) -> Iterator[Row]:
        [arrival] = self.arriving
        items = self.items(stretch, [join_pieces(self.schema(0), pieces[0], width(arrival.lineage))])
        [tuples] = items.chunks
        assert tuples is not None
        made, positions = self._parts(tuples) if len(tuples) else self._of_rows(tuples, {})
        self.counts.received += len(tuples) - len(made)  # as many parts are counted where they arrive
        self.reporter.add(len(tuples), len(made))
        yield from self._sent(stretch, items, [replace(made.marked(is_last=tuples.is_last), origins=positions)])

    def _parts(self, tuples: Chunk) -> tuple[Chunk, Positions]:
        """The parts of a stretch, and their positions."""
        self.forget()
        counted = self.element.metrics[self.name]
        late = counted.late
        numbered = with_positions(tuples, self.making.numbered)
        try:
            closed, *behind = self.element.process(Batch((numbered.marked(is_last=True),)))
        except Stopped:
            return self._of_rows(tuples, {at: self.making.alone(row) for at, row in enumerate(numbered.rows)})
        self.counts.late += counted.late - late
        if all(chunk.has_batch for chunk in (numbered, closed, *behind)) and not self.making.knows_lists:
            return self._of_columns(numbered, closed, behind)
        return self._of_rows(tuples, self.making.found(closed.rows, [row for chunk in behind for row in chunk.rows]))

    def _of_rows(self, tuples: Chunk, says: dict[int, tuple[Any, ...]]) -> tuple[Chunk, Positions]:
        """By the positions of parts, what each says of those it stands for."""
        positions = np.array(sorted(says), np.int64)
        make: Any = self.given.type._make  # type: ignore[attr-defined]  # a NamedTuple
        pairs = zip(take_tuples(tuples, positions).rows, positions.tolist(), strict=True)
        return Chunk.of_rows(self.given, [make((*row, *says[at])) for row, at in pairs]), positions

    def _of_columns(self, numbered: Chunk, closed: Chunk, behind: list[Chunk]) -> tuple[Chunk, Positions]:
        """The same of what native code gives: sizes and sums are ints."""
        first, *results = (column.to_numpy() for column in closed.batch.columns)
        known, chosen = results[: 1 + len(self.making.known)], results[1 + len(self.making.known) :]
        alone = [chunk.batch.column(len(chunk.schema.names) - 1).to_numpy() for chunk in behind]
        positions = np.unique(np.concatenate([first, *chosen, *alone]))
        says = [np.zeros(len(positions), np.int64) for _ in known]
        for column, values in zip(says, known, strict=True):
            column[np.searchsorted(positions, first)] = values
        for chunk, at in zip(behind, (np.searchsorted(positions, each) for each in alone), strict=True):
            says[0][at] = 1
            for column, name in zip(says[1:], self.making.summed, strict=True):
                values = chunk.batch.column(chunk.schema.names.index(name))
                column[at] = values.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        columns = [*take_tuples(numbered, positions).batch.columns[:-1], *map(pa.array, says)]
        return Chunk.of_batch(self.given, pa.record_batch(columns, names=list(self.given.names))), positions


def with_positions(chunk: Chunk, schema: Schema) -> Chunk:
    """Tuples with their positions."""
    if chunk.has_batch:
        columns = [*chunk.batch.columns, pa.array(np.arange(len(chunk)))]
        return Chunk.of_batch(schema, pa.record_batch(columns, names=list(schema.names)))
    plain = map(tuple.__add__, chunk.rows, zip(count(), strict=False))
    return Chunk.of_rows(schema, list(map(tuple.__new__, repeat(schema.type), plain)))
