"""What places give to others: pieces of streams, errors and figures as rows."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from anabranch.codegen.chunks import take_tuples
from anabranch.codegen.pe import ProcessingElement
from anabranch.codegen.stages import functions_of
from anabranch.dataflow.executed import Fact, HandedOn, Ran, Sent
from anabranch.dataflow.order.order_columns import Column, Moment
from anabranch.dataflow.order.pieces import Piece
from anabranch.dataflow.order.ticks import bare_times, latest, ticks
from anabranch.dataflow.transport.lines import LineMaker, line_of
from anabranch.dataflow.transport.routing import channels_of
from anabranch.dataflow.transport.rows import Kind, Row
from anabranch.dataflow.transport.shipping import Figures, ship_error, ship_figures
from anabranch.errors import RunError
from anabranch.graph.places import PARTS, TAIL, Arrival, Clock, Layout, Place
from anabranch.graph.windows import Window
from anabranch.operators.metrics import OperatorMetrics
from anabranch.tripwire.arrays import written
from anabranch.tripwire.reached import Change

FIGURES = -1  # the stretch of rows that carry figures or states: they come first


def by_channel(channels: Column, count: int) -> list[Column]:
    """For each of so many channels the positions of its tuples, in order. Channels may be many more than tuples."""
    small = channels.astype(np.uint16) if count <= 1 << 16 else channels  # those are sorted fastest
    positions = np.argsort(small, kind="stable")
    ends = np.searchsorted(channels[positions], np.arange(1, count))
    return np.split(positions, ends)


class Sender:
    """What a place gives to others: pieces of its output streams as rows."""

    def __init__(self, layout: Layout, *, sends_all: bool = True) -> None:
        """`sends_all` where nobody else sends tuples of a source in the same stretch."""
        self.layout = layout
        self.sends_all = sends_all
        self.executed: dict[Fact, None] = {}  # by whom it is used, so far
        self.makers = {
            id(each): LineMaker(layout.graph.operator(each.lines.sink), each.lines)
            for each in layout.arrivals
            if each.lines is not None
        }
        self.numbers = {place.id: number for number, place in enumerate(layout.places)}
        # What comes to a place that follows another comes to that one, which hands it on.
        self.addresses = {
            id(arrival): (self.numbers[place.id], at)
            for place in layout.places
            if place.follows is None
            for at, arrival in enumerate(layout.coming_to(place))
        }

    def rows(self, arrival: Arrival, stretch: int, piece: Piece) -> Iterator[Row]:
        """The rows that take a piece to its channels; punctuations and the end go to all of them."""
        place = self.layout.place(arrival.place)
        first = 0 if place.is_tail else self.layout.first_channel(place)
        if arrival.clock is not None:
            yield from self._clock_rows(arrival, arrival.clock, stretch, piece)
            return
        if arrival.lines is not None:
            yield from self._lines(arrival, self.makers[id(arrival)], stretch, piece)
            return
        if place.channels == 1 or not arrival.key:
            if not piece.is_empty:
                self._note(arrival, piece, place.channels)
                yield self._row(arrival, first + stretch % place.channels, stretch, piece)
            return
        key, bounds = arrival.key, arrival.bounds
        channels = channels_of(piece.chunk, key, place.channels, bounds)
        self._note(arrival, piece, place.channels, key, bounds)
        goes_to_all = piece.end is not None or bool(piece.punctuations)
        for channel, positions in enumerate(by_channel(channels, place.channels)):
            if not len(positions) and not goes_to_all:
                continue
            of_channel = tuple(column[positions] for column in piece.order)
            mine = Piece(take_tuples(piece.chunk, positions), of_channel, piece.end, piece.punctuations)
            yield self._row(arrival, first + channel, stretch, mine)

    def _lines(self, arrival: Arrival, maker: LineMaker, stretch: int, piece: Piece) -> Iterator[Row]:
        """What a sink will write of a piece; an error where it could not, at that place in the order."""
        if piece.is_empty:
            return
        made, error = maker.make(piece.chunk)
        columns = None if piece.columns is None else tuple(column[: len(made)] for column in piece.columns)
        lines = Piece(made, columns, piece.end, piece.punctuations)
        self._note(arrival, lines, 1, lines=maker.format)
        yield self._row(arrival, 0, stretch, lines)
        if error is not None:
            numbers = tuple(int(column[len(made)]) for column in piece.order)
            # Before what failed when it had given the tuple: a sink has its turn first.
            moment = Moment((*arrival.lineage, line_of(maker.sink.id)), (*numbers, 0))
            yield from self.error(stretch, moment, error)

    def _note(
        self,
        arrival: Arrival,
        piece: Piece,
        channels: int,
        key: tuple[str, ...] = (),
        bounds: tuple[Any, ...] = (),
        clock: Window | None = None,
        lines: str | None = None,
    ) -> None:
        """What was done with a piece, from what it was done with."""
        stream, to = arrival.stream, (arrival.place, channels, key, len(bounds))
        window = str(clock) if clock is not None else None
        self.executed[Sent(stream.operator, stream.port, *to, len(piece.order), window, lines)] = None

    def note_handed_on(self, arrival: Arrival, piece: Piece) -> None:
        """A piece stays in this task."""
        stream, columns = arrival.stream, len(piece.order)
        self.executed[HandedOn(stream.operator, stream.port, arrival.place, columns)] = None

    def _clock_rows(self, arrival: Arrival, clock: Clock, stretch: int, piece: Piece) -> Iterator[Row]:
        """What moves the time, to all channels that need it."""
        place, window = self.layout.place(arrival.place), clock.window
        first = self.layout.first_channel(place)
        sends_all = self.sends_all and self.layout.place_of(arrival.stream.operator).channels == 1  # of a stretch
        if clock.is_bare or clock.has_boundaries or not sends_all:
            if clock.is_bare:
                moving = bare_times(piece, window)  # it is not known when tuples come on the other input
            else:
                moving = ticks(piece, window) if clock.has_boundaries else latest(piece, window, None)
            self._note(arrival, moving, place.channels, clock=window)
            if not moving.is_empty:
                row = self._row(arrival, first, stretch, moving).packed()  # once for all channels
                yield from (replace(row, channel=first + channel) for channel in range(place.channels))
            return
        key, bounds = arrival.key, arrival.bounds
        channels = channels_of(piece.chunk, key, place.channels, bounds)
        self._note(arrival, piece, place.channels, key, bounds, window)
        for channel, positions in enumerate(by_channel(channels, place.channels)):
            moving = latest(piece, window, positions)
            if not moving.is_empty:
                yield self._row(arrival, first + channel, stretch, moving)

    def _row(self, arrival: Arrival, channel: int, stretch: int, piece: Piece) -> Row:
        place, at = self.addresses[id(arrival)]
        return Row(channel, place, stretch, at, Kind.CHUNK, piece)

    def change(self, change: Change) -> Row:
        """What channels share is not the same for all of them."""
        return Row(0, self.numbers[TAIL], FIGURES, 0, Kind.CHANGE, pickle.dumps(change))

    def failure(self, stretch: int, moment: Moment, error: RunError) -> Row:
        """An error, for the driver."""
        return Row(0, self.numbers[TAIL], stretch, 0, Kind.ERROR, ship_error(moment, error))

    def error(self, stretch: int, moment: Moment, error: RunError) -> Iterator[Row]:
        """An error, for the driver and for those who write what comes before it."""
        change = written(error)
        if change is not None:
            yield self.change(change)
            return
        row = self.failure(stretch, moment, error)
        yield row
        if PARTS in self.numbers and self.layout.place(PARTS).follows is None:
            place = self.layout.place(PARTS)
            channel = self.layout.first_channel(place) + stretch % place.channels
            yield replace(row, channel=channel, place=self.numbers[PARTS])

    def state(self, channel: int, place: Place, state: bytes) -> Row:
        """What a channel will need in the next round, for the driver to keep; `arrival` is the place."""
        return Row(channel, self.numbers[TAIL], FIGURES, self.numbers[place.id], Kind.STATE, state)

    def written(self, parts: list[int]) -> Row:
        """Which files of an output are there now, for the driver to check."""
        return Row(0, self.numbers[TAIL], FIGURES, 0, Kind.WRITTEN, json.dumps(parts).encode())

    def end(self, stretch: int) -> Row:
        """There are no stretches behind this one."""
        return Row(0, self.numbers[TAIL], stretch, 0, Kind.END, b"")

    def figures(self, operators: dict[str, OperatorMetrics], tuples_in: int, notes: list[str]) -> Row:
        figures = Figures(operators, tuples_in, notes, list(self.executed))
        return Row(0, self.numbers[TAIL], FIGURES, 0, Kind.FIGURES, ship_figures(figures))

    def begin(self, place: str, element: ProcessingElement | None) -> None:
        """Who sends has made an element for a place."""
        for each in functions_of(element) if element is not None else ():
            self.executed[Ran(place, *each)] = None
