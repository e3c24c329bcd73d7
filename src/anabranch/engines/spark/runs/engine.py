"""Runs a plan on Spark: the parallel part as one job of chunk rows, the rest and the sinks in this process."""

from __future__ import annotations

import logging
import time
from dataclasses import replace

from anabranch.compiler import execute_with
from anabranch.dataflow.result import Metrics, Result
from anabranch.dataflow.transport.shipping import CannotBeSent
from anabranch.engines import in_process
from anabranch.engines.on_transport import check, run_checked, run_here
from anabranch.engines.spark.job.exchange import SparkTransport
from anabranch.engines.spark.session.session import SparkOptions, has_session, session_for
from anabranch.graph.plan import Plan
from anabranch.graph.settings import IN_PROCESS

_notes = logging.getLogger("anabranch.notes")


def run(analysed: Plan, metrics: Metrics | None = None, options: SparkOptions | None = None) -> Result:
    """Run a bounded program; an error or interrupt that stops it carries the result so far."""
    metrics = metrics or Metrics()
    metrics.start(analysed.graph)  # who is interrupted while Spark starts asks for figures too
    if analysed.is_in_process:
        return run_here(analysed, metrics)
    check(analysed, metrics)  # before Spark is started
    options = options or SparkOptions()
    if not analysed.regions and not has_session(options):
        _notes.warning(
            f"{analysed.graph.name}: nothing in it can run in parallel (anabranch explain says why), and Spark takes "
            'seconds to start: engine="fused" (--engine fused) is faster'
        )
    asked = time.perf_counter()
    session = session_for(options)
    metrics.spark_start = time.perf_counter() - asked
    transport = SparkTransport(session)
    notes = len(metrics.notes)
    try:
        return run_checked(transport, analysed, analysed.settings, metrics)
    except CannotBeSent as problem:
        del metrics.notes[notes:]  # nothing of it has run
        metrics.executed.clear()
        plan = execute_with(analysed, replace(analysed.settings, target=IN_PROCESS))
        metrics.notes.append(f"all of it ran in the driver: it cannot be sent to Spark's workers: {problem}")
        return in_process.run(plan, metrics)
