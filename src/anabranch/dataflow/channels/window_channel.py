"""A channel of windows: what it gives at one moment is put in order by columns of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anabranch.codegen.chunks import Chunk, as_columns
from anabranch.codegen.pe import Stopped
from anabranch.dataflow.channels.channel import Channel, Follower, numbers_of
from anabranch.dataflow.order.groups import groups_of
from anabranch.dataflow.order.keyed_emission_order import as_known, with_numbers, without_ranks
from anabranch.dataflow.order.meeting import Items, put_in_order
from anabranch.dataflow.order.order_columns import Moment
from anabranch.dataflow.order.pieces import Piece
from anabranch.dataflow.transport.shipping import Job
from anabranch.errors import OperatorError, RunError
from anabranch.graph.places import Place
from anabranch.operators.metrics import OperatorMetrics


class WindowChannel(Channel):
    """Of a ranked place: one operator with windows."""

    def __init__(self, job: Job, place: Place, followers: Sequence[Follower]) -> None:
        super().__init__(job, place, followers)
        [self.name] = place.operators
        self.part = job.code[place.id].part
        self.ranks = place.ranks
        self.groups = groups_of(self.part.operator(self.name), self.ranks)
        self.numbers = len(self.ranks) if self.groups is None else self.groups.numbers
        self.given = job.layout.graph.operator(self.name).outputs[0].schema

    def items(self, stretch: int, arrived: list[Piece]) -> Items:
        one = arrived[0]
        if self.ranks:
            one = with_numbers(one, stretch, self.part.schema(self.part.inputs[0]))
        items = put_in_order([one, *arrived[1:]], [arrival.lineage for arrival in self.arriving])
        self.ticks += sum(len(one.chunk) for one in arrived[1:])
        return items

    def piece(self, items: Items, chunk: Chunk) -> Piece:
        if not self.ranks:
            return super().piece(items, chunk)
        ranked = as_columns(chunk)
        known, ranks = without_ranks(ranked, self.given, self.numbers)
        if self.groups is not None:
            ranks = self.groups.ranks(ranked, ranks, chunk.origins)
        return self.ranked_piece(items, chunk, known, ranks)

    def moment(self, items: Items, stopped: Stopped) -> Moment:
        """Where windows of several channels close at once, the one that failed has a place among them."""
        at = stopped.begun - 1
        is_mark = at in items.ends or at in items.punctuations
        if not self.ranks or (not is_mark and (items.batch.turns is None or items.batch.turns[at] == 0)):
            return super().moment(items, stopped)
        element: Any = self.element
        failed = getattr(element, "python", element).meaning(self.name)  # native code does not fail
        ranks = failed.closing
        if self.groups is not None:
            ranks = self.groups.ranks_of_failed(failed.closing, at, stopped.outputs[0])
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
