"""Where the joints of parallel regions stand in the graph: on which streams, or at which source or sink."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.graph.index import GraphIndex
from anabranch.graph.model import Edge
from anabranch.graph.plan import JointKind, Plan, Region


@dataclass(frozen=True)
class Joint:
    """One end of a region. `edges` are the streams it stands on: none for a parallel source or sink.

    `kind` is None while the compiler has formed the region but not chosen its joints yet.
    """

    kind: JointKind | None
    region: Region
    edges: tuple[Edge, ...]
    is_entry: bool


def joints_of(plan: Plan, index: GraphIndex) -> tuple[Joint, ...]:
    """Every joint once: a shuffle between two regions belongs to the second."""
    found = []
    for region in plan.regions:
        found += _entries(plan, index, region)
        if region.last_joint is not JointKind.SHUFFLE:
            found.append(Joint(region.last_joint, region, index.leaving(region.exit), is_entry=False))
    return tuple(found)


def _entries(plan: Plan, index: GraphIndex, region: Region) -> list[Joint]:
    """A joint for each stream into the region: of a join's two, one may be shuffled and the other split."""
    entering = [edge for edge in index.entering(region.entry) if not edge.is_feedback]
    if not entering:
        return [Joint(region.first_joint, region, (), is_entry=True)]
    return [Joint(_kind(plan, region, edge), region, (edge,), is_entry=True) for edge in entering]


def _kind(plan: Plan, region: Region, edge: Edge) -> JointKind | None:
    if region.first_joint is None:
        return None
    before = plan.region_of(edge.source)
    is_shuffled = before is not None and before.last_joint is JointKind.SHUFFLE
    return JointKind.SHUFFLE if is_shuffled else JointKind.SPLIT
