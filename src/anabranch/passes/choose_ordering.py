"""How the order is restored behind each region (paper 000, Table 1, with the design's corrections).

Chosen for the program, which says whether its layout is ordered; and again for that, since where operators run with a
sink that needs no order, or where it is in one of several phases, all that comes there is put in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from anabranch.graph.index import GraphIndex
from anabranch.graph.model import Edge, Graph
from anabranch.graph.plan import JointKind, Ordering, Plan, Region
from anabranch.graph.properties import Reason, Selectivity, State
from anabranch.operators.distinct import Distinct
from anabranch.operators.sinks import SinkDefinition
from anabranch.passes.insert_joints import shuffle_before


def apply(plan: Plan) -> Plan:
    index = GraphIndex(plan.graph)
    accumulated: dict[str, Selectivity] = {}
    regions = []
    for region in plan.regions:  # in topological order: what feeds a shuffle comes first
        selectivity = region.selectivity
        for before in shuffle_before(plan, index, region):
            # Only a merge renumbers: through shuffles, gaps and duplicates add up.
            selectivity = selectivity.then(accumulated[before.id])
        accumulated[region.id] = selectivity
        ordering, why = _choose(plan, index, region, selectivity)
        reasons = [each for each in region.reasons if each.about != "ordering"]
        regions.append(replace(region, ordering=ordering, reasons=(*reasons, Reason("ordering", why))))
    return replace(plan, regions=tuple(regions))


def _choose(plan: Plan, index: GraphIndex, region: Region, selectivity: Selectivity) -> tuple[Ordering, str]:
    exits = index.leaving_all(region.operators)
    if not _is_put_in_order(plan):
        if region.last_joint is JointKind.SINK and _takes_any_order(plan.graph):
            return Ordering.NONE, "its sink is unordered"
        if region.last_joint is not JointKind.SINK and not _is_order_observed(plan, index, exits):
            return Ordering.NONE, "nothing behind it can observe the order"
    emits_together = [
        operator_id
        for operator_id in region.operators
        if plan.properties[operator_id].emits_at_punctuation or operator_id in region.clocks
    ]
    if selectivity is Selectivity.UNBOUNDED:
        if region.first_joint is JointKind.SHUFFLE or emits_together:
            # Paper 000, 4.3.4, looks only at the last channel; here a duplicate may sit on any.
            return Ordering.RELAXED, "numbers may repeat on every channel: the merge waits until all are past one"
        return Ordering.RELAXED, "one tuple may become many, with the same number"
    if region.last_joint is JointKind.SHUFFLE:
        return Ordering.STRICT, "each channel behind a shuffle gets only some of the numbers"
    if selectivity is Selectivity.AT_MOST_ONE:
        return Ordering.STRICT, "some numbers are never seen again"
    if len(dict.fromkeys((edge.source, edge.source_port) for edge in exits)) > 1:
        return Ordering.STRICT, "every exit gets only some of the numbers"
    if not region.key and region.first_joint is JointKind.SPLIT:
        return Ordering.ROUND_ROBIN, "stateless and 1:1: tuples leave in the order they were dealt out"
    return Ordering.SEQNO, "1:1: every number comes out exactly once"


def _is_put_in_order(plan: Plan) -> bool:
    """Whether all that comes out of channels is, as it is laid out."""
    return any(phase.layout.is_ordered for phase in plan.phases if not phase.is_in_process)


def _takes_any_order(graph: Graph) -> bool:
    """Whether the only sink of a program does without an order.

    Of several sinks each may refuse a tuple, and in the order it shows which does so first.
    """
    definitions = [sink.definition for sink in graph.sinks]
    return len(definitions) == 1 and isinstance(definitions[0], SinkDefinition) and not definitions[0].ordered


def _is_order_observed(plan: Plan, index: GraphIndex, exits: Sequence[Edge]) -> bool:
    """Whether anything behind these streams could tell a different order."""
    pending, seen = list(exits), set()
    while pending:
        target = pending.pop().target
        if target not in seen:
            seen.add(target)
            if _observes(plan, target):
                return True
            pending += index.leaving(target)
    return False


def _observes(plan: Plan, operator_id: str) -> bool:
    operator = plan.graph.operator(operator_id)
    if any(port.is_punctuated for port in operator.inputs):
        return True  # where a punctuation stands is an order
    match operator.definition:
        case SinkDefinition():
            return not _takes_any_order(plan.graph)
        case Distinct(key_names=names, window=None):
            return set(names) != set(operator.inputs[0].schema.names)  # equal tuples: whichever comes first
        case _:
            return plan.properties[operator_id].state is not State.STATELESS
