"""A run as one Spark job: chunk rows from level to level, exchanged by channel, sorted by epoch (design, 5.1)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

from anabranch.dataflow.transport.rows import Kind, Row
from anabranch.dataflow.transport.sending import FIGURES
from anabranch.dataflow.transport.shipping import Job, ship, unship
from anabranch.engines.spark.job.jobs import rows_of
from anabranch.engines.spark.job.row_batches import ROW, as_table
from anabranch.engines.spark.job.tasks import draw_all, read_apart, read_slices, run_level, task_name
from anabranch.engines.spark.session.session import cores_of, is_on_this_machine
from anabranch.errors import shortened
from anabranch.graph.places import SOURCES, TAIL, Layout, Place

_TASKS_PER_CORE = 4  # that read a source: a few, so that what is slow here and there evens out

# That are fetched for the tail: each fetch is a job, and Spark holds what it brings several times over. That is little
# where large rows are in files (`spooling.py`).
_EPOCHS_AT_ONCE = 8
_SPOOLED_EPOCHS_AT_ONCE = 256
_MOST_RANGES = 4_096


@dataclass(frozen=True)
class _Epochs:
    """The epochs of a run. How many one task will draw is not known before: there the last is followed by a row."""

    first: int = 0
    count: int | None = None

    @classmethod
    def of(cls, job: Job, given: Sequence[Row] | None) -> _Epochs:
        if given is not None:
            found = [row.stretch for row in given if row.stretch >= 0]
            return cls(min(found), max(found) - min(found) + 1)
        if job.readers is not None:
            return cls(0, job.readers.stretches)
        return cls(0, None if job.slices is None else len(job.slices))


class SparkTransport:
    """A Spark session. Only its data frames are used, so that any kind of session will do."""

    def __init__(self, session: Any) -> None:
        self.session = session

    @property
    def cores(self) -> int:
        return cores_of(self.session)

    @property
    def shares_files(self) -> bool:
        return is_on_this_machine(self.session)

    @staticmethod
    def task_name() -> str | None:
        return task_name()

    def rows(self, job: Job, given: Sequence[Row] | None = None) -> Generator[Row, None, None]:
        load = partial(unship, ship(job))  # at once: what cannot be sent is said before anything is begun
        return self._rows(job, load, given)

    def _rows(self, job: Job, load: Callable[[], Job], given: Sequence[Row] | None) -> Generator[Row, None, None]:
        names = stage_names(job.layout, reads_sources=given is None)
        with closing(rows_of(self.session, job_title(job.layout), lambda: self.frame(job, load, given), names)) as rows:
            for values in rows:
                row = Row(*values)
                if row.kind == Kind.END:  # all ranges behind it are empty, and need not be fetched
                    return
                yield row

    def frame(self, job: Job, load: Callable[[], Job], given: Sequence[Row] | None) -> Any:
        """The data frame of a run: its rows for the tail, sorted by epoch, in partitions that follow one another."""
        from pyspark.sql import functions

        source = job.layout.place(SOURCES)
        if given is not None:
            frame = self.session.createDataFrame(as_table(given))
        elif job.slices is not None:
            partitions = min(len(job.slices), self.cores * _TASKS_PER_CORE)
            numbers = self.session.range(0, len(job.slices), 1, partitions)
            frame = numbers.mapInArrow(_named(read_slices(load), source), ROW)
        elif job.readers is not None:
            count = len(job.readers.each)
            numbers = self.session.range(0, count, 1, min(count, self.cores * _TASKS_PER_CORE))
            frame = numbers.mapInArrow(_named(read_apart(load), source), ROW)
        else:
            frame = self.session.range(0, 1, 1, 1).mapInArrow(_named(draw_all(load), source), ROW)
        for number, places in enumerate(job.layout.levels, 1):
            channels = sum(place.channels for place in places)
            frame = frame.repartitionById(channels, functions.col("channel") % channels)
            frame = frame.sortWithinPartitions("place", "epoch", "arrival")
            frame = frame.mapInArrow(_named(run_level(load, number), *places), ROW)
        frame = _in_ranges(frame, _Epochs.of(job, given), job)
        return frame.sortWithinPartitions("epoch", "arrival") if job.is_ordered else frame


def _in_ranges(frame: Any, epochs: _Epochs, job: Job) -> Any:
    """Each is fetched as a whole: one for all would have to fit into the driver.

    What is not sorted has one more, with the errors: they are known before anything is written.
    """
    from pyspark.sql import functions

    at_once = _SPOOLED_EPOCHS_AT_ONCE if job.shares_files else _EPOCHS_AT_ONCE
    ranges = _MOST_RANGES
    if epochs.count is not None:
        at_once = max(at_once, -(-epochs.count // _MOST_RANGES))
        ranges = -(-epochs.count // at_once)
    epoch, kind = functions.col("epoch"), functions.col("kind")
    within = functions.floor((epoch - epochs.first) / at_once)
    place = functions.least(functions.greatest(within, functions.lit(0)), functions.lit(ranges - 1))
    if epochs.count is None:
        ranges += 1
        place += functions.when(kind == Kind.END, 1).otherwise(0)
    if not job.is_ordered:
        ranges += 1
        place = functions.when((epoch == FIGURES) | (kind == Kind.ERROR), 0).otherwise(place + 1)
    return frame.repartitionById(ranges, place.cast("int"))


def job_title(layout: Layout) -> str:
    """The job's name in Spark's pages."""
    places = "; ".join(_name(place) for place in layout.places if not place.is_tail)
    return shortened(f"{layout.graph.name}: {places}")


def stage_names(layout: Layout, *, reads_sources: bool = True) -> list[str]:
    """Those of the stages of a job, the last of which brings what has come of it to the driver."""
    sources = layout.place(SOURCES)
    first = _names(sources, *layout.following(sources)) if reads_sources else "from the driver"
    levels = [[each for place in places for each in (place, *layout.following(place))] for places in layout.levels]
    sinks = [sink.id for sink in layout.graph.sinks]
    last = shortened(f"for the driver ({', '.join((*layout.place(TAIL).operators, *sinks))})")
    return [first, *(_names(*places) for places in levels), last]


def _named(task: Any, *places: Place) -> Any:
    """Spark's plans show the names of functions."""
    task.__name__ = _names(*places)
    return task


def _names(*places: Place) -> str:
    return shortened("; ".join(_name(place) for place in places))


def _name(place: Place) -> str:
    return f"{place.id} ({', '.join(place.operators)})"
