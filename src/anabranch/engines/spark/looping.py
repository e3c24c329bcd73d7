"""Runs a program with a loop in rounds: a job for what enters the loop, and then a job for every round.

The driver is where the loop turns: it has the entry, takes what comes around, and keeps the states of channels from one
job to the next, in the files that tasks wrote where all see the same folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from anabranch.codegen.chunks import Chunk
from anabranch.engines.base import Metrics, Result, collected
from anabranch.engines.drawing import check_sources
from anabranch.engines.interrupts import Shield, shielded
from anabranch.engines.sinks import opened
from anabranch.engines.spark.chunk_rows import Kind, Piece, Row
from anabranch.engines.spark.partition_keys import guarded
from anabranch.engines.spark.rounds import Rounds
from anabranch.engines.spark.sending import FIGURES, Sender
from anabranch.engines.spark.setting import Setting
from anabranch.engines.spark.shipping import Job
from anabranch.engines.spark.spooling import file_of, spooled
from anabranch.engines.spark.tail import Tail
from anabranch.engines.spark.watching import watched
from anabranch.errors import RunError
from anabranch.operators.feedback import BACK, FORWARD, FeedbackMeaning


class InRounds:
    """A run as a job for every round."""

    def __init__(self, setting: Setting, rounds: Rounds) -> None:
        self.setting = setting
        self.rounds = rounds
        self.metrics = setting.metrics
        self.slices = setting.cut(rounds.before.graph)
        self.before = setting.laid_out(rounds.before, self.slices)
        self.round = setting.laid_out(rounds.round, None)
        self.arrived: list[Chunk] = []  # at the entry, from outside
        self.back: list[Chunk] = []  # that come around
        self.entering = Tail(
            rounds.before.graph, self.before, self.metrics, setting.form, taken={rounds.entry.id: self.arrived.append}
        )
        self.tail = Tail(
            rounds.round.graph, self.round, self.metrics, setting.form, taken={rounds.back: self.back.append}
        )

    # A run ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        check_sources(self.setting.graph)
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
        job = self.setting.job(self.round, None, str(of_rounds), keeps_state=True)
        entry = _Entry(self.rounds, self.metrics, job)
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
        job = self.setting.job(self.before, self.slices, folder)
        with closing(self.setting.cluster.rows(job)) as arriving:
            for _, arranged in self.entering.in_order(guarded(arriving, job)):
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
                for is_mark, stretch in _stretches(chunk):
                    entry.take(BACK, stretch, is_mark=is_mark)
            turn()

    def _round(self, job: Job, entry: _Entry, shield: Shield) -> None:
        entered = entry.rows()
        if not entered:
            return
        given = [*_restored(self.tail.states), *entered]
        with closing(self.setting.cluster.rows(job, given)) as arriving:
            for _, arranged in self.tail.in_order(arriving):
                error = self.tail.process(arranged, shield)
                if error is not None:
                    raise error from error.__cause__
        _forget_files(Path(job.reports), self.tail.states)

    def result(self) -> Result:
        return Result(self.setting.graph, self.metrics, collected(self.tail.sinks))


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
