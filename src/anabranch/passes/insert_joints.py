"""How tuples enter and leave each region (paper 000, sections 3.4 and 4.4)."""

from __future__ import annotations

from dataclasses import replace

from anabranch.graph.index import GraphIndex
from anabranch.graph.plan import JointKind, Plan, Region


def apply(plan: Plan) -> Plan:
    index = GraphIndex(plan.graph)
    regions = tuple(
        replace(
            region,
            first_joint=_first_joint(plan, index, region),
            last_joint=_last_joint(plan, index, region),
        )
        for region in plan.regions
    )
    return replace(plan, regions=regions)


def shuffle_before(plan: Plan, index: GraphIndex, region: Region) -> tuple[Region, ...]:
    """The regions whose channels feed this one's directly: adjacent regions need no merge in between."""
    found = []
    for edge in index.entering(region.entry):
        before = plan.region_of(edge.source)
        if before is not None and len(index.leaving_all(before.operators)) == 1:
            found.append(before)
    return tuple(found)


def _first_joint(plan: Plan, index: GraphIndex, region: Region) -> JointKind:
    if plan.graph.operator(region.entry).is_source:
        return JointKind.SOURCE
    return JointKind.SHUFFLE if shuffle_before(plan, index, region) else JointKind.SPLIT


def _last_joint(plan: Plan, index: GraphIndex, region: Region) -> JointKind:
    if plan.graph.operator(region.exit).is_sink:
        return JointKind.SINK
    leaving = index.leaving_all(region.operators)
    if len(leaving) == 1:
        behind = plan.region_of(leaving[0].target)
        if behind is not None and behind.entry == leaving[0].target:
            return JointKind.SHUFFLE
    return JointKind.MERGE
