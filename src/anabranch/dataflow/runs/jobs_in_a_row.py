"""Several jobs with the same channels, each of which goes on where the one before it was.

The driver keeps the states of channels from one job to the next, in the files that tasks wrote where all see the same
folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from anabranch.dataflow.tail.interrupts import Shield
from anabranch.dataflow.tail.tail import Tail
from anabranch.dataflow.transport.rows import Kind, Row
from anabranch.dataflow.transport.sending import FIGURES
from anabranch.dataflow.transport.shipping import Job
from anabranch.dataflow.transport.spooling import file_of
from anabranch.dataflow.transport.task_progress import join_reports
from anabranch.dataflow.transport.transport import Transport


def run_next(transport: Transport, job: Job, tail: Tail, rows: Sequence[Row], shield: Shield) -> None:
    """One more job, for these rows, up to the first error in what they become."""
    given = [*_restored(tail.states), *rows]
    with closing(transport.rows(job, given)) as arriving:
        for _, arranged in tail.in_order(arriving):
            error = tail.process(arranged, shield)
            if error is not None:
                raise error from error.__cause__
    _forget_files(Path(job.scratch), tail.states)
    join_reports(Path(job.scratch))


def _restored(states: Mapping[tuple[int, int], Row]) -> list[Row]:
    """The rows that bring the states of channels to them."""
    return [replace(row, place=row.arrival, stretch=FIGURES, arrival=0) for row in states.values()]


def _forget_files(folder: Path, states: Mapping[tuple[int, int], Row]) -> None:
    """Rows of jobs that are over; there may be many jobs."""
    needed = [file_of(row) for row in states.values() if row.kind == Kind.SPOOLED]
    for path in folder.glob("*.rows"):
        if path.name not in needed:
            path.unlink(missing_ok=True)
