"""Runs a plan on Spark: the parallel part as one job of chunk rows, the rest and the sinks in this process."""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, closing
from typing import cast

from anabranch.codegen.forms import Form
from anabranch.dataflow.channels.tripwires import check_here
from anabranch.dataflow.layout.rounds import Rounds, rounds_of
from anabranch.dataflow.result import Metrics, Result, carrying_result, collected
from anabranch.dataflow.sources.partition_keys import guarded
from anabranch.dataflow.sources.source_order import check_sources
from anabranch.dataflow.sources.source_slices import EPOCH, must_stay
from anabranch.dataflow.tail.interrupts import Shield, shielded
from anabranch.dataflow.tail.parts import WrittenParts, with_parts
from anabranch.dataflow.tail.sinks import check_sinks, opened
from anabranch.dataflow.tail.tail import Tail
from anabranch.dataflow.transport.cluster import Cluster
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.scratch import scratch_folder
from anabranch.dataflow.transport.shipping import CannotBeSent
from anabranch.dataflow.transport.task_progress import watched
from anabranch.engines import in_process
from anabranch.engines.spark.job.exchange import SparkCluster
from anabranch.engines.spark.runs.driver_sources import AsItComes, can_be_dealt_out
from anabranch.engines.spark.runs.looping import InRounds
from anabranch.engines.spark.runs.run_config import RunConfig
from anabranch.engines.spark.session.session import SparkOptions, has_session, session_for
from anabranch.graph.degree import Channels
from anabranch.graph.model import Graph
from anabranch.graph.plan import Plan
from anabranch.operators.sinks.base import SinkDefinition

_notes = logging.getLogger("anabranch.notes")


def run(
    plan: Plan,
    metrics: Metrics | None = None,
    form: Form = "auto",
    channels: Channels = "auto",
    options: SparkOptions | None = None,
) -> Result:
    """Run a bounded program; an error or interrupt that stops it carries the result so far."""
    metrics = metrics or Metrics()
    metrics.start(plan.graph)  # who is interrupted while Spark starts asks for figures too
    with _carrying_nothing(plan.graph, metrics):
        why = must_stay(plan.graph)
    if why is not None and not can_be_dealt_out(plan):
        return _run_here(plan, metrics, form, why)
    _check(plan.graph, metrics)  # before Spark is started
    options = options or SparkOptions()
    if not plan.regions and not has_session(options):
        _notes.warning(
            f"{plan.graph.name}: nothing in it can run in parallel (anabranch explain says why), and Spark takes "
            'seconds to start: engine="fused" (--engine fused) is faster'
        )
    asked = time.perf_counter()
    session = session_for(options)
    metrics.spark_start = time.perf_counter() - asked
    cluster = SparkCluster(session)
    try:
        return _run_checked(cluster, plan, metrics, form, channels)
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
    channels: Channels = "auto",
    epoch: int = EPOCH,
) -> Result:
    metrics.start(plan.graph)
    _check(plan.graph, metrics)
    return _run_checked(cluster, plan, metrics, form, channels, epoch)


def _check(graph: Graph, metrics: Metrics) -> None:
    """Say what cannot be read or written, as the sequential engine would before its first tuple."""
    with _carrying_nothing(graph, metrics), shielded() as shield:
        check_sources(graph)
        check_sinks(graph, shield)


def _carrying_nothing(graph: Graph, metrics: Metrics) -> AbstractContextManager[None]:
    """An error before the first tuple carries the result of a run that gave none."""
    meanings = [cast(SinkDefinition, sink.definition).meaning(sink) for sink in graph.sinks]
    return carrying_result(lambda: Result(graph, metrics, collected(meanings)))


def _run_checked(
    cluster: Cluster, plan: Plan, metrics: Metrics, form: Form, channels: Channels, epoch: int = EPOCH
) -> Result:
    config = RunConfig(cluster, plan, metrics, form, channels, epoch)
    rounds = rounds_of(plan)
    execution: InRounds | AsItComes | _AtOnce
    why = must_stay(plan.graph)
    if why is not None:
        execution = AsItComes(config)
        if not execution.layout.levels:
            return _run_here(plan, metrics, form, why)
        metrics.notes.append(f"the sources were read in the driver: {why}")
    elif isinstance(rounds, Rounds):
        execution = InRounds(config, rounds)
    else:
        metrics.notes += [f"in one place: {rounds}"] if rounds else []
        execution = _AtOnce(config)
    with carrying_result(execution.result):
        execution.run()
    return execution.result()


class _AtOnce:
    """A run as one job."""

    def __init__(self, config: RunConfig) -> None:
        self.config = config
        self.metrics = config.metrics
        self.slices = config.cut(config.graph)
        self.layout = with_parts(config.laid_out(config.plan, self.slices), config.cluster.cores)
        self.parts = WrittenParts(self.layout) if self.layout.has_parts else None
        self.tail = Tail(config.graph, self.layout, self.metrics, config.form)

    # A run ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        written = [self.parts] if self.parts is not None else []
        with (
            shielded() as shield,
            scratch_folder() as folder,
            watched(self.metrics, folder),
            opened(written, shield),
        ):
            arriving = self._rows(folder)  # a program that cannot be sent opens its sinks in this process, later
            with opened(self.tail.sinks, shield), closing(arriving):
                try:
                    self._process_all(arriving, shield)
                finally:
                    self.metrics.stop()
                    self.metrics.notes += self.tail.notes

    def _rows(self, folder: str) -> Generator[Row, None, None]:
        self.tail.spool = folder
        parts = str(self.parts.folder.place) if self.parts is not None else ""
        self.job = self.config.job(self.layout, self.slices, folder, is_ordered=self.tail.is_ordered, parts=parts)
        return guarded(self.config.cluster.rows(self.job), self.job)

    def _process_all(self, arriving: Iterator[Row], shield: Shield) -> None:
        failed = self.tail.process_all(arriving, shield)
        if failed is not None:
            epoch, error = failed
            if self.parts is not None and self.tail.is_ordered:
                self.parts.folder.cut(epoch)
            raise error from error.__cause__
        check_here(self.job, self.config.graph)
        self.tail.check()
        if self.parts is not None:
            self.parts.check(self.tail.written)

    def result(self) -> Result:
        return self.tail.result()
