"""Sinks that are written from lines, beside what else runs where they are: all items have their effects in their order.

Lines wait in the buffer of their sink, where nobody sees them. Only where a file is written to, now and then, does it
show whether what comes before that has been done: it may fail, and then what comes behind must not be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from anabranch.codegen.chunks import Batch, Chunk
from anabranch.codegen.cut_batches import first_of, rest_of
from anabranch.dataflow.order.meeting import Items
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.tail.chunk_sinks import LineSink
from anabranch.dataflow.transport.lines import encoded
from anabranch.graph.model import Graph
from anabranch.graph.places import Arrival

Places = npt.NDArray[np.int64]  # of items in a batch
# Does what is to be done with a batch of so many items, and says how many were begun.
Process = Callable[[Batch, int, Callable[[int], None]], None]


class LineSinks:
    """All sinks of a tail that are written from lines."""

    def __init__(self, graph: Graph, arriving: Sequence[Arrival], metrics: Metrics) -> None:
        self.metrics = metrics
        self.sinks = {
            number: LineSink(graph.operator(each.lines.sink))
            for number, each in enumerate(arriving)
            if each.lines is not None
        }

    def process(self, items: Items, process_others: Process) -> None:
        """Write what is lines, and have the other items processed, up to what stops the run."""
        turns = items.turns if items.turns is not None else np.zeros(len(items), np.uint16)
        is_mark = np.zeros(len(items), np.bool_)
        is_mark[[*items.ends, *items.punctuations]] = True
        waiting = [
            _Waiting(sink, chunk, np.flatnonzero((turns == number) & ~is_mark))
            for number, sink in self.sinks.items()
            if (chunk := items.chunks[number]) is not None
        ]
        others = _Others(items, turns, [number for number in range(len(items.chunks)) if number not in self.sinks])
        is_done = False
        while not is_done:
            written = {id(each): place for each in waiting if (place := each.written_at()) is not None}
            stop = min(written.values(), default=len(items)) + 1
            is_done = not written
            try:
                others.process(stop, process_others)
            except BaseException:
                for each in waiting:
                    each.take(others.reached, self.metrics)
                raise
            for each in sorted(waiting, key=lambda each: written.get(id(each)) == stop - 1):
                each.take(stop, self.metrics)  # the one that is written to comes last, as it may fail


class _Waiting:
    """The lines of a batch for one sink, and which items they are."""

    def __init__(self, sink: LineSink, lines: Chunk, places: Places) -> None:
        self.sink, self.lines, self.places = sink, lines, places
        self.done = 0

    def written_at(self) -> int | None:
        """The item with which the file is written to next."""
        rows = self.sink.rows_to_flush(encoded(self.lines.cut(self.done, len(self.lines))))
        return None if rows is None else int(self.places[self.done + rows - 1])

    def take(self, stop: int, metrics: Metrics) -> None:
        """The lines before an item."""
        upto = int(np.searchsorted(self.places, stop))
        if upto > self.done:
            some, self.done = self.lines.cut(self.done, upto), upto
            self.sink.write(some, metrics)


class _Others:
    """The items that are no lines, as a batch of their own."""

    def __init__(self, items: Items, turns: npt.NDArray[np.uint16], numbers: Sequence[int]) -> None:
        own = np.zeros(len(items.chunks), np.uint16)
        own[list(numbers)] = np.arange(len(numbers))
        self.places = np.flatnonzero(np.isin(turns, numbers))
        self.batch = Batch(tuple(items.chunks[number] for number in numbers), own[turns[self.places]])
        self.done = 0
        self.begun = 0

    @property
    def reached(self) -> int:
        """The item that is being processed."""
        return int(self.places[max(self.begun - 1, 0)])

    def process(self, stop: int, process: Process) -> None:
        """Those before an item."""
        upto = int(np.searchsorted(self.places, stop))
        if upto == self.done:
            return
        count, self.begun = upto - self.done, self.done
        some = first_of(self.batch, count)
        self.batch = rest_of(self.batch, count)
        process(some, count, self._note)
        self.done = self.begun = upto

    def _note(self, begun: int) -> None:
        self.begun = self.done + begun
