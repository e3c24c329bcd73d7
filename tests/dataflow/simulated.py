"""Spark's part in a run, without Spark: rows are packed, exchanged and sorted in this process, by the same tasks."""

from __future__ import annotations

import random
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from unittest.mock import patch

from anabranch.dataflow.sources.reader_tasks import reader_rows
from anabranch.dataflow.sources.source_tasks import SliceTask
from anabranch.dataflow.transport import spooling
from anabranch.dataflow.transport.in_process import InProcess
from anabranch.dataflow.transport.rows import Kind, Row
from anabranch.dataflow.transport.shipping import Job
from anabranch.engines.spark.job.row_batches import rows_in
from anabranch.engines.spark.job.tasks import in_batches
from anabranch.graph.settings import FUSIONS


def fusion_by(seed: int) -> str:
    """A fusion for a random test: whatever it is, the result is the same."""
    return FUSIONS[seed % len(FUSIONS)]


@dataclass
class Simulated(InProcess):
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
            rows = list(super().rows(job, given))
        yield from rows

    def read(self, job: Job) -> Iterator[Row]:
        for task in range(self.readers if job.readers is not None or job.slices is not None else 1):
            if job.readers is not None:
                yield from reader_rows(job, range(len(job.readers.each))[task :: self.readers])
            elif job.slices is not None:
                stretches = range(len(job.slices))[task :: self.readers]
                yield from SliceTask(job, job.layout.graph.sources[0]).rows(stretches)
            else:
                yield from super().read(job)

    def carried(self, job: Job, rows: Iterable[Row]) -> list[Row]:
        found = list(rows_in(in_batches(rows, job)))
        tail = len(job.layout.places) - 1
        self.exchanged += sum(row.kind in (Kind.CHUNK, Kind.SPOOLED) and row.place != tail for row in found)
        self._random.shuffle(found)
        return found
