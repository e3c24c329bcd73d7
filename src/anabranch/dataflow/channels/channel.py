"""One channel of a place: a processing element, and what it needs to take pieces of streams and give others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

import numpy as np

from anabranch.codegen.build import build_elements
from anabranch.codegen.chunks import Chunk, as_columns
from anabranch.codegen.pe import ProcessingElement, Saved, Stopped
from anabranch.dataflow.channels.handing_on import Inbox, Pieces
from anabranch.dataflow.order.meeting import Items, put_in_order
from anabranch.dataflow.order.order_columns import LAST, Column, Columns, Moment, indices_of
from anabranch.dataflow.order.pieces import Piece, join_pieces
from anabranch.dataflow.order.ticks import schema_of_times
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.sending import Sender
from anabranch.dataflow.transport.shipping import Job
from anabranch.errors import RunError
from anabranch.graph.order_keys import width
from anabranch.graph.places import Arrival, Layout, Place
from anabranch.graph.schema import Schema
from anabranch.operators.metrics import OperatorMetrics


class Channel:
    """One channel of a place in one task."""

    def __init__(self, job: Job, place: Place, inbox: Inbox) -> None:
        self.layout = job.layout
        self.place = place
        self.inbox = inbox
        self.sender = Sender(job.layout)
        self.element: ProcessingElement = build_elements(job.code[place.id])
        self.sender.begin(place.id, self.element)
        self.arriving = job.layout.arriving(place.id)
        self.lineage = job.layout.lineage_of_items(place)
        self.has_stopped = False
        self.reporter = job.reporter(place.id)
        self.begin_figures()

    def kept(self) -> list[Saved]:
        """What is to be saved and restored."""
        return [self.element]

    @property
    def is_broken(self) -> bool:
        """Whether an operator stopped the run."""
        return self.has_stopped

    # Stretches -----------------------------------------------------------------------------------------------------

    def schema(self, arrival: int) -> Schema:
        """Of a stream, as it arrives."""
        return schema_on_arrival(self.layout, self.arriving[arrival])

    def process(self, stretch: int, pieces: Pieces) -> Iterator[Row]:
        if self.has_stopped:
            return
        arrived = [
            join_pieces(self.schema(at), each, width(arrival.lineage))
            for at, (arrival, each) in enumerate(zip(self.arriving, pieces, strict=True))
        ]
        items = self.items(stretch, arrived)
        try:
            outputs = self.element.process(items)
        except Stopped as stopped:
            self.has_stopped = True
            yield from self._sent(stretch, items, stopped.outputs)
            yield from self.sender.error(stretch, self.moment(items, stopped), self.error(stopped.error))
            return
        tuples = [len(one.chunk) for one, at in zip(arrived, self.arriving, strict=True) if at.clock is None]
        self.reporter.add(sum(tuples), sum(map(len, outputs)))
        yield from self._sent(stretch, items, outputs)

    def items(self, stretch: int, arrived: list[Piece]) -> Items:
        return put_in_order(arrived, [arrival.lineage for arrival in self.arriving])

    def moment(self, items: Items, stopped: Stopped) -> Moment:
        """When an item failed: behind what it was made into before."""
        return Moment(self.lineage, numbers_of(items, stopped.begun - 1))

    def error(self, error: RunError) -> RunError:
        """As a user is told."""
        return error

    # Outputs ----------------------------------------------------------------------------------------------------

    def _sent(self, stretch: int, items: Items, outputs: list[Chunk]) -> Iterator[Row]:
        given = zip(self.place.outputs, self.pieces(items, outputs), strict=True)
        yield from self.inbox.hand_on(self.sender, stretch, given)

    def pieces(self, items: Items, outputs: list[Chunk]) -> list[Piece]:
        """All outputs, as they go on."""
        return [self.piece(items, chunk) for chunk in outputs]

    def piece(self, items: Items, chunk: Chunk) -> Piece:
        """An output with the columns of its order, and where its punctuations and its end are."""
        order, punctuations = numbers_behind(items, chunk)
        if self.place.is_prolific:
            of_tuples, of_punctuations = turns(chunk) if self.place.has_turns else indices(chunk)
            order, punctuations = (*order, of_tuples), (*punctuations, of_punctuations) if punctuations else ()
        end = self.end(items, int(self.place.is_prolific)) if chunk.is_last else None
        if end is not None and self.place.has_turns:
            assert chunk.ended is not None, "it is numbered like all that the place gives"
            item, turn = chunk.ended
            end = (*numbers_of(items, item), turn)
        return Piece(as_columns(chunk), order, end, punctuations)

    def ranked_piece(self, items: Items, chunk: Chunk, known: Chunk, ranks: Columns) -> Piece:
        """The same where outputs have columns of their own; punctuations and the end are behind all that they gave."""
        order, punctuations = numbers_behind(items, chunk)
        if punctuations:
            punctuations += (np.full(len(punctuations[0]), LAST),) * len(ranks)
        return Piece(known, (*order, *ranks), self.end(items, len(ranks)) if chunk.is_last else None, punctuations)

    def end(self, items: Items, more: int) -> tuple[int, ...]:
        """A stream ends with the last of those it is made of, behind all that this gave: `more` columns say so."""
        return (*numbers_of(items, max(items.ends)), *[int(LAST)] * more)

    # Figures ----------------------------------------------------------------------------------------------------

    def figures(self) -> Iterator[Row]:
        """What was counted since `begin_figures`, or the start."""
        self.reporter.write()
        yield self.sender.figures(self.counted(), 0, list(self.element.notes))

    def counted(self) -> dict[str, OperatorMetrics]:
        return {
            name: OperatorMetrics(
                *(getattr(now, each.name) - getattr(self.before[name], each.name) for each in fields(now))
            )
            for name, now in self.element.metrics.items()
        }

    def begin_figures(self) -> None:
        """Count from here on: those of the batches before are with the driver."""
        self.before = {name: replace(counted) for name, counted in self.element.metrics.items()}


def schema_on_arrival(layout: Layout, arrival: Arrival) -> Schema:
    """Of a stream that comes to a place; only times come of one that moves a clock."""
    known = layout.graph.operator(arrival.stream.operator).outputs[arrival.stream.port].schema
    clock = arrival.clock
    return known if clock is None or not clock.is_bare else schema_of_times(known, clock.window)


def numbers_behind(items: Items, chunk: Chunk) -> tuple[Columns, Columns]:
    """The places in the order that tuples of an output have from their items, and those of its punctuations, if any."""
    order = tuple(column[known(chunk.origins)] for column in items.order)
    if not len(chunk.punctuations):
        return order, ()
    return order, tuple(column[known(chunk.punctuation_origins)] for column in items.order)


def indices(chunk: Chunk) -> tuple[Column, Column]:
    """Which each tuple, and each punctuation, is of all that came from one item."""
    origins, before = known(chunk.origins), np.array(chunk.punctuations, np.int64)
    if not len(before):
        return indices_of(origins), before
    found = indices_of(np.insert(origins, before, known(chunk.punctuation_origins)))
    places = before + np.arange(len(before))
    return np.delete(found, places), found[places]


def turns(chunk: Chunk) -> tuple[Column, Column]:
    """The same, of all that came from one item on any output."""
    return known(chunk.turns), known(chunk.punctuation_turns)


def known(origins: Column | None) -> Column:
    """Native code that never gives anything has none."""
    return np.empty(0, np.int64) if origins is None else origins


def numbers_of(items: Items, at: int) -> tuple[int, ...]:
    """The place of an item in the order."""
    return tuple(int(column[at]) for column in items.order)
