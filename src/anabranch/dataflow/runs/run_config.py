"""What a bounded run is given, and what follows from that alone: for one job, and for those of the rounds of a loop."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from anabranch.dataflow.channels.tripwires import tripwire_of
from anabranch.dataflow.layout.generating import generate_code
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.sources.readers import Readers, readers_of
from anabranch.dataflow.sources.source_slices import STRETCH, cut
from anabranch.dataflow.transport.shipping import Job
from anabranch.dataflow.transport.transport import Transport
from anabranch.graph.model import Graph
from anabranch.graph.places import Phase, Reading
from anabranch.graph.plan import Plan

Slices = tuple[Any, ...]


@dataclass(frozen=True)
class RunConfig:
    """A plan, and where it is to run."""

    transport: Transport
    plan: Plan
    metrics: Metrics
    stretch: int = STRETCH  # tuples

    @property
    def graph(self) -> Graph:
        return self.plan.graph

    def slices(self, phase: Phase) -> Slices | None:
        """The only source as it is cut; None where it is not read in slices, or cannot be after all."""
        graph = phase.layout.graph
        return cut(graph, self.stretch, self.transport.cores) if phase.reading is Reading.SLICES else None

    def readers(self, phase: Phase) -> Readers | None:
        """Sources that are drawn in turn, and can be."""
        if phase.reading is not Reading.APART:
            return None
        return readers_of(phase.layout.graph, self.stretch, partitions=phase.layout.waits_for_all)

    def job(self, phase: Phase, folder: str, **more: Any) -> Job:
        """All that tasks need to know; `folder` is the temporary one of the run."""
        reads_sources = phase.reading not in (Reading.HERE, Reading.ROUND)
        for_tasks = phase.layout.for_tasks(read_sources=reads_sources)
        code = generate_code(self.plan, phase.name, for_tasks)
        return Job(
            for_tasks,
            code,
            self.slices(phase),
            self.stretch,
            phase.reading,
            self.readers(phase),
            folder,
            self.transport.shares_files,
            os.getcwd(),
            tripwire=tripwire_of(for_tasks, code),
            cores=self.transport.cores,
            task_name=self.transport.task_name,
            **more,
        )
