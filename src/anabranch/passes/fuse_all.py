"""Fusion at its simplest: as few processing elements as regions and the user's hints allow (paper 000, section 3.5)."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx

from anabranch.graph.plan import PE, Plan
from anabranch.graph.traverse import as_networkx


def apply(plan: Plan) -> Plan:
    """One PE per region, and one per connected group outside regions; `alone` keeps to itself."""
    position = {operator.id: index for index, operator in enumerate(plan.graph.operators)}
    directed = as_networkx(plan.graph)
    groups: list[tuple[tuple[str, ...], str | None]] = []
    for region in plan.regions:
        groups += [(part, region.id) for part in _parts(plan, directed, region.operators)]
    outside = [operator.id for operator in plan.graph.operators if plan.region_of(operator.id) is None]
    groups += [(part, None) for part in _parts(plan, directed, tuple(outside))]
    ordered = sorted(groups, key=lambda group: position[group[0][0]])
    pes = tuple(PE(f"PE{number}", part, region) for number, (part, region) in enumerate(ordered, 1))
    return replace(plan, pes=pes)


def _parts(plan: Plan, directed: nx.DiGraph[str], operators: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Connected groups of these operators, cut around those that must be alone; equal `pe=` is joined."""
    position = {operator_id: index for index, operator_id in enumerate(operators)}
    joined = nx.Graph()
    joined.add_nodes_from(operators)
    joined.add_edges_from(directed.subgraph(operators).edges)
    named: dict[str, str] = {}
    for operator_id in operators:
        hints = plan.graph.operator(operator_id).hints
        if hints.alone:
            joined.remove_edges_from(list(joined.edges(operator_id)))
        if hints.pe is not None:
            joined.add_edge(named.setdefault(hints.pe, operator_id), operator_id)
    components = [sorted(component, key=position.__getitem__) for component in nx.connected_components(joined)]
    return [tuple(component) for component in sorted(components, key=lambda part: position[part[0]])]
