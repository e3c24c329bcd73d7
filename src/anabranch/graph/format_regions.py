"""The regions that the passes formed, in words: what may be in channels, and what of it is laid out elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anabranch.graph.format_layout import operator_place
from anabranch.graph.index import GraphIndex
from anabranch.graph.joints import Joint, joints_of
from anabranch.graph.laid_out import as_laid_out
from anabranch.graph.phrases import joint_words, names, ordering_words, region_title, routing_words
from anabranch.graph.plan import Plan, Region


@dataclass(frozen=True)
class RegionRow:
    """A region in words. `joints` are those that are drawn; `elsewhere` says which operators run elsewhere."""

    region: Region
    title: str
    routing: str
    joints: str
    ordering: str
    elsewhere: tuple[str, ...]


def region_rows(plan: Plan, channels: Mapping[str, int]) -> list[RegionRow]:
    drawn = as_laid_out(plan)
    joints = joints_of(drawn, GraphIndex(plan.graph))
    has_place = dict.fromkeys(region.id for region in drawn.regions)
    # Where all of a region is done elsewhere, a number of channels would be that of none.
    counts = {name: count for name, count in channels.items() if name in has_place or count == 1}
    return [
        RegionRow(
            region,
            region_title(region, counts),
            routing_words(region),
            _joints(plan, drawn, joints, region),
            ordering_words(region) if region.ordering is not None else "",
            tuple(_elsewhere(plan, drawn, region)),
        )
        for region in plan.regions
    ]


def _joints(plan: Plan, drawn: Plan, joints: tuple[Joint, ...], region: Region) -> str:
    """How tuples come in and leave; nothing before that is known, and of a region that is all elsewhere."""
    if not plan.phases:
        if region.first_joint is None:
            return ""
        return f"{joint_words(region.first_joint)} → {joint_words(region.last_joint)}"
    mine = [joint for joint in joints if joint.region.id == region.id]
    first = [joint.kind for joint in mine if joint.is_entry]
    last = [joint.kind for joint in mine if not joint.is_entry]
    last += [joint.kind for joint in joints if joint.is_entry and _comes_from(drawn, joint, region)]
    both = [", ".join(dict.fromkeys(map(joint_words, kinds))) for kinds in (first, last)]
    return " → ".join(both) if mine else ""


def _comes_from(drawn: Plan, joint: Joint, region: Region) -> bool:
    before = drawn.region_of(joint.edges[0].source) if joint.edges else None
    return before is not None and before.id == region.id


def _elsewhere(plan: Plan, drawn: Plan, region: Region) -> list[str]:
    """Where operators of a region run that are not in its channels."""
    if not plan.phases:
        return []
    found: dict[str, list[str]] = {}
    for operator_id in region.operators:
        home = drawn.region_of(operator_id)
        if home is None or home.id != region.id:
            found.setdefault(operator_place(plan, operator_id), []).append(operator_id)
    return [_sentence(region, operators, where) for where, operators in found.items()]


def _sentence(region: Region, operators: list[str], where: str) -> str:
    if len(operators) == 1:
        return f"{names(operators)} {where}"
    if len(operators) == len(region.operators):
        return f"all of it {where}"
    return f"{names(operators)} run {where.removeprefix('runs ')}"
