"""What engines with a transport do alike: they look at sources and sinks, and settle the plan for what is there."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import cast

from anabranch.compiler import execute_with
from anabranch.dataflow.result import Metrics, Result, carrying_result, collected
from anabranch.dataflow.runs.execute import execute
from anabranch.dataflow.runs.run_config import RunConfig
from anabranch.dataflow.sources.source_order import check_sources
from anabranch.dataflow.sources.source_slices import STRETCH
from anabranch.dataflow.tail.interrupts import shielded
from anabranch.dataflow.tail.sinks import check_sinks
from anabranch.dataflow.transport.transport import Transport
from anabranch.engines import in_process
from anabranch.graph.forms import Form
from anabranch.graph.places import Reading
from anabranch.graph.plan import Plan
from anabranch.graph.settings import Channels, Settings
from anabranch.operators.sinks.base import SinkDefinition


def run_on(
    transport: Transport,
    analysed: Plan,
    metrics: Metrics,
    form: Form = "auto",
    channels: Channels = "auto",
    stretch: int = STRETCH,
    fuse: str = "all",
) -> Result:
    """Run a plan on a transport, with other settings than it was made for."""
    metrics.start(analysed.graph)
    check(analysed, metrics)
    settings = replace(analysed.settings, form=form, channels=channels, fuse=fuse)
    return run_checked(transport, analysed, settings, metrics, stretch)


def check(plan: Plan, metrics: Metrics) -> None:
    """Say what cannot be read or written, as the sequential engine would before its first tuple."""
    with _carrying_nothing(plan, metrics), shielded() as shield:
        check_sources(plan.graph)
        check_sinks(plan.graph, shield)


def _carrying_nothing(plan: Plan, metrics: Metrics) -> AbstractContextManager[None]:
    """An error before the first tuple carries the result of a run that gave none."""
    meanings = [cast(SinkDefinition, sink.definition).meaning(sink) for sink in plan.graph.sinks]
    return carrying_result(lambda: Result(plan, metrics, collected(meanings)))


def run_checked(
    transport: Transport, analysed: Plan, settings: Settings, metrics: Metrics, stretch: int = STRETCH
) -> Result:
    """Run the plan for this transport, and for the files as they are now."""
    config = _settle(RunConfig(transport, analysed, metrics, stretch), settings)
    return run_here(config.plan, metrics) if config.plan.is_in_process else execute(config)


def run_here(plan: Plan, metrics: Metrics) -> Result:
    """What cannot leave this process is not parallel."""
    metrics.notes.append(f"all of it ran in the driver: {plan.phases[0].why}")
    return in_process.run(plan, metrics)


def _settle(config: RunConfig, settings: Settings) -> RunConfig:
    """The plan for a transport. Which files cannot be cut or read apart after all is known only now: empty ones."""
    target = replace(settings.target, cores=config.transport.cores)
    wanted = replace(settings, target=target)
    if config.plan.settings != wanted:
        config = replace(config, plan=execute_with(config.plan, wanted))
    for phase in config.plan.phases:
        if phase.reading is Reading.SLICES and config.slices(phase) is None:
            target = replace(target, reads_slices=False)
        if phase.reading is Reading.APART and config.readers(phase) is None:
            target = replace(target, reads_apart=False)
    if target == config.plan.settings.target:
        return config
    return _settle(config, replace(settings, target=target))
