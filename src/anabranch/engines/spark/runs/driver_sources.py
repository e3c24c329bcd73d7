"""A run whose sources are read in the driver: a job for what has come, and then another for what came meanwhile.

What a socket, a pipe or a user's own source gives is to be had in this process only. The parallel regions behind it are
on Spark all the same, with channels that go on from job to job.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import closing

from anabranch.analysis.modules import held_world
from anabranch.codegen.effects import has_effects
from anabranch.dataflow.channels.tripwires import check_here
from anabranch.dataflow.result import Result
from anabranch.dataflow.sources.batching import draw_soon
from anabranch.dataflow.sources.shared_sources import may_share
from anabranch.dataflow.sources.source_order import Drawn
from anabranch.dataflow.sources.source_tasks import DrawTask
from anabranch.dataflow.tail.interrupts import Shield, shielded
from anabranch.dataflow.tail.sinks import opened
from anabranch.dataflow.tail.tail import Tail
from anabranch.dataflow.transport.scratch import scratch_folder
from anabranch.dataflow.transport.shipping import Job
from anabranch.dataflow.transport.spooling import spooled
from anabranch.dataflow.transport.task_progress import watched
from anabranch.engines.spark.job.jobs_in_a_row import run_next
from anabranch.engines.spark.runs.run_config import RunConfig
from anabranch.graph.plan import Plan
from anabranch.graph.traverse import loops
from anabranch.operators.sinks.collect import Collect
from anabranch.operators.sinks.write_file import WriteFile

_EPOCHS = 64  # of which a job is made at most
_SECONDS = 2.0  # for which tuples are gathered at most: a job takes about one
_PATIENCE = 0.2  # seconds that sources may give nothing before what has come is processed


def can_be_dealt_out(plan: Plan) -> bool:
    """Whether what is read in the driver may be processed later, in many channels.

    Not where somebody waits for what comes out, nor where a source and an operator may share something: then each tuple
    is processed before the next is drawn.
    """
    if not plan.regions or loops(plan.graph):
        return False
    if not all(isinstance(sink.definition, Collect | WriteFile) for sink in plan.graph.sinks):
        return False
    if not any(map(may_share, plan.graph.sources)):
        return True
    between = [each for each in plan.graph.operators if not each.is_source and not each.is_sink]
    with held_world(thoroughly=False):
        return not any(map(has_effects, between))


class AsItComes:
    """A run as a job for whatever has come."""

    def __init__(self, config: RunConfig) -> None:
        self.config = config
        self.metrics = config.metrics
        self.layout = config.laid_out(config.plan, None)
        self.tail = Tail(config.graph, self.layout, self.metrics, config.form)

    def run(self) -> None:
        with shielded() as shield, scratch_folder() as folder, watched(self.metrics, folder):
            self.tail.spool = folder
            job = self.config.job(self.layout, None, folder, reads_sources=False, keeps_state=True)
            # A program that cannot be sent is known before its sinks are opened, and anything is drawn.
            self.config.cluster.rows(job, []).close()
            with opened(self.tail.sinks, shield):
                try:
                    self._process_all(job, shield)
                finally:
                    self.metrics.stop()
                    self.metrics.notes += self.tail.notes

    def _process_all(self, job: Job, shield: Shield) -> None:
        task = DrawTask(job)
        sources = draw_soon(self.config.graph.sources, _PATIENCE)
        with closing(sources), closing(_with_pauses(sources, _EPOCHS * job.epoch)) as drawn:
            while not task.has_ended:
                rows = list(spooled(task.rows(drawn), job.scratch if job.shares_files else ""))
                self.tail.add_figures([task.figures()])
                if rows:
                    run_next(self.config.cluster, job, self.tail, rows, shield)
        check_here(job, self.config.graph)
        self.tail.check()

    def result(self) -> Result:
        return self.tail.result()


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
