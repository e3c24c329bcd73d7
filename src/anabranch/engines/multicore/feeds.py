"""Who reads the sources of a job in this process: slices by any number of workers, one who draws, or what is given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from anabranch.dataflow.sources.source_slices import expect_to_read
from anabranch.dataflow.sources.source_tasks import SliceTask, drawn_rows
from anabranch.dataflow.transport.rows import Kind, Row
from anabranch.dataflow.transport.sending import FIGURES
from anabranch.dataflow.transport.shipping import Job
from anabranch.workers.parcels import Parcel

Address = Callable[[Iterable[Row]], list[Parcel]]


class SliceFeed:
    """Each worker has a task of its own, and takes the next slice, which is a stretch."""

    first = 0

    def __init__(self, job: Job, address: Address, workers: int) -> None:
        assert job.slices is not None
        self.most = workers
        self.count: int | None = len(job.slices)
        self._slices = job.slices
        self._address = address
        expect_to_read(job.layout.graph.sources[0], job.slices, tasks=workers)
        self._job = job
        self._tasks = [self._task() for _ in range(workers)]
        self._free = list(self._tasks)

    def _task(self) -> SliceTask:
        return SliceTask(self._job, self._job.layout.graph.sources[0])

    def read(self, stretch: int) -> list[Parcel]:
        task = self._free.pop()
        is_last = stretch == self.count - 1 if self.count is not None else False
        rows = list(task.process_stretch(stretch, self._slices[stretch], is_last=is_last))
        if any(row.kind == Kind.ERROR for row in rows):
            # It does nothing more, and what comes before the error may still have to be read.
            task = self._task()
            self._tasks.append(task)
        self._free.append(task)
        return self._address(rows)

    def figures(self) -> Iterator[Row]:
        for task in self._tasks:
            task.reporter.write()
            yield from task.figures()


class DrawnFeed:
    """One worker draws from all sources. How many stretches there are is known when it has drawn them."""

    first = 0
    most = 1

    def __init__(self, job: Job, address: Address) -> None:
        self.count: int | None = None
        self._rows = drawn_rows(job)
        self._address = address
        self._ahead: Row | None = None  # the first of a later stretch
        self._figures: list[Row] = []

    def read(self, stretch: int) -> list[Parcel]:
        rows: list[Row] = []
        while self.count is None and (row := self._ahead or next(self._rows, None)) is not None:
            self._ahead = None
            if row.kind == Kind.END:
                self.count = max(row.stretch, stretch)
            elif row.kind == Kind.FIGURES:
                self._figures.append(row)
            elif row.stretch > stretch:
                self._ahead = row
                return self._address(rows)
            else:
                rows.append(row)
        if self.count is None or rows:  # nothing comes any more, with the last tuples or behind an error
            self.count = stretch + 1
        return self._address(rows)

    def figures(self) -> Iterator[Row]:
        yield from self._figures


class GivenFeed:
    """What the process that runs the program has read itself, or what comes around in a loop."""

    most = 1

    def __init__(self, rows: Sequence[Row], address: Address) -> None:
        self._by_stretch: dict[int, list[Row]] = defaultdict(list)
        for row in rows:
            if row.stretch != FIGURES:
                self._by_stretch[row.stretch].append(row)
        self.first = min(self._by_stretch, default=0)
        self.count: int | None = max(self._by_stretch, default=-1) + 1 - self.first
        self._address = address

    def read(self, stretch: int) -> list[Parcel]:
        return self._address(self._by_stretch.pop(stretch, ()))

    def figures(self) -> Iterator[Row]:
        yield from ()


JobFeed = SliceFeed | DrawnFeed | GivenFeed
