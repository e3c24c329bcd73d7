"""Runs a program with a loop in rounds: a job for what enters the loop, and then a job for every round.

The driver is where the loop turns: it has the entry, and takes what comes around.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np

from anabranch.codegen.chunks import Chunk
from anabranch.dataflow.executed import Read
from anabranch.dataflow.order.pieces import Piece
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.runs.execution import Execution
from anabranch.dataflow.runs.jobs_in_a_row import run_next
from anabranch.dataflow.runs.run_config import RunConfig
from anabranch.dataflow.sources.partition_keys import guard_partitions
from anabranch.dataflow.tail.interrupts import Shield
from anabranch.dataflow.tail.tail import Tail
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.sending import Sender
from anabranch.dataflow.transport.shipping import Job
from anabranch.dataflow.transport.spooling import spool
from anabranch.errors import RunError
from anabranch.graph.model import Operator
from anabranch.graph.places import Loop, Reading
from anabranch.operators.feedback import BACK, FORWARD, FeedbackMeaning


class InRounds(Execution):
    """A run as a job for every round."""

    def __init__(self, config: RunConfig, loop: Loop) -> None:
        self.loop = loop
        self.before = config.plan.phase("before")
        self.round = config.plan.phase("round")
        self.arrived: list[Chunk] = []  # at the entry, from outside
        self.back: list[Chunk] = []  # that come around
        self.entering = Tail(config.plan, self.before, config.metrics, taken={loop.entry: self.arrived.append})
        tail = Tail(config.plan, self.round, config.metrics, taken={loop.back: self.back.append})
        super().__init__(config, self.entering, tail)

    def begin(self, folder: str) -> list[Job]:
        """Up to the loop, and of every round."""
        # What is in files there is forgotten after a round, while the job before may still go on.
        of_rounds = Path(folder) / "rounds"
        of_rounds.mkdir()
        self.entering.spool, self.tail.spool = folder, str(of_rounds)
        before = self.config.job(self.before, folder)
        self.job = self.config.job(self.round, str(of_rounds), keeps_state=True)
        self.outside = guard_partitions(self.config.transport.rows(before), before)
        self.config.transport.rows(self.job, []).close()
        return [before, self.job]

    def process_all(self, shield: Shield) -> None:
        entry = _Entry(self.config.graph.operator(self.loop.entry), self.metrics, self.job)
        turn = partial(self._round, entry, shield)
        for found in self._from_outside(shield):
            if isinstance(found, RunError):
                turn()  # what came before it
                raise found from found.__cause__
            for is_mark, some in _cut_at_marks(found):
                entry.take(FORWARD, some, is_mark=is_mark)
                if is_mark:
                    turn()
                    self._settle(entry, turn)
        while entry.meaning.has_open_round:
            entry.close_round()
            turn()
            self._settle(entry, turn)
        entry.end()
        turn()

    def _from_outside(self, shield: Shield) -> Iterator[Chunk | RunError]:
        """What enters the loop, in order, or what an operator stopped the run with before."""
        with closing(self.outside):
            for _, arranged in self.entering.in_order(self.outside):
                try:
                    error = self.entering.process(arranged, shield)
                except RunError as problem:
                    error = problem
                yield from self.arrived
                self.arrived.clear()
                if error is not None:
                    yield error
                    return

    def _settle(self, entry: _Entry, turn: partial[None]) -> None:
        """Round after round, until nothing comes around."""
        while self.back:
            back, self.back[:] = list(self.back), []
            for chunk in back:
                for is_mark, some in _cut_at_marks(chunk):
                    entry.take(BACK, some, is_mark=is_mark)
            turn()

    def _round(self, entry: _Entry, shield: Shield) -> None:
        entered = entry.rows()
        self.tail.add_executed(entry.sender.executed)
        if entered:
            run_next(self.config.transport, self.job, self.tail, entered, shield)


class _Entry:
    """The entry of the loop: what goes into its next round, as rows for the channels."""

    def __init__(self, entry: Operator, metrics: Metrics, job: Job) -> None:
        self.meaning = FeedbackMeaning(entry, rounds=True)
        self.metrics = metrics[entry.id]
        self.schema = entry.outputs[0].schema
        self.arrivals = [each for each in job.layout.arrivals if each.stream.operator == entry.id]
        self.sender = Sender(job.layout)
        self.sender.executed[Read(entry.id, Reading.ROUND.value)] = None
        self.size = job.stretch
        self.stretch = 0  # of all rounds
        self.folder = job.scratch if job.shares_files else ""
        self._rows: list[Row] = []

    def take(self, port: int, tuples: Chunk, *, is_mark: bool) -> None:
        """Tuples, and perhaps a punctuation behind them."""
        count = len(tuples)
        self.metrics.received += count
        self.metrics.emitted += count
        self.meaning.entered += count
        for start in range(0, count, self.size):
            self._send(tuples.cut(start, min(start + self.size, count)))
        if is_mark and list(self.meaning.punctuation(port)):
            self._punctuate()

    def close_round(self) -> None:
        list(self.meaning.close_round())
        self._punctuate()

    def _punctuate(self) -> None:
        self._send(Chunk.of_rows(self.schema, []), punctuations=(np.zeros(1, np.int64),))

    def end(self) -> None:
        self._send(Chunk.of_rows(self.schema, []), end=(0,))

    def _send(
        self, tuples: Chunk, *, punctuations: tuple[np.ndarray, ...] = (), end: tuple[int, ...] | None = None
    ) -> None:
        piece = Piece(tuples, None, end, punctuations)
        rows = [row for arrival in self.arrivals for row in self.sender.rows(arrival, self.stretch, piece)]
        self._rows += spool(rows, self.folder)
        self.stretch += 1

    def rows(self) -> list[Row]:
        """What has come in since this was last asked for."""
        rows, self._rows = self._rows, []
        return rows


def _cut_at_marks(chunk: Chunk) -> Iterator[tuple[bool, Chunk]]:
    """The tuples up to each punctuation, and those behind the last."""
    plain, start = chunk.marked(), 0
    for stop in chunk.punctuations:
        yield True, plain.cut(start, stop)
        start = stop
    yield False, plain.cut(start, len(chunk))
