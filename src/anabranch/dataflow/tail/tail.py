"""The tail of a program: what has no parallel region behind it, with the sinks, in the driver's process."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType

from anabranch.codegen.chunks import Chunk
from anabranch.dataflow.executed import Fact
from anabranch.dataflow.layout.place_parts import part_of_tail
from anabranch.dataflow.order.meeting import Items, put_in_order
from anabranch.dataflow.order.order_columns import Moment
from anabranch.dataflow.order.pieces import Piece, cut_short, join_pieces
from anabranch.dataflow.result import Metrics, Result, collected
from anabranch.dataflow.tail.interrupts import Shield
from anabranch.dataflow.tail.local_part import LocalPart
from anabranch.dataflow.transport.lines import LINES, line_of
from anabranch.dataflow.transport.printing import say
from anabranch.dataflow.transport.rows import Kind, Row
from anabranch.dataflow.transport.sending import FIGURES
from anabranch.dataflow.transport.shipping import unship_error, unship_figures
from anabranch.dataflow.transport.spooling import fetch
from anabranch.errors import RunError
from anabranch.graph.order_keys import width
from anabranch.graph.places import TAIL, Phase
from anabranch.graph.plan import Plan
from anabranch.graph.schema import Schema
from anabranch.operators.base import SinkMeaning
from anabranch.tripwire.telling import error_of


@dataclass(frozen=True)
class Arranged:
    """What the tail has to do for a stretch: the tuples, and the error behind them if there is one."""

    items: Items | None
    error: RunError | None
    said: tuple[Row, ...] = ()  # by tasks
    refused_by: str | None = None  # the sink that would have received a tuple of which no line could be made


@dataclass(frozen=True)
class Failure:
    """What stops a run, and when."""

    stretch: int
    moment: Moment
    error: RunError

    def is_before(self, other: Failure | None) -> bool:
        if other is None or self.stretch != other.stretch:
            return other is None or self.stretch < other.stretch
        return self.moment.is_before(other.moment)


class Tail:
    """Takes the rows that channels send, a stretch after the other."""

    def __init__(
        self,
        plan: Plan,
        phase: Phase,
        metrics: Metrics,
        *,
        tracks_changes: bool = False,
        taken: Mapping[str, Callable[[Chunk], None]] = MappingProxyType({}),
    ) -> None:
        layout = phase.layout
        self.plan = plan
        self.phase = phase.name
        self.graph = layout.graph
        self.metrics = metrics
        self.arriving = layout.arriving(TAIL)
        part = part_of_tail(plan, phase)
        self.spool = ""  # the folder of rows that are in files
        self.states: dict[tuple[int, int], Row] = {}  # of channels that go on in another job, by place and number
        self.written: list[int] = []  # files of an output, by tasks
        self.is_ordered = layout.is_ordered
        # Where tasks write what the program gives, there is nothing to do here.
        self.local: LocalPart | None = None
        if part is not None:
            self.local = LocalPart(part, plan, phase, metrics, tracks_changes=tracks_changes, taken=taken)
            self.add_executed(self.local.executed())

    @property
    def sinks(self) -> list[SinkMeaning]:
        """In the order of the program, but for those that tasks write."""
        return self.local.sinks() if self.local is not None else []

    @property
    def notes(self) -> list[str]:
        return self.local.element.notes if self.local is not None else []

    def process_all(self, arriving: Iterator[Row], shield: Shield) -> tuple[int, RunError] | None:
        """Process what arrives, up to the first error in the order. That is returned, with its stretch."""
        if not self.is_ordered:
            failed = self._process_in_any_order(arriving, shield)
            return None if failed is None else (failed.stretch, failed.error)
        for stretch, arranged in self.in_order(arriving):
            error = self.process(arranged, shield)
            if error is not None:
                return stretch, error
        return None

    def _process_in_any_order(self, arriving: Iterator[Row], shield: Shield) -> Failure | None:
        """Errors come first, and nothing behind them is written. What comes before may still arrive."""
        failed: Failure | None = None
        for row in arriving:
            found: Failure | None = None
            if row.stretch == FIGURES:
                self._put_aside([row])
            elif row.kind == Kind.ERROR:
                found = Failure(row.stretch, *unship_error(bytes(row.payload), self.graph))
            elif row.kind == Kind.PRINTED:
                say([row])
            elif failed is None or row.stretch <= failed.stretch:
                found = self._process_alone(row, failed, shield)
            if found is not None and found.is_before(failed):
                failed = found
        return failed

    def _process_alone(self, row: Row, failed: Failure | None, shield: Shield) -> Failure | None:
        """Write what a row holds that comes before a failure. The only sink may refuse a tuple of it."""
        [arrival] = self.arriving
        arrived = fetch(row, self.spool).piece(self._schema(0))
        if failed is not None and row.stretch == failed.stretch:
            arrived = self._cut(0, arrived, failed.moment)
        counted = self.metrics[self.graph.sinks[0].id]
        before = counted.received
        try:
            self.process(Arranged(put_in_order([arrived], [arrival.lineage]), None), shield)
        except RunError as error:
            at = max(0, counted.received - before - 1)
            numbers = tuple(int(column[at]) for column in arrived.order)
            return Failure(row.stretch, Moment(arrival.lineage, numbers), error)
        return None

    def in_order(self, arriving: Iterator[Row]) -> Iterator[tuple[int, Arranged]]:
        """The stretches of rows that come by stretch; the next is being put in order while one is processed."""
        with ThreadPoolExecutor(1, thread_name_prefix="arrange") as thread:
            begun: tuple[int, Future[Arranged]] | None = None
            for stretch, rows in groupby(arriving, key=lambda row: row.stretch):
                if stretch == FIGURES:
                    self._put_aside(rows)
                    continue
                ahead = stretch, thread.submit(self.arranged, list(rows))
                if begun is not None:
                    yield begun[0], begun[1].result()
                begun = ahead
            if begun is not None:
                yield begun[0], begun[1].result()

    def _put_aside(self, rows: Iterable[Row]) -> None:
        counted = []
        for row in rows:
            if row.kind == Kind.FIGURES:
                counted.append(row)
            elif row.kind == Kind.WRITTEN:
                self.written += json.loads(bytes(row.payload))
            elif row.kind == Kind.CHANGE:
                raise self.changed(row)
            else:
                self.states[row.arrival, row.channel] = row
        self.add_figures(counted)

    def process_stretch(self, rows: Iterable[Row], shield: Shield) -> RunError | None:
        """Process what has arrived within a stretch, up to the first error in it."""
        return self.process(self.arranged(rows), shield)

    def arranged(self, rows: Iterable[Row]) -> Arranged:
        """What has arrived within a stretch, in order. Nothing is changed by this, so it may be done ahead."""
        failed: tuple[Moment, RunError] | None = None
        pieces: list[list[Piece]] = [[] for _ in self.arriving]
        said: list[Row] = []
        for row in rows:
            if row.kind == Kind.PRINTED:
                said.append(row)
            elif row.kind == Kind.ERROR:
                found = unship_error(bytes(row.payload), self.graph)
                if failed is None or found[0].is_before(failed[0]):
                    failed = found
            else:
                pieces[row.arrival].append(fetch(row, self.spool).piece(self._schema(row.arrival)))
        arrived = [
            join_pieces(self._schema(number), each, width(self.arriving[number].lineage))
            for number, each in enumerate(pieces)
        ]
        if failed is not None:
            arrived = [self._cut(number, one, failed[0]) for number, one in enumerate(arrived)]
        lineages = [arrival.lineage for arrival in self.arriving]
        items = put_in_order(arrived, lineages) if self.local is not None else None
        if failed is None:
            return Arranged(items, None, tuple(said))
        return Arranged(items, failed[1], tuple(said), self._refused_by(failed[0]))

    def process(self, arranged: Arranged, shield: Shield) -> RunError | None:
        """Process the tuples of a stretch, and return the error that ends it."""
        say(arranged.said)
        if self.local is not None and arranged.items:
            with shield:
                self.local.process(arranged.items, len(arranged.items), lambda begun: None)
        if arranged.refused_by is not None:
            self.metrics[arranged.refused_by].received += 1
        return arranged.error

    def _refused_by(self, moment: Moment) -> str | None:
        sinks = [each.lines.sink for each in self.arriving if each.lines is not None]
        return next((sink for sink in sinks if moment.lineage[-1:] == (line_of(sink),)), None)

    def _schema(self, arrival: int) -> Schema:
        if self.arriving[arrival].lines is not None:
            return LINES
        return self.graph.schema(self.arriving[arrival].stream)

    def _cut(self, number: int, one: Piece, moment: Moment) -> Piece:
        return cut_short(one, self.arriving[number].lineage, moment)

    def add_figures(self, rows: Iterable[Row]) -> None:
        """What tasks have counted."""
        for row in rows:
            figures = unship_figures(bytes(row.payload))
            self.metrics.tuples_in += figures.tuples_in
            self.metrics.notes += [note for note in figures.notes if note not in self.metrics.notes]
            self.add_executed(figures.executed)
            for operator_id, counted in figures.operators.items():
                own = self.metrics[operator_id]
                for name, count in vars(counted).items():
                    setattr(own, name, getattr(own, name) + count)

    def add_executed(self, facts: Iterable[Fact]) -> None:
        """What was done in this phase."""
        self.metrics.executed |= dict.fromkeys((self.phase, fact) for fact in facts)

    def check(self) -> None:
        """Before what it gave is taken for good."""
        if self.local is not None:
            self.local.check()

    def changed(self, row: Row) -> RunError:
        return error_of(pickle.loads(bytes(row.payload)), self.graph)

    def result(self) -> Result:
        return Result(self.plan, self.metrics, collected(self.sinks))
