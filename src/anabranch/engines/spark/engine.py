"""Runs a plan on Spark: the parallel part as one job of chunk rows, the rest and the sinks in this process."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, nullcontext
from itertools import groupby

from anabranch.codegen.build import Decision, generate
from anabranch.codegen.forms import Form
from anabranch.engines import in_process
from anabranch.engines.base import Metrics, Result, carrying_result
from anabranch.engines.drawing import check_sources
from anabranch.engines.expected_size import expected_tuples, form_for
from anabranch.engines.interrupts import Shield, shielded
from anabranch.engines.sinks import opened
from anabranch.engines.spark.chunk_rows import Row
from anabranch.engines.spark.degree import degree_of
from anabranch.engines.spark.exchange import Cluster, SparkCluster
from anabranch.engines.spark.layout import PARTS, SOURCES, TAIL
from anabranch.engines.spark.lower import lower
from anabranch.engines.spark.parts import WrittenParts, with_parts
from anabranch.engines.spark.sending import FIGURES
from anabranch.engines.spark.session import SparkOptions, session_for
from anabranch.engines.spark.shipping import CannotBeSent, Job
from anabranch.engines.spark.source_tasks import part_behind_the_source
from anabranch.engines.spark.sources import EPOCH, cut, must_stay
from anabranch.engines.spark.tail import Arranged, Tail
from anabranch.engines.spark.tasks import part_at
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

    def _job(self, generated: dict[str, Decision], reports: str) -> Job:
        drawn = expected_tuples(self.graph) // self.epoch + 1
        epochs = drawn if self.slices is None else len(self.slices)
        parts = str(self.parts.folder.place) if self.parts is not None else ""
        return Job(
            self.layout.for_tasks(),
            generated,
            self.slices,
            self.epoch,
            epochs,
            reports,
            self.cluster.shares_files,
            os.getcwd(),
            is_ordered=self.tail.is_ordered,
            parts=parts,
        )

    def _generated(self) -> dict[str, Decision]:
        """The code of every place that is not here."""
        layout = self.layout.for_tasks()
        behind = part_behind_the_source(layout)
        found = {SOURCES: generate(behind, self.form)} if behind is not None else {}
        for place in self.layout.places:
            if place.id not in (SOURCES, PARTS, TAIL):
                found[place.id] = generate(part_at(layout, place), self.form, origins=True)
        return found

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
        generated = self._generated()
        with (
            watched(self.metrics) as reports,
            closing(self.cluster.rows(self._job(generated, reports))) as arriving,
        ):
            self.tail.spool = reports
            for epoch, arranged in self._arranged(arriving):
                error = self.tail.process(arranged, shield)
                if error is not None:
                    if self.parts is not None:
                        self.parts.folder.cut(epoch)
                    raise error from error.__cause__

    def _arranged(self, arriving: Iterator[Row]) -> Iterator[tuple[int, Arranged]]:
        """The epochs of the tail, in order; the next is being put in order while one is processed."""
        with ThreadPoolExecutor(1, thread_name_prefix="arrange") as thread:
            begun: tuple[int, Future[Arranged]] | None = None
            for epoch, rows in groupby(arriving, key=lambda row: row.epoch):
                if epoch == FIGURES:
                    self.tail.add_figures(rows)
                    continue
                ahead = epoch, thread.submit(self.tail.arranged, list(rows))
                if begun is not None:
                    yield begun[0], begun[1].result()
                begun = ahead
            if begun is not None:
                yield begun[0], begun[1].result()

    def result(self) -> Result:
        return self.tail.result()
