"""From a plan and a checkpoint to all that a stream needs before Spark has to do with it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from anabranch.codegen.build import Code, generate
from anabranch.compiler import execute_with
from anabranch.dataflow.channels.tripwires import tripwire_of
from anabranch.dataflow.layout.generating import generate_code, segments_at
from anabranch.dataflow.layout.place_parts import part_of_tail
from anabranch.dataflow.layout.verify_executable import verify_executable
from anabranch.dataflow.streams.checkpoint import Checkpoint, CheckpointError
from anabranch.dataflow.streams.identity import check_same, identity_of
from anabranch.dataflow.transport.shipping import Job
from anabranch.graph.degree import asked_channels
from anabranch.graph.forms import Form
from anabranch.graph.places import TAIL, Layout
from anabranch.graph.plan import Plan
from anabranch.graph.settings import Channels, Target

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
    return hold_to(checkpoint, lay_out(plan, checkpoint, cores, channels, form))


def lay_out(plan: Plan, checkpoint: Checkpoint, cores: int, channels: Channels, form: Form) -> Plan:
    """The plan of a stream, with the channels that it has had since its first start."""
    before = checkpoint.identity()
    target = replace(plan.settings.target, cores=cores).for_stream
    if before is not None:
        channels = _as_before(plan, checkpoint, channels, before, target)
    return execute_with(plan, replace(plan.settings, target=target, channels=channels, form=form))


def hold_to(checkpoint: Checkpoint, plan: Plan) -> Prepared:
    """A stream as it is laid out. What its state depends on is written down at its first start, and stays."""
    verify_executable(plan)
    before = checkpoint.identity()
    [phase] = plan.phases
    for_tasks = phase.layout.for_tasks()
    code = generate_code(plan, phase.name, for_tasks, tracks_changes=True)
    partitions = min(max(_levels(phase.layout), default=1), PARTITIONS_PER_CORE * plan.settings.target.cores)
    if before is not None:
        partitions = before["partitions"]  # state is where it was put
    now = identity_of(
        phase.layout, {**code, **_code_of_tail(plan)}, plan.channels, partitions, plan.settings.form, plan.settings.fuse
    )
    if before is None:
        checkpoint.write_identity(now)
    else:
        check_same(checkpoint.folder, before, now)
    tripwire = tripwire_of(for_tasks, code)
    job = Job(for_tasks, code, None, 1, phase.reading, folder=os.getcwd(), tripwire=tripwire)
    return Prepared(plan, job, partitions)


def _code_of_tail(plan: Plan) -> dict[str, Code]:
    [phase] = plan.phases
    part = part_of_tail(plan, phase)
    return {TAIL: generate(part, segments_at(plan, phase.name, TAIL), tracks_changes=True)} if part is not None else {}


def _levels(layout: Layout) -> list[int]:
    return [sum(place.channels for place in places) for places in layout.levels]


def _as_before(
    plan: Plan, checkpoint: Checkpoint, given: Channels, before: Mapping[str, Any], target: Target
) -> dict[str, int]:
    """The channels of the first start, which others that are asked for must not differ from."""
    fixed: dict[str, int] = before["channels"]
    for region, number in asked_channels(plan, given).items():
        if number != fixed.get(region, number):
            raise CheckpointError(
                f"{checkpoint.folder}: the stream has {fixed[region]} channels in {region} since its first start, "
                f"and cannot have {number}",
                hint="leave the number of channels out, or begin with a new folder",
            )
    return {region.id: fixed.get(region.id, target.usual_channels) for region in plan.regions}
