"""Rows of a job by references: from who reads the sources, through the units of its places, to the tail."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass

from anabranch.dataflow.transport.rows import Kind, Row
from anabranch.dataflow.transport.sending import FIGURES
from anabranch.dataflow.transport.shipping import Job
from anabranch.engines.multicore.feeds import DrawnFeed, GivenFeed, JobFeed, SliceFeed
from anabranch.engines.multicore.places import Places
from anabranch.workers.flow import Flow
from anabranch.workers.heuristics import heuristic_by
from anabranch.workers.parcels import Parcel
from anabranch.workers.pool import Pool

_SLICE_SECONDS = 0.01  # for which a worker stays at a stage
_BEGUN_PER_WORKER = 4  # stretches


@dataclass
class Multicore:
    """Threads of this process. What tasks share is the program's own, which nothing copies."""

    workers: int
    heuristic: str = "CT"
    shares_files: bool = False  # rows that are pieces stay so: nothing goes through files

    @property
    def cores(self) -> int:
        return self.workers

    @staticmethod
    def task_name() -> str | None:
        return None

    def rows(self, job: Job, given: Sequence[Row] | None = None) -> Generator[Row, None, None]:
        places = Places(job)
        feed: JobFeed
        if given is not None:
            places.restore(given)
            feed = GivenFeed(given, places.address)
        elif job.slices is not None:
            feed = SliceFeed(job, places.address, self.workers)
        else:
            feed = DrawnFeed(job, places.address)
        flow = self.flow(feed, places)
        left: list[Row] = []
        with closing(self.run(flow)) as taken:
            for _, parcels in taken:
                left = _errors_first(parcel.what for parcel in parcels)
                if any(row.kind == Kind.ERROR for row in left):
                    break  # nothing behind it is asked for
                yield from left
                left = []
        yield from feed.figures()
        yield from places.ended()
        yield from left

    def flow(self, feed: JobFeed, places: Places) -> Flow:
        return Flow(
            feed,
            places.levels,
            heuristic_by(self.heuristic, _SLICE_SECONDS),
            most_begun=_BEGUN_PER_WORKER * self.workers,
            slice_seconds=_SLICE_SECONDS,
        )

    def run(self, flow: Flow) -> Generator[tuple[int, list[Parcel]], None, None]:
        return Pool(flow, self.workers).run()


def _errors_first(rows: Iterable[Row]) -> list[Row]:
    """Of a stretch: what is said of it before what it holds, as whoever writes without an order needs to know."""
    return sorted(rows, key=lambda row: (row.stretch != FIGURES, row.kind != Kind.ERROR, row.arrival))
