"""What Spark's tasks do: functions for its data frames, which read sources, or run the channels of a level."""

from __future__ import annotations

import functools
import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pyarrow as pa

from anabranch.dataflow.channels.levels import level_rows
from anabranch.dataflow.sources.reader_tasks import reader_rows
from anabranch.dataflow.sources.source_tasks import SliceTask, drawn_rows
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.shipping import Job
from anabranch.dataflow.transport.spooling import spool
from anabranch.engines.spark.job.row_batches import as_batch, rows_in


def read_slices(load: Callable[[], Job]) -> Any:
    """The function for Spark: numbers of epochs in, rows out."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        job = load()
        task = SliceTask(job, job.layout.graph.sources[0])
        epochs = (epoch for batch in batches for epoch in batch.column(0).to_pylist())
        return in_batches(task.rows(epochs), job)

    return run


def draw_all(load: Callable[[], Job]) -> Any:
    """The function for Spark where one task reads everything."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            job = load()
            with _in_folder(job.folder):
                yield from in_batches(drawn_rows(job), job)

    return run


def read_apart(load: Callable[[], Job]) -> Any:
    """The function for Spark: numbers of readers in, rows out."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        job = load()
        numbers = (number for batch in batches for number in batch.column(0).to_pylist())
        return in_batches(reader_rows(job, numbers), job)

    return run


def run_level(load: Callable[[], Job], level: int) -> Any:
    """The function for Spark: rows of a level in, rows of later ones out."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        job = load()
        return in_batches(level_rows(job, level, rows_in(batches)), job)

    return run


def in_batches(rows: Iterable[Row], job: Job) -> Iterator[pa.RecordBatch]:
    """What a task gives to Spark: a row at a time, since each may be large."""
    for row in spool(rows, job.scratch, only_for=None if job.shares_files else len(job.layout.places) - 1):
        yield as_batch(row)
    freeze()


@functools.cache
def freeze() -> None:
    """After the first task of a worker: Spark collects garbage behind every task, and need not look at all of us.

    Elsewhere, where programs are compiled, what is frozen would have to be thawed each time.
    """
    if task_name() is not None:
        gc.freeze()


@contextmanager
def _in_folder(folder: str) -> Iterator[None]:
    """Relative paths are those of the run: a worker stays in the folder where it was started."""
    before = "/"
    with suppress(OSError):  # where it was started may be gone
        before = os.getcwd()
    with suppress(OSError):  # on a machine without such a folder the paths have to be absolute
        os.chdir(folder)
    try:
        yield
    finally:
        with suppress(OSError):
            os.chdir(before)


def task_name() -> str | None:
    """Which task of Spark's this is, the same in all attempts at it; None where no Spark runs it."""
    pyspark = sys.modules.get("pyspark")
    task = pyspark.TaskContext.get() if pyspark is not None else None
    return None if task is None else f"{task.stageId()}-{task.partitionId()}"
