"""The one loop over what sources give, and what every task that reads them does with a stretch of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, TypeAlias, cast

from anabranch.codegen.chunks import Batch, Chunk
from anabranch.dataflow.channels.handing_on import Inbox
from anabranch.dataflow.executed import Read
from anabranch.dataflow.order.order_columns import Moment
from anabranch.dataflow.order.pieces import Piece
from anabranch.dataflow.sources.source_count import Failed, SourceCount, Tally
from anabranch.dataflow.sources.source_order import Drawn
from anabranch.dataflow.sources.source_slices import read_all
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.sending import Sender
from anabranch.dataflow.transport.shipping import Job
from anabranch.dataflow.transport.task_progress import Reporter
from anabranch.errors import RunError
from anabranch.graph.model import Operator, StreamId
from anabranch.graph.order_keys import DRAW
from anabranch.graph.places import SOURCES, Reading
from anabranch.operators.base import FINAL, Unreadable
from anabranch.operators.metrics import OperatorMetrics

# An output of a source, and what goes there: a tuple, a chunk of them, or FINAL; None where a row was passed over.
Taken: TypeAlias = tuple[Operator, int, Any]


def take(
    drawn: Iterable[Drawn | Batch | None], counts: Mapping[str, SourceCount], *, counts_tuples: bool = True
) -> Iterator[Taken | Batch | None]:
    """What is drawn, up to a bad row that stops the run. Pauses (None), and batches of many sources, pass.

    Tuples are counted here, but where they count only once they are processed.
    """
    for each in drawn:
        if each is None or isinstance(each, Batch):
            yield each
            continue
        source, item = each
        port = 0
        if item is FINAL:
            for end in range(len(source.outputs)):
                yield source, end, FINAL
            continue
        if isinstance(item, Unreadable | Failed):
            letter = counts[source.id].after_bad_row(item)
            if letter is None:
                yield source, port, None
                continue
            port, item = letter
        if counts_tuples:
            counts[source.id].add(len(item) if isinstance(item, Chunk) else 1)
        yield source, port, item


class SourceTask:
    """What tasks that read sources have in common. What a stretch is of what they take, each knows for itself."""

    reporter: Reporter

    def __init__(self, job: Job, sources: Sequence[Operator], reading: Reading, *, sends_all: bool = True) -> None:
        self.job = job
        self.sources = sources
        self.layout = job.layout
        self.place = job.layout.place(SOURCES)
        self.sender = Sender(job.layout, sends_all=sends_all)
        self.sender.executed |= {Read(each.id, reading.value): None for each in sources}
        self.inbox = Inbox(job.layout)
        self._count_anew()

    def _count_anew(self) -> None:
        self.total = Tally()
        self.counts = {each.id: SourceCount(each, OperatorMetrics(), self.total) for each in self.sources}
        self.reported = 0

    def take(self, drawn: Iterable[Drawn | Batch | None]) -> Iterator[Taken | Batch | None]:
        return take(drawn, self.counts)

    def read(self, source: Operator, slices: Iterable[Any]) -> Iterator[Taken]:
        """The same of slices of one source."""
        return cast(Iterator[Taken], self.take(zip(repeat(source), read_all(source, slices))))

    def sent(self, stretch: int, pieces: Mapping[StreamId, Piece]) -> Iterator[Row]:
        """All of a stretch that this task has, wherever it goes."""
        self.reporter.add(self.total.tuples_in - self.reported, sum(len(piece.chunk) for piece in pieces.values()))
        self.reported = self.total.tuples_in
        yield from self.inbox.hand_on(self.sender, stretch, pieces.items())
        yield from self.inbox.process(stretch)

    def stopped(self, stretch: int, place: int, error: RunError | None) -> Iterator[Row]:
        """What ends a stretch, if anything does, behind so many items."""
        if error is not None:
            yield from self.sender.error(stretch, Moment(DRAW, (place,)), error)

    def figures(self) -> Iterator[Row]:
        """What was counted since this was last asked for."""
        counted = {name: count.metrics for name, count in self.counts.items()}
        yield self.sender.figures(counted, self.total.tuples_in, [])
        self._count_anew()
