"""A program with a shuffle against Spark's exchange alone.

The rival moves what the program moves, through the same exchanges, and does nothing else: its tasks hold the rows of
one stretch, noted when the program ran them, and send them again for every stretch. It reads no file, looks into no
row and sorts nothing.

On one machine the program's large rows go through files, past Spark. So it runs a second time as it would on a cluster,
where Spark moves all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pyarrow as pa

from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.sending import FIGURES
from anabranch.dataflow.transport.shipping import Job
from anabranch.engines.on_transport import run_on
from anabranch.engines.spark.job.exchange import SparkTransport
from anabranch.engines.spark.job.row_batches import ROW, as_batch, rows_in
from anabranch.engines.spark.job.tasks import read_slices, run_level
from benchmarks.spark.host import FOLDER, Host
from benchmarks.spark.inputs import pairs_file
from benchmarks.spark.pairs import shuffled
from benchmarks.spark.race import Contestant, Times, race

OURS, MOVED, RAW = "program with a shuffle", "the program, all rows through Spark", "the same rows, no work"
_TASKS = 8

Rows = dict[int, list[Row]]  # by the channel they come from


def contest(count: int, rounds: int) -> Times:
    arguments = {"pairs": pairs_file(count), "out": str(FOLDER / "shuffled.csv")}
    with Host("exchange") as host:
        contestants = [
            Contestant(OURS, host, "benchmarks.spark.pairs:run_shuffled", arguments),
            Contestant(MOVED, host, "benchmarks.spark.raw_exchange:run_moved", arguments),
            Contestant(RAW, host, "benchmarks.spark.raw_exchange:run_raw", arguments),
        ]
        return race(contestants, rounds)


class _WithoutFiles(SparkTransport):
    @property
    def shares_files(self) -> bool:
        return False


def run_moved(session: Any, pairs: str, out: str) -> None:
    run_on(_WithoutFiles(session), compile(shuffled(pairs=pairs, out=out).graph), Metrics(), "native")


def run_raw(session: Any, pairs: str, out: str) -> None:
    from pyspark.sql import functions

    stretches, first, second = _noted(session, pairs, out)
    channels = len(first)
    frame = session.range(0, stretches, 1, min(stretches, _TASKS)).mapInArrow(_sends(first), ROW)
    frame = frame.repartitionById(channels, functions.col("channel"))
    frame = frame.mapInArrow(_passes(second), ROW)
    frame = frame.repartitionById(channels, functions.col("channel"))
    arrived = sum(row.stretch for row in frame.mapInArrow(_counts, ROW).toLocalIterator())
    assert arrived == stretches * channels * channels, f"{arrived} rows arrived"


def _sends(rows: Rows) -> Callable[..., Any]:
    """Every stretch's rows, for all channels."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for stretch in batch.column(0).to_pylist():
                for each in rows.values():
                    for row in each:
                        yield as_batch(replace(row, stretch=stretch))

    return run


def _passes(rows: Rows) -> Callable[..., Any]:
    """For a row that comes into a channel those that leave it."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for came in rows_in(batches):
            for row in rows[came.channel]:
                yield as_batch(replace(row, stretch=came.stretch))

    return run


def _counts(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield as_batch(Row(0, 0, sum(batch.num_rows for batch in batches), 0, 0, b""))


# What the program moves ------------------------------------------------------------------------------------------


class _Noting(SparkTransport):
    job: Job

    def rows(self, job: Job) -> Generator[Row, None, None]:
        self.job = job
        return super().rows(job)


@lru_cache(maxsize=1)
def _noted(session: Any, pairs: str, out: str) -> tuple[int, Rows, Rows]:
    """How many stretches there are; what the first sends to each channel of the first region, and what leaves those."""
    cluster = _Noting(session)
    run_on(cluster, compile(shuffled(pairs=pairs, out=out).graph), Metrics(), "native")
    job = cluster.job
    assert job.slices is not None
    [places] = {len(level) for level in job.layout.levels}
    assert (places, len(job.layout.levels)) == (1, 2), "two regions, one behind the other"
    one_stretch = pa.record_batch([pa.array([0], pa.int64())], ["id"])
    came = _chunks(read_slices(lambda: job)([one_stretch]))
    first = {row.channel: [row] for row in came}
    second = {row.channel: _chunks(run_level(lambda: job, 1)([as_batch(row)])) for row in came}
    return len(job.slices), first, second


def _chunks(batches: Iterable[pa.RecordBatch]) -> list[Row]:
    rows = [row for row in rows_in(batches) if row.stretch != FIGURES]
    return [replace(row, payload=bytes(row.payload)) for row in rows]
