"""A channel of windows: what it gives at one moment is put in order by columns of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from anabranch.codegen.chunks import Chunk, as_columns
from anabranch.codegen.pe import Stopped
from anabranch.dataflow.channels.channel import Channel, numbers_of
from anabranch.dataflow.channels.handing_on import Inbox
from anabranch.dataflow.order.groups import groups_of
from anabranch.dataflow.order.keyed_emission_order import as_known, with_numbers, without_numbers, without_ranks
from anabranch.dataflow.order.meeting import Items, put_in_order
from anabranch.dataflow.order.order_columns import LAST, Moment
from anabranch.dataflow.order.pieces import Piece
from anabranch.dataflow.transport.shipping import Job
from anabranch.errors import OperatorError, RunError
from anabranch.graph.places import Place
from anabranch.operators.metrics import OperatorMetrics


class WindowChannel(Channel):
    """Of a ranked place: one operator with windows."""

    def __init__(self, job: Job, place: Place, inbox: Inbox) -> None:
        super().__init__(job, place, inbox)
        [self.name] = place.operators
        self.part = job.code[place.id].part
        self.ranks = place.ranks
        self.groups = groups_of(self.part.operator(self.name), self.ranks)
        self.numbers = len(self.ranks) if self.groups is None else self.groups.numbers
        self.operator = job.layout.graph.operator(self.name)

    def items(self, stretch: int, arrived: list[Piece]) -> Items:
        one = arrived[0]
        if self.ranks:
            one = with_numbers(one, stretch, self.part.schema(self.part.inputs[0]))
        items = put_in_order([one, *arrived[1:]], [arrival.lineage for arrival in self.arriving])
        self.ticks += sum(len(one.chunk) for one in arrived[1:])
        return items

    def pieces(self, items: Items, outputs: list[Chunk]) -> list[Piece]:
        if not self.ranks:
            return super().pieces(items, outputs)
        return [
            self._closed(items, chunk) if stream.port == 0 else self._beside(items, chunk, stream.port)
            for stream, chunk in zip(self.place.outputs, outputs, strict=True)
        ]

    def _closed(self, items: Items, chunk: Chunk) -> Piece:
        """What windows gave when they closed."""
        ranked = as_columns(chunk)
        known, ranks = without_ranks(ranked, self.operator.outputs[0].schema, self.numbers)
        if self.groups is not None:
            ranks = self.groups.ranks(ranked, ranks, chunk.origins)
        return self.ranked_piece(items, chunk, known, ranks)

    def _beside(self, items: Items, chunk: Chunk, port: int) -> Piece:
        """Dead letters of windows that closed are among those; behind them are those of tuples, and late tuples."""
        ranks = np.full((len(chunk), len(self.ranks)), LAST)
        if self.operator.outputs[port].name == "dead_letter":
            for at, closing in enumerate(self._take_letters()):
                ranks[at] = closing or LAST
        known = without_numbers(as_columns(chunk), self.operator.outputs[port].schema)
        return self.ranked_piece(items, chunk, known, tuple(ranks.T))

    def _take_letters(self) -> list[tuple[Any, ...]]:
        """For each dead letter, the ranks of the window that failed when it closed."""
        python = self._in_python
        if python is None:
            return []
        meaning = python.meaning(self.name)
        letters: list[tuple[Any, ...]] = meaning.letters
        meaning.letters = []
        return letters

    @property
    def _in_python(self) -> Any:
        """The element that works where something fails: native code does not."""
        return getattr(self.element, "python", self.element)

    def moment(self, items: Items, stopped: Stopped) -> Moment:
        """Where windows of several channels close at once, the one that failed has a place among them."""
        at = stopped.begun - 1
        is_mark = at in items.ends or at in items.punctuations
        if not self.ranks or (not is_mark and (items.turns is None or items.turns[at] == 0)):
            return super().moment(items, stopped)
        ranks = self._in_python.meaning(self.name).closing
        if self.groups is not None:
            given = [stream.port for stream in self.place.outputs].index(0)
            ranks = self.groups.ranks_of_failed(ranks, at, stopped.outputs[given])
        return Moment((*self.lineage, *self.ranks), (*numbers_of(items, at), *ranks))

    def error(self, error: RunError) -> RunError:
        if isinstance(error, OperatorError) and isinstance(error.item, tuple):
            error.item = as_known(error.item, self.schema(0).type)
        return error

    # Figures ----------------------------------------------------------------------------------------------------

    def counted(self) -> dict[str, OperatorMetrics]:
        """Times that others sent are no tuples."""
        found = super().counted()
        own = found[self.name]
        return {**found, self.name: replace(own, received=own.received - self.ticks)}

    def begin_figures(self) -> None:
        super().begin_figures()
        self.ticks = 0
