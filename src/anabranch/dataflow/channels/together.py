"""A channel of a place, with those of the places that follow it in the same task: what is addressed, saved, counted."""

from __future__ import annotations

from collections.abc import Iterator

from anabranch.codegen.pe import Saved
from anabranch.codegen.stages import SavedTogether
from anabranch.dataflow.channels.channel import Channel, schema_on_arrival
from anabranch.dataflow.channels.handing_on import Follower, Inbox, Pieces
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.shipping import Job


class Together:
    """Works stretch by stretch: each of the places when all has come to it."""

    def __init__(self, job: Job, leading: Channel, inbox: Inbox) -> None:
        self.leading = leading
        self.inbox = inbox
        self.place = leading.place
        self.sender = leading.sender
        self.layout = job.layout
        self.coming = job.layout.coming_to(leading.place)

    @property
    def _each(self) -> list[Follower]:
        return [self.leading, *self.inbox.followers]

    @property
    def state(self) -> Saved:
        """All that is kept here, to be saved and restored."""
        states = [state for each in self._each if isinstance(each, Channel) for state in each.kept()]
        return states[0] if len(states) == 1 else SavedTogether(states)

    @property
    def is_broken(self) -> bool:
        """Whether an operator stopped the run."""
        return any(each.is_broken for each in self._each)

    def process_stretch(self, stretch: int, rows: list[Row]) -> Iterator[Row]:
        own: Pieces = [[] for _ in self.leading.arriving]
        for row in rows:
            arrival = self.coming[row.arrival]
            piece = row.piece(schema_on_arrival(self.layout, arrival))
            if arrival.place == self.place.id:
                own[row.arrival].append(piece)  # its own come first
            else:
                self.inbox.add(arrival, piece)
        if any(own):
            yield from self.leading.process(stretch, own)
        yield from self.inbox.process(stretch)

    def figures(self) -> Iterator[Row]:
        """What was counted since `begin_figures`, or the start."""
        for each in self._each:
            yield from each.figures()

    def begin_figures(self) -> None:
        """Count from here on: those of the batches before are with the driver."""
        for each in self._each:
            each.begin_figures()
