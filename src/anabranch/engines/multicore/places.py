"""The places of a job as levels of units that workers run, each a channel with its own state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from anabranch.dataflow.channels.levels import channel_at
from anabranch.dataflow.channels.together import Together
from anabranch.dataflow.order.pieces import Piece
from anabranch.dataflow.tail.parts import PartWriter
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.sending import FIGURES
from anabranch.dataflow.transport.shipping import Job
from anabranch.dataflow.transport.spooling import fetch
from anabranch.graph.places import PARTS
from anabranch.workers.parcels import Parcel

Levels = list[dict[str, dict[int, "ChannelUnit"]]]


class ChannelUnit:
    """A channel of a place, and of those that follow it."""

    def __init__(self, places: Places, number: int, channel: Together | PartWriter) -> None:
        self.number = number
        self.channel = channel
        self.is_touched = False
        self._places = places

    def process(self, stretch: int, given: list[Parcel]) -> list[Parcel]:
        self.is_touched = True
        rows = [fetch(parcel.what, self._places.job.scratch) for parcel in given]
        return self._places.address(self.channel.process_stretch(stretch, rows))

    def restore(self, row: Row) -> None:
        """Go on where another job was."""
        assert isinstance(self.channel, Together)
        self.is_touched = True
        self.channel.state.restore(bytes(fetch(row, self._places.job.scratch).payload))
        self.channel.begin_figures()

    def ended(self) -> Iterator[Row]:
        """What is left to say: figures, and where another job goes on."""
        yield from self.channel.figures()
        if self._places.job.keeps_state and isinstance(self.channel, Together) and not self.channel.is_broken:
            yield self.channel.sender.state(self.number, self.channel.place, self.channel.state.save())


class Places:
    """All of them but the tail. What is made for a unit is made here, before there is a first tuple."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.tail = len(job.layout.levels) + 1  # the level of it
        self.levels: Levels = []
        for places in job.layout.levels:
            level: dict[str, dict[int, ChannelUnit]] = {}
            for place in places:
                first = job.layout.first_channel(place)
                numbers = range(first, first + place.channels)
                level[place.id] = {
                    number: ChannelUnit(
                        self,
                        number,
                        PartWriter(job) if place.id == PARTS else channel_at(job, place, number=number),
                    )
                    for number in numbers
                }
            self.levels.append(level)

    @property
    def units(self) -> Iterator[ChannelUnit]:
        return (unit for level in self.levels for units in level.values() for unit in units.values())

    def restore(self, rows: Iterable[Row]) -> None:
        """The states of channels, which come without a stretch."""
        for row in rows:
            if row.stretch == FIGURES:
                place = self.job.layout.places[row.place]
                self.levels[place.level - 1][place.id][row.channel].restore(row)

    def address(self, rows: Iterable[Row]) -> list[Parcel]:
        """Where each goes. What goes to the tail is of one unit, and so is what is said without a stretch."""
        return [self._parcel(row) for row in rows]

    def _parcel(self, row: Row) -> Parcel:
        place = self.job.layout.places[row.place]
        size = len(row.payload.chunk) if isinstance(row.payload, Piece) else 0
        if place.is_tail:
            return Parcel(self.tail, 0, size, row)
        return Parcel(place.level, row.channel, size, row)

    def ended(self) -> Iterator[Row]:
        """What all that did something have left to say."""
        for unit in self.units:
            if unit.is_touched or not self.job.keeps_state:
                yield from unit.ended()
