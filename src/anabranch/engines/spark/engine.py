"""Runs a plan on Spark: the parallel part as one job of chunk rows, the rest and the sinks in this process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing, nullcontext

from anabranch.codegen.build import Decision
from anabranch.codegen.forms import Form
from anabranch.engines import in_process
from anabranch.engines.base import Metrics, Result, carrying_result
from anabranch.engines.drawing import check_sources
from anabranch.engines.expected_size import expected_tuples, form_for
from anabranch.engines.interrupts import Shield, shielded
from anabranch.engines.sinks import opened
from anabranch.engines.spark.degree import degree_of
from anabranch.engines.spark.exchange import Cluster, SparkCluster
from anabranch.engines.spark.generating import generated
from anabranch.engines.spark.looping import run_in_rounds
from anabranch.engines.spark.lower import lower
from anabranch.engines.spark.parts import WrittenParts, with_parts
from anabranch.engines.spark.rounds import Rounds, rounds_of
from anabranch.engines.spark.session import SparkOptions, session_for
from anabranch.engines.spark.shipping import CannotBeSent, Job
from anabranch.engines.spark.sources import EPOCH, cut, must_stay
from anabranch.engines.spark.tail import Tail
from anabranch.engines.spark.watching import watched
from anabranch.graph.plan import Plan


def run(
    plan: Plan,
    metrics: Metrics | None = None,
    form: Form = "auto",
    channels: int | Mapping[str, int] | None = None,
    options: SparkOptions | None = None,
) -> Result:
    """Run a bounded program; an error or interrupt that stops it carries the result so far."""
    metrics = metrics or Metrics()
    metrics.start(plan.graph)  # who is interrupted while Spark starts asks for figures too
    why = must_stay(plan.graph)
    if why is not None:
        return _run_here(plan, metrics, form, why)
    cluster = SparkCluster(session_for(options or SparkOptions()))
    try:
        return run_on(cluster, plan, metrics, form, channels)
    except CannotBeSent as problem:
        return _run_here(plan, metrics, form, f"it cannot be sent to Spark's workers: {problem}")


def _run_here(plan: Plan, metrics: Metrics, form: Form, why: str) -> Result:
    """What cannot leave this process is not parallel."""
    metrics.notes.append(f"all of it ran in the driver: {why}")
    return in_process.run(plan.graph, metrics, form)


def run_on(
    cluster: Cluster,
    plan: Plan,
    metrics: Metrics,
    form: Form = "auto",
    channels: int | Mapping[str, int] | None = None,
    epoch: int = EPOCH,
) -> Result:
    rounds = rounds_of(plan)
    if isinstance(rounds, Rounds):
        return run_in_rounds(cluster, plan, rounds, metrics, form, channels, epoch)
    metrics.notes += [f"in one place: {rounds}"] if rounds else []
    execution = _Execution(cluster, plan, metrics, form, channels, epoch)
    with carrying_result(execution.result):
        execution.run()
    return execution.result()


class _Execution:
    def __init__(
        self,
        cluster: Cluster,
        plan: Plan,
        metrics: Metrics,
        form: Form,
        channels: int | Mapping[str, int] | None,
        epoch: int,
    ) -> None:
        self.cluster = cluster
        self.graph = plan.graph
        self.metrics = metrics
        metrics.start(plan.graph)
        self.form = form_for(plan.graph, form)
        self.epoch = epoch
        self.slices = cut(plan.graph, epoch, cluster.cores)
        layout = lower(plan, degree_of(plan, channels, cluster.cores), slices_sources=self.slices is not None)
        self.layout = with_parts(layout, cluster.cores)
        self.parts = WrittenParts(self.layout) if self.layout.has_parts else None
        metrics.notes += [f"in one place: {note}" for note in self.layout.notes]
        self.tail = Tail(plan.graph, self.layout, metrics, self.form)

    def _job(self, code: dict[str, Decision], reports: str) -> Job:
        drawn = expected_tuples(self.graph) // self.epoch + 1
        epochs = drawn if self.slices is None else len(self.slices)
        parts = str(self.parts.folder.place) if self.parts is not None else ""
        return Job(
            self.layout.for_tasks(),
            code,
            self.slices,
            self.epoch,
            epochs,
            reports,
            self.cluster.shares_files,
            os.getcwd(),
            is_ordered=self.tail.is_ordered,
            parts=parts,
        )

    # A run ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        check_sources(self.graph)
        with shielded() as shield, opened(self.tail.sinks, shield), self.parts or nullcontext():
            try:
                self._process_all(shield)
            finally:
                self.metrics.stop()
                self.metrics.notes += self.tail.notes

    def _process_all(self, shield: Shield) -> None:
        code = generated(self.layout.for_tasks(), self.form)
        with (
            watched(self.metrics) as reports,
            closing(self.cluster.rows(self._job(code, reports))) as arriving,
        ):
            self.tail.spool = reports
            for epoch, arranged in self.tail.in_order(arriving):
                error = self.tail.process(arranged, shield)
                if error is not None:
                    if self.parts is not None:
                        self.parts.folder.cut(epoch)
                    raise error from error.__cause__

    def result(self) -> Result:
        return self.tail.result()
