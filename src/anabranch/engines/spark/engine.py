"""Runs a plan on Spark: the parallel part as one job of chunk rows, the rest and the sinks in this process."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import closing
from itertools import groupby
from typing import Any

from anabranch.codegen.build import Decision, generate
from anabranch.codegen.forms import Form
from anabranch.engines import in_process
from anabranch.engines.base import Metrics, Result, carrying_result, collected
from anabranch.engines.drawing import check_sources
from anabranch.engines.expected_size import expected_tuples, form_for
from anabranch.engines.interrupts import Shield, shielded
from anabranch.engines.local_part import LocalPart
from anabranch.engines.sinks import opened
from anabranch.engines.spark.chunk_rows import Kind, Row, unpack
from anabranch.engines.spark.exchange import Cluster, SparkCluster
from anabranch.engines.spark.layout import SOURCES, TAIL
from anabranch.engines.spark.lower import lower
from anabranch.engines.spark.meeting import Arrived, gathered, met, without
from anabranch.engines.spark.order import Moment, width
from anabranch.engines.spark.session import SparkOptions, session_for
from anabranch.engines.spark.shipping import CannotBeSent, Job, unship_error, unship_figures
from anabranch.engines.spark.source_tasks import part_behind_the_source
from anabranch.engines.spark.sources import EPOCH, cut, must_stay
from anabranch.engines.spark.tasks import FIGURES, part_at
from anabranch.engines.spark.watching import watched
from anabranch.errors import RunError, UsageError
from anabranch.graph.plan import Plan

_MOST_CHANNELS = 10_000


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
        self.layout = lower(plan, self._degree(plan, channels), slices_sources=self.slices is not None)
        metrics.notes += [f"in one place: {note}" for note in self.layout.notes]
        self.tail = self.layout.place(TAIL)
        self.arriving = self.layout.arriving(TAIL)
        self.local = LocalPart(
            plan.graph, self.tail.operators, [each.stream for each in self.arriving], metrics, self.form
        )

    def _degree(self, plan: Plan, channels: int | Mapping[str, int] | None) -> dict[str, int]:
        given = channels if isinstance(channels, Mapping) else {}
        usual = channels if isinstance(channels, int) else self.cluster.cores
        regions = [region.id for region in plan.regions]
        for name, number in (given or {"channels": usual}).items():
            if given and name not in regions:
                known = f"its regions are {', '.join(regions)}" if regions else "it has none"
                raise UsageError(f"the program has no region '{name}'", hint=known)
            if not 1 <= number <= _MOST_CHANNELS:
                raise UsageError(f"{number} is not a number of channels", hint=f"use 1 to {_MOST_CHANNELS:,}")
        return {region.id: given.get(region.id, usual) for region in plan.regions}

    def _job(self, generated: dict[str, Decision], reports: str) -> Job:
        drawn = expected_tuples(self.graph) // self.epoch + 1
        epochs = drawn if self.slices is None else len(self.slices)
        return Job(self.layout.for_tasks(), generated, self.slices, self.epoch, epochs, reports, os.getcwd())

    def _generated(self) -> dict[str, Decision]:
        """The code of every place that is not here."""
        layout = self.layout.for_tasks()
        behind = part_behind_the_source(layout)
        found = {SOURCES: generate(behind, self.form)} if behind is not None else {}
        for place in self.layout.places:
            if place.id not in (SOURCES, TAIL):
                found[place.id] = generate(part_at(layout, place), self.form, origins=True)
        return found

    # A run ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        check_sources(self.graph)
        with shielded() as shield, opened(self.local.sinks(), shield):
            try:
                self._process_all(shield)
            finally:
                self.metrics.stop()
                self.metrics.notes += self.local.element.notes

    def _process_all(self, shield: Shield) -> None:
        generated = self._generated()
        with (
            watched(self.metrics) as reports,
            closing(self.cluster.rows(self._job(generated, reports))) as arriving,
        ):
            for epoch, rows in groupby(arriving, key=lambda row: row.epoch):
                if epoch == FIGURES:
                    self._add_figures(rows)
                    continue
                error = self._epoch(list(rows), shield)
                if error is not None:
                    raise error from error.__cause__

    def _add_figures(self, rows: Iterable[Row]) -> None:
        for row in rows:
            operators, tuples_in, notes = unship_figures(bytes(row.payload))
            self.metrics.tuples_in += tuples_in
            self.metrics.notes += [note for note in notes if note not in self.metrics.notes]
            for operator_id, counted in operators.items():
                own = self.metrics[operator_id]
                for name, count in vars(counted).items():
                    setattr(own, name, getattr(own, name) + count)

    def _epoch(self, rows: list[Row], shield: Shield) -> RunError | None:
        """Process what has arrived within an epoch, up to the first error in it."""
        failed: tuple[Moment, RunError] | None = None
        pieces: list[list[Any]] = [[] for _ in self.arriving]
        for row in rows:
            if row.kind == Kind.ERROR:
                found = unship_error(bytes(row.payload), self.graph)
                if failed is None or found[0].is_before(failed[0]):
                    failed = found
            else:
                pieces[row.arrival].append(unpack(self._schema(row.arrival), bytes(row.payload)))
        arrived = [
            gathered(self._schema(number), each, width(self.arriving[number].lineage))
            for number, each in enumerate(pieces)
        ]
        if failed is not None:
            arrived = [self._cut(number, one, failed[0]) for number, one in enumerate(arrived)]
        items = met(arrived, [arrival.lineage for arrival in self.arriving])
        if len(items):
            with shield:
                self.local.process(items.batch, len(items), lambda begun: None)
        return failed[1] if failed is not None else None

    def _schema(self, arrival: int) -> Any:
        stream = self.arriving[arrival].stream
        return self.graph.operator(stream.operator).outputs[stream.port].schema

    def _cut(self, number: int, one: Arrived, moment: Moment) -> Arrived:
        is_after = moment.precedes(self.arriving[number].lineage, one.order, len(one.chunk))
        return without(one, is_after)

    def result(self) -> Result:
        return Result(self.graph, self.metrics, collected(self.local.sinks()))
