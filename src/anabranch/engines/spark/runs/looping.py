"""Runs a program with a loop in rounds: a job for what enters the loop, and then a job for every round.

The driver is where the loop turns: it has the entry, and takes what comes around.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np

from anabranch.codegen.chunks import Chunk
from anabranch.dataflow.channels.tripwires import check_here
from anabranch.dataflow.layout.rounds import Rounds
from anabranch.dataflow.order.pieces import Piece
from anabranch.dataflow.result import Metrics, Result, collected
from anabranch.dataflow.sources.partition_keys import guarded
from anabranch.dataflow.tail.interrupts import Shield, shielded
from anabranch.dataflow.tail.sinks import opened
from anabranch.dataflow.tail.tail import Tail
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.scratch import scratch_folder
from anabranch.dataflow.transport.sending import Sender
from anabranch.dataflow.transport.shipping import Job
from anabranch.dataflow.transport.spooling import spooled
from anabranch.dataflow.transport.task_progress import watched
from anabranch.engines.spark.job.jobs_in_a_row import run_next
from anabranch.engines.spark.runs.run_config import RunConfig
from anabranch.errors import RunError
from anabranch.operators.feedback import BACK, FORWARD, FeedbackMeaning


class InRounds:
    """A run as a job for every round."""

    def __init__(self, config: RunConfig, rounds: Rounds) -> None:
        self.config = config
        self.rounds = rounds
        self.metrics = config.metrics
        self.slices = config.cut(rounds.before.graph)
        self.before = config.laid_out(rounds.before, self.slices)
        self.round = config.laid_out(rounds.round, None)
        self.arrived: list[Chunk] = []  # at the entry, from outside
        self.back: list[Chunk] = []  # that come around
        self.entering = Tail(
            rounds.before.graph, self.before, self.metrics, config.form, taken={rounds.entry.id: self.arrived.append}
        )
        self.tail = Tail(
            rounds.round.graph, self.round, self.metrics, config.form, taken={rounds.back: self.back.append}
        )

    # A run ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        with shielded() as shield, scratch_folder() as folder, watched(self.metrics, folder):
            before, job = self._jobs(folder)
            # A program that cannot be sent opens its sinks in this process, later.
            entering = guarded(self.config.cluster.rows(before), before)
            self.config.cluster.rows(job, []).close()
            with opened(self.tail.sinks, shield):
                try:
                    self._process_all(entering, job, shield)
                    for each in (before, job):
                        check_here(each, self.config.graph)
                    self.entering.check()
                    self.tail.check()
                finally:
                    self.metrics.stop()
                    self.metrics.notes += [*self.entering.notes, *self.tail.notes]

    def _jobs(self, folder: str) -> tuple[Job, Job]:
        """Up to the loop, and of every round."""
        # What is in files there is forgotten after a round, while the job before may still go on.
        of_rounds = Path(folder) / "rounds"
        of_rounds.mkdir()
        self.entering.spool, self.tail.spool = folder, str(of_rounds)
        before = self.config.job(self.before, self.slices, folder)
        return before, self.config.job(self.round, None, str(of_rounds), keeps_state=True)

    def _process_all(self, entering: Generator[Row, None, None], job: Job, shield: Shield) -> None:
        entry = _Entry(self.rounds, self.metrics, job)
        turn = partial(self._round, job, entry, shield)
        for found in self._from_outside(entering, shield):
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

    def _from_outside(self, entering: Generator[Row, None, None], shield: Shield) -> Iterator[Chunk | RunError]:
        """What enters the loop, in order, or what an operator stopped the run with before."""
        with closing(entering):
            for _, arranged in self.entering.in_order(entering):
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

    def _round(self, job: Job, entry: _Entry, shield: Shield) -> None:
        entered = entry.rows()
        if entered:
            run_next(self.config.cluster, job, self.tail, entered, shield)

    def result(self) -> Result:
        return Result(self.config.graph, self.metrics, collected(self.tail.sinks))


class _Entry:
    """The entry of the loop: what goes into its next round, as rows for the channels."""

    def __init__(self, rounds: Rounds, metrics: Metrics, job: Job) -> None:
        self.meaning = FeedbackMeaning(rounds.entry, rounds=True)
        self.metrics = metrics[rounds.entry.id]
        self.schema = rounds.entry.outputs[0].schema
        self.arrivals = [each for each in job.layout.arrivals if each.stream.operator == rounds.entry.id]
        self.sender = Sender(job.layout)
        self.size = job.epoch
        self.epoch = 0  # of all rounds
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
        rows = [row for arrival in self.arrivals for row in self.sender.rows(arrival, self.epoch, piece)]
        self._rows += spooled(rows, self.folder)
        self.epoch += 1

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
