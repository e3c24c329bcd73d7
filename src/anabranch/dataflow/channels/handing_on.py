"""What a place gives, to those who go on with it: in the same task, or as rows for other places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from anabranch.dataflow.order.pieces import Piece
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.sending import Sender
from anabranch.graph.model import StreamId
from anabranch.graph.places import Arrival, Layout, Place

Pieces = list[list[Piece]]  # by arrival


class Follower(Protocol):
    """What goes on in the same task with what a place gives."""

    place: Place
    arriving: list[Arrival]

    @property
    def is_broken(self) -> bool: ...

    def process(self, stretch: int, pieces: Pieces) -> Iterator[Row]: ...

    def figures(self) -> Iterator[Row]: ...

    def begin_figures(self) -> None: ...


class Inbox:
    """Those that follow a place in one task, and what has come for each of them within a stretch."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.followers: Sequence[Follower] = ()
        self._pieces: dict[str, Pieces] = {}

    def hand_on(self, sender: Sender, stretch: int, given: Iterable[tuple[StreamId, Piece]]) -> Iterator[Row]:
        """Rows for other places; what comes to those that follow waits until it is their turn."""
        here = [follower.place.id for follower in self.followers]
        for stream, piece in given:
            for arrival in self.layout.leaving(stream):
                if arrival.place not in here:
                    yield from sender.rows(arrival, stretch, piece)
                elif not piece.is_empty:
                    sender.note_handed_on(arrival, piece)
                    self.add(arrival, piece)

    def add(self, arrival: Arrival, piece: Piece) -> None:
        arriving = next(each.arriving for each in self.followers if each.place.id == arrival.place)
        pieces = self._pieces.setdefault(arrival.place, [[] for _ in arriving])
        pieces[arriving.index(arrival)].append(piece)

    def process(self, stretch: int) -> Iterator[Row]:
        """They follow one another, in the order of the places: all that comes to one is there when it has its turn."""
        for follower in self.followers:
            pieces = self._pieces.pop(follower.place.id, None)
            if pieces is not None:
                yield from follower.process(stretch, pieces)
