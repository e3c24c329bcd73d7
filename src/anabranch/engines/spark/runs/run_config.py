"""What a bounded run is given, and what follows from that alone: for one job, and for those of the rounds of a loop."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from anabranch.codegen.forms import Form
from anabranch.dataflow.channels.tripwires import tripwire_of
from anabranch.dataflow.layout.generating import generated
from anabranch.dataflow.layout.lower import lower
from anabranch.dataflow.layout.places import Layout
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.sources.expected_size import form_for
from anabranch.dataflow.sources.readers import readers_of
from anabranch.dataflow.sources.source_slices import EPOCH, cut
from anabranch.dataflow.transport.cluster import Cluster
from anabranch.dataflow.transport.shipping import Job
from anabranch.engines.spark.job.tasks import task_name
from anabranch.graph.degree import Channels, degree_of
from anabranch.graph.model import Graph
from anabranch.graph.plan import Plan

Slices = tuple[Any, ...] | None


@dataclass(frozen=True)
class RunConfig:
    """A plan, where it is to run and how."""

    cluster: Cluster
    plan: Plan
    metrics: Metrics
    wanted_form: Form = "auto"
    channels: Channels = "auto"
    epoch: int = EPOCH  # tuples

    @property
    def graph(self) -> Graph:
        return self.plan.graph

    @cached_property
    def form(self) -> Form:
        return form_for(self.graph, self.wanted_form)

    @cached_property
    def degree(self) -> dict[str, int]:
        return degree_of(self.plan, self.channels, self.cluster.cores)

    def cut(self, graph: Graph) -> Slices:
        return cut(graph, self.epoch, self.cluster.cores)

    def laid_out(self, plan: Plan, slices: Slices) -> Layout:
        """A plan, or a part of this one, in places; what has to be in one place is noted."""
        layout = lower(plan, self.degree, slices_sources=slices is not None)
        self.metrics.notes += [f"in one place: {note}" for note in layout.notes]
        return layout

    def job(self, layout: Layout, slices: Slices, folder: str, *, reads_sources: bool = True, **more: Any) -> Job:
        """All that tasks need to know; `folder` is the temporary one of the run."""
        for_tasks = layout.for_tasks(read_sources=reads_sources)
        # Where tasks write files, or nothing is put in order, nobody waits for what is wrong with partitions.
        waits = not layout.has_parts and more.get("is_ordered", True)
        is_apart = slices is None and reads_sources
        readers = readers_of(for_tasks.graph, self.epoch, partitions=waits) if is_apart else None
        code = generated(for_tasks, self.form, reads_slices=slices is not None)
        return Job(
            for_tasks,
            code,
            slices,
            self.epoch,
            readers,
            folder,
            self.cluster.shares_files,
            os.getcwd(),
            tripwire=tripwire_of(for_tasks, code),
            task_name=task_name,
            **more,
        )
