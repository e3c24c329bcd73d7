"""Which operators a feedback loop ties to one place (design, section 2, "feedback").

A tuple that is fed back is processed before the next source tuple, so a loop runs as one processing element. Unless
feedback arises only at punctuations, as in PageRank: then a round is like any stream, and may be parallel.
"""

from __future__ import annotations

import networkx as nx

from anabranch.graph.model import Operator
from anabranch.graph.plan import Plan
from anabranch.graph.properties import Reason
from anabranch.graph.traverse import as_networkx, loops
from anabranch.operators.feedback import Feedback


def operators_tied_by_loops(plan: Plan) -> dict[str, Reason]:
    graph = plan.graph
    tied: dict[str, Reason] = {}
    for members in loops(graph):
        ordered = [operator for operator in graph.operators if operator.id in members]
        entries = [operator for operator in ordered if isinstance(operator.definition, Feedback)]
        if all(entry.definition.rounds for entry in entries if isinstance(entry.definition, Feedback)):
            # Without the operators that keep silent until a punctuation, nothing must be able to come around.
            talking = [operator.id for operator in ordered if not _is_silent(plan, operator)]
            if nx.is_directed_acyclic_graph(as_networkx(graph).subgraph(talking)):
                continue
        for operator in ordered:
            tied[operator.id] = Reason(
                "region",
                f"it is in the loop of '{entries[0].id}', where each tuple comes around before the next is drawn",
                operator.location,
                hint="rounds=True, with an operator on the way back that emits only at punctuations",
            )
    return tied


def _is_silent(plan: Plan, operator: Operator) -> bool:
    """Whether an operator gives nothing between two punctuations; a dead letter comes with the tuple that failed."""
    return plan.properties[operator.id].is_silent_between and operator.on_error != "dead_letter"
