"""Runs a program with a loop in rounds: a job for what enters the loop, and then a job for every round.

The driver is where the loop turns: it has the entry, takes what comes around, and keeps the states of channels from one
job to the next, in the files that tasks wrote where all see the same folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from anabranch.codegen.chunks import Chunk
from anabranch.codegen.forms import Form
from anabranch.engines.base import Metrics, Result, carrying_result, collected
from anabranch.engines.drawing import check_sources
from anabranch.engines.expected_size import expected_tuples, form_for
from anabranch.engines.interrupts import Shield, shielded
from anabranch.engines.sinks import opened
from anabranch.engines.spark.chunk_rows import Kind, Piece, Row
from anabranch.engines.spark.degree import degree_of
from anabranch.engines.spark.exchange import Cluster
from anabranch.engines.spark.generating import generated
from anabranch.engines.spark.layout import Layout
from anabranch.engines.spark.lower import lower
from anabranch.engines.spark.rounds import Rounds
from anabranch.engines.spark.sending import FIGURES, Sender
from anabranch.engines.spark.shipping import Job
from anabranch.engines.spark.sources import cut
from anabranch.engines.spark.spooling import file_of, spooled
from anabranch.engines.spark.tail import Tail
from anabranch.engines.spark.watching import watched
from anabranch.errors import RunError
from anabranch.graph.plan import Plan
from anabranch.operators.feedback import BACK, FORWARD, FeedbackMeaning


def run_in_rounds(
    cluster: Cluster,
    plan: Plan,
    rounds: Rounds,
    metrics: Metrics,
    form: Form,
    channels: int | Mapping[str, int] | None,
    epoch: int,
) -> Result:
    execution = _Execution(cluster, plan, rounds, metrics, form, channels, epoch)
    with carrying_result(execution.result):
        execution.run()
    return execution.result()


class _Execution:
    def __init__(
        self,
        cluster: Cluster,
        plan: Plan,
        rounds: Rounds,
        metrics: Metrics,
        form: Form,
        channels: int | Mapping[str, int] | None,
        epoch: int,
    ) -> None:
        self.cluster = cluster
        self.graph = plan.graph
        self.rounds = rounds
        self.metrics = metrics
        metrics.start(plan.graph)
        self.form = form_for(plan.graph, form)
        self.epoch = epoch
        degree = degree_of(plan, channels, cluster.cores)
        self.slices = cut(rounds.before.graph, epoch, cluster.cores)
        self.before = lower(rounds.before, degree, slices_sources=self.slices is not None)
        self.round = lower(rounds.round, degree, slices_sources=False)
        metrics.notes += [f"in one place: {note}" for note in (*self.before.notes, *self.round.notes)]
        self.arrived: list[Chunk] = []  # at the entry, from outside
        self.back: list[Chunk] = []  # that come around
        self.entering = Tail(
            rounds.before.graph, self.before, metrics, self.form, taken={rounds.entry.id: self.arrived.append}
        )
        self.tail = Tail(rounds.round.graph, self.round, metrics, self.form, taken={rounds.back: self.back.append})

    # A run ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        check_sources(self.graph)
        with shielded() as shield, opened(self.tail.sinks, shield):
            try:
                with watched(self.metrics) as folder:
                    self._process_all(folder, shield)
            finally:
                self.metrics.stop()
                self.metrics.notes += [*self.entering.notes, *self.tail.notes]

    def _process_all(self, folder: str, shield: Shield) -> None:
        # What is in files there is forgotten after a round, while the job before may still go on.
        of_rounds = Path(folder) / "rounds"
        of_rounds.mkdir()
        self.entering.spool, self.tail.spool = folder, str(of_rounds)
        job = self._job(self.round, str(of_rounds))
        entry = _Entry(self.rounds, self.metrics, job, self.epoch)
        turn = partial(self._round, job, entry, shield)
        for found in self._from_outside(folder, shield):
            if isinstance(found, RunError):
                turn()  # what came before it
                raise found from found.__cause__
            for is_mark, stretch in _stretches(found):
                entry.take(FORWARD, stretch, is_mark=is_mark)
                if is_mark:
                    turn()
                    self._settle(entry, turn)
        while entry.meaning.has_open_round:
            entry.close_round()
            turn()
            self._settle(entry, turn)
        entry.end()
        turn()

    def _from_outside(self, folder: str, shield: Shield) -> Iterator[Chunk | RunError]:
        """What enters the loop, in order, or what an operator stopped the run with before."""
        drawn = expected_tuples(self.graph) // self.epoch + 1
        epochs = drawn if self.slices is None else len(self.slices)
        job = replace(self._job(self.before, folder), slices=self.slices, epochs=epochs, keeps_state=False)
        with closing(self.cluster.rows(job)) as arriving:
            for _, arranged in self.entering.in_order(arriving):
                try:
                    error = self.entering.process(arranged, shield)
                except RunError as problem:
                    error = problem
                yield from self.arrived
                self.arrived.clear()
                if error is not None:
                    yield error
                    return

    def _job(self, layout: Layout, folder: str) -> Job:
        for_tasks = layout.for_tasks()
        return Job(
            for_tasks,
            generated(for_tasks, self.form, reads_slices=layout is self.before and self.slices is not None),
            None,
            self.epoch,
            reports=folder,
            shares_files=self.cluster.shares_files,
            folder=os.getcwd(),
            keeps_state=True,
        )

    def _settle(self, entry: _Entry, turn: partial[None]) -> None:
        """Round after round, until nothing comes around."""
        while self.back:
            back, self.back[:] = list(self.back), []
            for chunk in back:
                for is_mark, stretch in _stretches(chunk):
                    entry.take(BACK, stretch, is_mark=is_mark)
            turn()

    def _round(self, job: Job, entry: _Entry, shield: Shield) -> None:
        entered = entry.rows()
        if not entered:
            return
        given = [*_restored(self.tail.states), *entered]
        with closing(self.cluster.rows(job, given)) as arriving:
            for _, arranged in self.tail.in_order(arriving):
                error = self.tail.process(arranged, shield)
                if error is not None:
                    raise error from error.__cause__
        _forget_files(Path(job.reports), self.tail.states)

    def result(self) -> Result:
        return Result(self.graph, self.metrics, collected(self.tail.sinks))


class _Entry:
    """The entry of the loop: what goes into its next round, as rows for the channels."""

    def __init__(self, rounds: Rounds, metrics: Metrics, job: Job, epoch: int) -> None:
        self.meaning = FeedbackMeaning(rounds.entry, rounds=True)
        self.metrics = metrics[rounds.entry.id]
        self.schema = rounds.entry.outputs[0].schema
        self.arrivals = [each for each in job.layout.arrivals if each.stream.operator == rounds.entry.id]
        self.sender = Sender(job.layout)
        self.size = epoch
        self.epoch = 0  # of all rounds
        self.folder = job.reports if job.shares_files else ""
        self._rows: list[Row] = []

    def take(self, port: int, tuples: Chunk, *, is_mark: bool) -> None:
        """Tuples, and perhaps a punctuation behind them."""
        count = len(tuples)
        self.metrics.received += count
        self.metrics.emitted += count
        self.meaning.entered += count
        for start in range(0, count, self.size):
            self._send(tuples.stretch(start, min(start + self.size, count)))
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


def _stretches(chunk: Chunk) -> Iterator[tuple[bool, Chunk]]:
    """The tuples up to each punctuation, and those behind the last."""
    plain = Chunk(chunk.schema, chunk.rows if chunk.has_rows else None, chunk.batch if chunk.has_batch else None)
    start = 0
    for stop in chunk.punctuations:
        yield True, plain.stretch(start, stop)
        start = stop
    yield False, plain.stretch(start, len(chunk))


def _restored(states: Mapping[tuple[int, int], Row]) -> list[Row]:
    """The rows that bring the states of channels to them."""
    return [replace(row, place=row.arrival, epoch=FIGURES, arrival=0) for row in states.values()]


def _forget_files(folder: Path, states: Mapping[tuple[int, int], Row]) -> None:
    """Rows of rounds that are over; there may be many rounds."""
    needed = [file_of(row) for row in states.values() if row.kind == Kind.SPOOLED]
    for path in folder.glob("*.rows"):
        if path.name not in needed:
            path.unlink(missing_ok=True)
