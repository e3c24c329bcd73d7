"""A program with a loop that runs in rounds, cut at the entry of the loop (design, section 2, "feedback").

Where feedback arises only at punctuations, a round is like any stream: it may be a job of its own, with parallel
regions. What comes around is given to the next job by the driver, which decides whether there is one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from anabranch.analysis.program import look_at_program
from anabranch.graph.model import Edge, Graph, Operator
from anabranch.graph.plan import Plan
from anabranch.graph.properties import Selectivity
from anabranch.graph.traverse import downstream, loops
from anabranch.operators.feedback import BACK, FORWARD, Feedback
from anabranch.operators.union import Union
from anabranch.passes.effects import effects_of


@dataclass(frozen=True)
class Rounds:
    """Two programs: what gives the tuples that enter a loop, and a round of it, with all that is behind the loop.

    The entry is the sink of the first and the source of the second, which has a sink for what comes around.
    """

    entry: Operator
    before: Plan
    round: Plan
    back: str  # the sink


def rounds_of(plan: Plan) -> Rounds | str:
    """The rounds of a plan, or why a loop of it runs as a whole; nothing is said where no loop has a parallel round."""
    graph, found = plan.graph, loops(plan.graph)
    members = next((each for each in found if any(set(region.operators) <= each for region in plan.regions)), None)
    if members is None:
        return ""
    entry = next(each for each in graph.operators if each.id in members and isinstance(each.definition, Feedback))
    whole = f"the loop of '{entry.id}' runs as a whole"
    if len(found) > 1 or sum(isinstance(graph.operator(each).definition, Feedback) for each in sorted(members)) > 1:
        return f"{whole}: it is not the only one"
    if any(plan.properties[each].emits_at_end for each in sorted(members)):
        return f"{whole}: an operator in it emits when the stream ends"  # into operators that have finished
    behind = downstream(graph, [entry.id])
    before = [each for each in graph.operators if each.id not in behind]
    # What comes before the loop gets ahead of what the loop does at the same time: that must not be seen.
    if sum(edge.target in behind and edge.source not in behind for edge in graph.edges) != 1:
        return f"{whole}: other streams come to it, or to what is behind it"
    if any(each.is_sink for each in before):
        return f"{whole}: there is a sink before it"
    shared = _shared_by(plan, before)
    if shared is not None:
        return f"{whole}: {shared}"
    if entry.inputs[FORWARD].is_punctuated and not all(_gives_one_at_most(plan, each) for each in before):
        # What comes around waits for all that is made of a source tuple, and not only for a punctuation.
        return f"{whole}: an operator before it may make several tuples of one"
    return _cut(plan, entry, behind)


def _gives_one_at_most(plan: Plan, operator: Operator) -> bool:
    """Whether an operator makes one tuple at most of each that arrives, and gives it to one other."""
    properties = plan.properties[operator.id]
    return (
        sum(edge.source == operator.id for edge in plan.graph.edges) == 1
        and properties.selectivity is not Selectivity.UNBOUNDED
        and not (properties.emits_at_end or properties.emits_at_punctuation)
        and (len(operator.inputs) <= 1 or isinstance(operator.definition, Union))
    )


def _shared_by(plan: Plan, operators: list[Operator]) -> str | None:
    """What the first of them that shares something shares, in words."""
    with look_at_program(plan.graph, thoroughly=False):
        for each in operators:
            effects = () if each.is_source else effects_of(each)
            if effects:
                return f"'{each.id}' before it shares something: {effects[0].text}"
    return None


def _cut(plan: Plan, entry: Operator, behind: frozenset[str]) -> Rounds:
    back = Operator(f"{entry.id}: back", entry.definition, (entry.inputs[BACK],), (), entry.location)
    sink = replace(entry, inputs=(entry.inputs[FORWARD],), outputs=())
    before = [each for each in plan.graph.operators if each.id not in behind]
    after = [replace(each, inputs=()) if each == entry else each for each in plan.graph.operators if each.id in behind]
    into = [edge for edge in plan.graph.edges if edge.source not in behind]
    inside = [
        Edge(edge.source, edge.source_port, back.id, 0) if edge.is_feedback else edge
        for edge in plan.graph.edges
        if edge.source in behind
    ]
    return Rounds(
        entry,
        _part(plan, plan.graph.part((*before, sink), tuple(into)), frozenset(each.id for each in before)),
        _part(plan, plan.graph.part((*after, back), tuple(inside)), behind),
        back.id,
    )


def _part(plan: Plan, graph: Graph, inside: frozenset[str]) -> Plan:
    """A program of its own, with the regions that are inside."""
    regions = tuple(region for region in plan.regions if set(region.operators) <= inside)
    return replace(plan, graph=graph, regions=regions)
