"""All places of a job in this process: what they send each other is handed over as it is."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence

from anabranch.dataflow.channels.levels import level_rows
from anabranch.dataflow.sources.reader_tasks import reader_rows
from anabranch.dataflow.sources.source_tasks import SliceTask, drawn_rows
from anabranch.dataflow.transport.rows import Kind, Row
from anabranch.dataflow.transport.sending import FIGURES
from anabranch.dataflow.transport.shipping import Job


class InProcess:
    """One task after the other. All of a level is held at once, so it is for what is small."""

    cores = 1
    shares_files = True

    @staticmethod
    def task_name() -> str | None:
        return None

    def rows(self, job: Job, given: Sequence[Row] | None = None) -> Generator[Row, None, None]:
        rows = self.carried(job, given if given is not None else self.read(job))
        for number, places in enumerate(job.layout.levels, 1):
            channels = sum(place.channels for place in places)
            by_channel: list[list[Row]] = [[] for _ in range(channels)]
            for row in rows:
                by_channel[row.channel % channels].append(row)
            rows = self.carried(job, (row for each in by_channel for row in _level(job, number, each)))
        for row in sorted(rows, key=_by_stretch if job.is_ordered else _errors_first):
            if row.kind != Kind.END:
                yield row

    def read(self, job: Job) -> Iterator[Row]:
        """What tasks read of the sources."""
        if job.readers is not None:
            return reader_rows(job, range(len(job.readers.each)))
        if job.slices is None:
            return drawn_rows(job)
        return SliceTask(job, job.layout.graph.sources[0]).rows(range(len(job.slices)))

    def carried(self, job: Job, rows: Iterable[Row]) -> list[Row]:
        """What tasks have sent, where it goes to."""
        return list(rows)


def _level(job: Job, number: int, rows: list[Row]) -> Iterator[Row]:
    return level_rows(job, number, iter(sorted(rows, key=lambda row: (row.place, row.stretch, row.arrival))))


def _by_stretch(row: Row) -> tuple[int, int]:
    return row.stretch, row.arrival


def _errors_first(row: Row) -> bool:
    """Of rows in any order: errors, and what was counted, come before all others."""
    return row.stretch != FIGURES and row.kind != Kind.ERROR
