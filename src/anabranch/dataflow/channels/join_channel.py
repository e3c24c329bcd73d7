"""A channel of a join over windows of time: its clock is the largest time on either input, whatever the key.

Who sends tuples to the channels sends the times that move the clock to all of them. They are put in order with the
channel's own tuples, so that the join can be told the time of the whole streams before each of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.codegen.stages import element_of
from anabranch.dataflow.channels.channel import Channel
from anabranch.dataflow.channels.handing_on import Inbox, Pieces
from anabranch.dataflow.order.meeting import Items, put_in_order
from anabranch.dataflow.order.pieces import Piece
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.shipping import Job
from anabranch.graph.places import Place


class JoinChannel(Channel):
    """Of a place that begins with such a join. The clock is part of the join's state, so it is kept with that."""

    def __init__(self, job: Job, place: Place, inbox: Inbox) -> None:
        super().__init__(job, place, inbox)
        element = element_of(self.element, place.operators[0])  # in the Python form: joins are not native
        self.join = element.meaning(place.operators[0])
        self.join.told = lambda: self.times[self.passed[element.at]]
        self.times: list[Any] = []
        self.passed: list[int] = []
        self.has_tuples = [arrival.clock is None for arrival in self.arriving]
        self.is_datetime = [self._is_datetime(at) for at in range(len(self.arriving))]

    def _is_datetime(self, arrival: int) -> bool:
        clock, stream = self.arriving[arrival].clock, self.arriving[arrival].stream
        schema = self.layout.graph.operator(stream.operator).outputs[stream.port].schema
        return clock is not None and schema[str(clock.window.on)].kind == "datetime"

    def process(self, stretch: int, pieces: Pieces) -> Iterator[Row]:
        yield from super().process(stretch, pieces)
        if not self.has_stopped:
            self.join.pass_to(self.times[-1])  # what has left the windows is forgotten, also where no tuple came since

    def items(self, stretch: int, arrived: list[Piece]) -> Items:
        """The tuples; and of the times between them, how many come before each, and the largest of so many."""
        lineages = [arrival.lineage for arrival in self.arriving]
        turns = put_in_order(arrived, lineages).turns  # a time stands behind the tuple that it is of
        assert turns is not None
        is_item = np.array(self.has_tuples)[turns]
        self.passed = np.cumsum(~is_item)[is_item].tolist()
        self.times = [None, *self._largest(arrived, turns[~is_item])]
        own = [at for at, has_tuples in enumerate(self.has_tuples) if has_tuples]
        return put_in_order([arrived[at] for at in own], [lineages[at] for at in own])

    def _largest(self, arrived: list[Piece], turns: npt.NDArray[np.uint16]) -> list[Any]:
        """The largest of the times up to each of them, in the order of their turns."""
        batches = {at: one.chunk.batch for at, one in enumerate(arrived) if not self.has_tuples[at]}
        times = np.empty(len(turns), next(iter(batches.values())).column(0).to_numpy().dtype)
        for at, batch in batches.items():
            times[turns == at] = batch.column(0).to_numpy()
        if any(self.is_datetime):
            times[self._are_errors(batches, turns)] = np.iinfo(np.int64).min
        largest: list[Any] = np.maximum.accumulate(times).tolist()
        return largest

    def _are_errors(self, batches: dict[int, Any], turns: npt.NDArray[np.uint16]) -> npt.NDArray[np.bool_]:
        """Which datetimes have a zone where the first of all has none, or the reverse: they move nothing."""
        zones = np.zeros(len(turns), bool)
        is_datetime = np.array(self.is_datetime)[turns]
        for at, batch in batches.items():
            zones[turns == at] = batch.column(1).to_numpy(zero_copy_only=False)
        if self.join.has_zone is None and is_datetime.any():
            self.join.has_zone = bool(zones[is_datetime.argmax()])
        are_errors: npt.NDArray[np.bool_] = is_datetime & (zones != self.join.has_zone)
        return are_errors
