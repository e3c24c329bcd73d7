"""Spark's part in a run, without Spark: rows are exchanged and sorted in this process, by the same tasks."""

from __future__ import annotations

import random
from collections.abc import Generator, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from unittest.mock import patch

import pyarrow as pa

from anabranch.dataflow.transport import spooling
from anabranch.dataflow.transport.rows import Kind, Row
from anabranch.dataflow.transport.sending import FIGURES
from anabranch.dataflow.transport.shipping import Job
from anabranch.engines.spark.job.row_batches import as_batch, rows_in
from anabranch.engines.spark.job.tasks import draw_all, read_apart, read_slices, run_level


@dataclass
class Simulated:
    """As many tasks read a source as asked for; rows arrive in any order, as they may from an exchange.

    With an odd seed all of them are large enough to be in files.
    """

    cores: int = 2
    readers: int = 3
    seed: int = 0
    shares_files: bool = True
    last: Job | None = None
    exchanged: int = 0  # chunks that went from one level to another
    _random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def rows(self, job: Job, given: Sequence[Row] | None = None) -> Generator[Row, None, None]:
        self.last = job
        with patch.object(spooling, "_LEAST", 1) if self.seed % 2 else nullcontext():
            rows = self._rows_for_the_tail(job, given)
        yield from sorted(rows, key=lambda row: (row.epoch, row.arrival) if job.is_ordered else _comes_first(row))

    def _rows_for_the_tail(self, job: Job, given: Sequence[Row] | None) -> list[Row]:
        if given is not None:
            batches = [as_batch(row) for row in given]
        elif job.readers is not None:
            numbers = range(len(job.readers.each))
            batches = [
                batch
                for task in range(self.readers)
                for batch in read_apart(lambda: job)([_numbers(numbers[task :: self.readers])])
            ]
        elif job.slices is None:
            batches = list(draw_all(lambda: job)([_numbers([0])]))
        else:
            epochs = range(len(job.slices))
            batches = [
                batch
                for reader in range(self.readers)
                for batch in read_slices(lambda: job)([_numbers(epochs[reader :: self.readers])])
            ]
        for number, places in enumerate(job.layout.levels, 1):
            channels = sum(place.channels for place in places)
            partitions: list[list[Row]] = [[] for _ in range(channels)]
            for row in self._shuffled(batches):
                self.exchanged += row.kind in (Kind.CHUNK, Kind.SPOOLED)
                partitions[row.channel % channels].append(row)
            batches = []
            for rows in partitions:
                rows.sort(key=lambda row: (row.place, row.epoch, row.arrival))
                batches += list(run_level(lambda: job, number)([as_batch(row) for row in rows]))
        return [row for row in self._shuffled(batches) if row.kind != Kind.END]

    def _shuffled(self, batches: Iterable[pa.RecordBatch]) -> list[Row]:
        rows = list(rows_in(batches))
        self._random.shuffle(rows)
        return rows


def _comes_first(row: Row) -> tuple[int, int]:
    """Of rows in any order: errors, and what was counted, come before all others."""
    return int(row.epoch != FIGURES and row.kind != Kind.ERROR), 0


def _numbers(epochs: Iterable[int]) -> pa.RecordBatch:
    return pa.record_batch([pa.array(list(epochs), pa.int64())], ["id"])
