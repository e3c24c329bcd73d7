"""A run as one Spark job: chunk rows from level to level, exchanged by channel, sorted by epoch (design, 5.1)."""

from __future__ import annotations

import uuid
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol

from anabranch.engines.spark.chunk_rows import ROW, Row
from anabranch.engines.spark.shipping import Job, shipped, unshipped
from anabranch.engines.spark.source_tasks import draw_all, read_slices
from anabranch.engines.spark.tasks import run_level

_TASKS_PER_CORE = 4  # that read a source: a few, so that what is slow here and there evens out


class Cluster(Protocol):
    """Where jobs run."""

    @property
    def cores(self) -> int:
        """How many tasks run at a time."""

    def rows(self, job: Job) -> Generator[Row, None, None]:
        """The rows for the tail, by epoch."""


class SparkCluster:
    """A Spark session. Only its data frames are used, so that any kind of session will do."""

    def __init__(self, session: Any) -> None:
        self.session = session

    @property
    def cores(self) -> int:
        context = getattr(self.session, "sparkContext", None)
        return max(1, int(context.defaultParallelism)) if context is not None else 2

    def rows(self, job: Job) -> Generator[Row, None, None]:
        frame = self.frame(job)
        with self._tagged():
            for row in frame.toLocalIterator(prefetchPartitions=False):
                yield Row(*row)

    def frame(self, job: Job) -> Any:
        """The data frame of a run: its rows for the tail, in one partition, sorted by epoch."""
        from pyspark.sql import functions

        load = partial(unshipped, shipped(job))
        if job.slices is not None:
            partitions = min(len(job.slices), self.cores * _TASKS_PER_CORE)
            frame = self.session.range(0, len(job.slices), 1, partitions).mapInArrow(read_slices(load), ROW)
        else:
            frame = self.session.range(0, 1, 1, 1).mapInArrow(draw_all(load), ROW)
        for number, places in enumerate(job.layout.levels, 1):
            channels = sum(place.channels for place in places)
            frame = frame.repartitionById(channels, functions.col("channel") % channels)
            frame = frame.sortWithinPartitions("place", "epoch", "arrival")
            frame = frame.mapInArrow(run_level(load, number), ROW)
        return frame.repartitionById(1, functions.lit(0)).sortWithinPartitions("epoch", "arrival")

    @contextmanager
    def _tagged(self) -> Iterator[None]:
        """Whatever of a job still runs when its consumer stops is not needed any more."""
        tag = f"anabranch-{uuid.uuid4().hex}"
        self.session.addTag(tag)
        try:
            yield
        except BaseException:
            self.session.interruptTag(tag)
            raise
        finally:
            self.session.removeTag(tag)
