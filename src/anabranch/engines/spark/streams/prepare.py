"""From a plan and a checkpoint to all that a stream needs before Spark has to do with it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from anabranch.compiler import execute_with
from anabranch.dataflow.channels.tripwires import tripwire_of
from anabranch.dataflow.layout.generating import generate_code
from anabranch.dataflow.streams.checkpoint import Checkpoint, CheckpointError
from anabranch.dataflow.streams.identity import check_same, identity_of
from anabranch.dataflow.transport.shipping import Job
from anabranch.graph.degree import asked_channels, degree_of
from anabranch.graph.forms import Form
from anabranch.graph.places import Layout
from anabranch.graph.plan import Plan
from anabranch.graph.settings import Channels, Target

CHANNELS_PER_CORE = 4  # of a stream: their number stays, and the cores may become more
PARTITIONS_PER_CORE = 2  # that channels share, at most: each is a task in every batch, which costs as much as tuples do


@dataclass(frozen=True)
class Prepared:
    """A stream that is laid out, and is the one its checkpoint belongs to."""

    plan: Plan
    job: Job
    partitions: int  # of the state of each level

    @property
    def layout(self) -> Layout:
        return self.plan.phases[0].layout

    @property
    def levels(self) -> list[int]:
        """How many channels each level has."""
        return _levels(self.layout)


def prepare(plan: Plan, checkpoint: Checkpoint, cores: int, channels: Channels, form: Form) -> Prepared:
    """Lay a stream out as it was at its first start; a checkpoint of another program is refused."""
    before = checkpoint.identity()
    degree = _degree(plan, checkpoint, channels, before, CHANNELS_PER_CORE * cores)
    target = Target("spark", cores, CHANNELS_PER_CORE, is_endless=True)
    plan = execute_with(plan, replace(plan.settings, target=target, channels=degree, form=form))
    layout = plan.phases[0].layout
    for_tasks = layout.for_tasks()
    code = generate_code(plan, plan.phases[0].name, for_tasks, tracks_changes=True)
    partitions = min(max(_levels(layout), default=1), PARTITIONS_PER_CORE * cores)
    if before is not None:
        partitions = before["partitions"]  # state is where it was put
    now = identity_of(layout, code, degree, partitions, form)
    if before is None:
        checkpoint.write_identity(now)
    else:
        check_same(checkpoint.folder, before, now)
    return Prepared(
        plan, Job(for_tasks, code, None, 1, folder=os.getcwd(), tripwire=tripwire_of(for_tasks, code)), partitions
    )


def _levels(layout: Layout) -> list[int]:
    return [sum(place.channels for place in places) for places in layout.levels]


def _degree(
    plan: Plan,
    checkpoint: Checkpoint,
    given: Channels,
    before: Mapping[str, Any] | None,
    usual: int,
) -> dict[str, int]:
    """As at the first start; else as given, or the usual number."""
    if before is None:
        return degree_of(plan, given, usual)
    fixed: dict[str, int] = before["channels"]
    for region, number in asked_channels(plan, given).items():
        if number != fixed.get(region, number):
            raise CheckpointError(
                f"{checkpoint.folder}: the stream has {fixed[region]} channels in {region} since its first start, "
                f"and cannot have {number}",
                hint="leave the number of channels out, or begin with a new folder",
            )
    return {region.id: fixed.get(region.id, usual) for region in plan.regions}
