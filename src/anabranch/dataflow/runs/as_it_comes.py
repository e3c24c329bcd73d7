"""A run whose sources are read in the driver: a job for what has come, and then another for what came meanwhile.

What a socket, a pipe or a user's own source gives is to be had in this process only. The parallel regions behind it run
elsewhere all the same, with channels that go on from job to job.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import closing

from anabranch.dataflow.runs.execution import Execution
from anabranch.dataflow.runs.jobs_in_a_row import run_next
from anabranch.dataflow.runs.run_config import RunConfig
from anabranch.dataflow.sources.batching import draw_soon
from anabranch.dataflow.sources.source_order import Drawn
from anabranch.dataflow.sources.source_tasks import DrawTask
from anabranch.dataflow.tail.interrupts import Shield
from anabranch.dataflow.tail.tail import Tail
from anabranch.dataflow.transport.shipping import Job
from anabranch.dataflow.transport.spooling import spool
from anabranch.graph.places import Reading

_STRETCHES = 64  # of which a job is made at most
_SECONDS = 2.0  # for which tuples are gathered at most: a job takes about one
_PATIENCE = 0.2  # seconds that sources may give nothing before what has come is processed


class AsItComes(Execution):
    """A run as a job for whatever has come."""

    def __init__(self, config: RunConfig) -> None:
        [self.phase] = config.plan.phases
        super().__init__(config, Tail(config.plan, self.phase, config.metrics))

    def begin(self, folder: str) -> list[Job]:
        self.tail.spool = folder
        self.job = self.config.job(self.phase, folder, keeps_state=True)
        self.config.transport.rows(self.job, []).close()
        return [self.job]

    def process_all(self, shield: Shield) -> None:
        job, task = self.job, DrawTask(self.job, Reading.HERE)
        sources = draw_soon(self.config.graph.sources, _PATIENCE)
        with closing(sources), closing(_with_pauses(sources, _STRETCHES * job.stretch)) as drawn:
            while not task.has_ended:
                rows = list(spool(task.rows(drawn), job.scratch if job.shares_files else ""))
                self.tail.add_figures(list(task.figures()))
                if rows:
                    run_next(self.config.transport, job, self.tail, rows, shield)


def _with_pauses(drawn: Iterator[Drawn | None], most: int) -> Generator[Drawn | None, None, None]:
    """A pause too where tuples have been gathered for long, or are many."""
    began, count = time.monotonic(), 0
    for each in drawn:
        yield each
        count += 1
        if each is None or count >= most or time.monotonic() - began >= _SECONDS:
            if each is not None:
                yield None
            began, count = time.monotonic(), 0
