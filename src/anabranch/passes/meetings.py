"""Where streams that parted meet again, and what lies in between (design, section 2, "the order key").

Around operators that run in one place, depth-first execution keeps the order by itself. But where a parallel region
lies between the point where streams part and the one where they meet, tuples have to carry the number they had.
"""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx

from anabranch.graph.model import Edge
from anabranch.graph.plan import Plan
from anabranch.graph.traverse import as_networkx

DRAW = "draw"  # where several sources part: the order in which they are drawn


@dataclass(frozen=True)
class Meeting:
    """Streams that part at one operator (or at the draw) and meet at another; `between` lies in between."""

    parting: str
    meeting: str
    between: frozenset[str]

    def spans(self, edge: Edge) -> bool:
        starts = edge.source == self.parting or edge.source in self.between
        if self.parting == DRAW:
            starts = edge.source in self.between
        return starts and (edge.target == self.meeting or edge.target in self.between)


def numbered_meetings(plan: Plan) -> tuple[Meeting, ...]:
    """The meetings whose streams must carry a number, outermost first."""
    directed = as_networkx(plan.graph, without_feedback=True)
    for source in plan.graph.sources:
        directed.add_edge(DRAW, source.id)
    parting_of = nx.immediate_dominators(directed, DRAW)
    found = []
    for operator in plan.graph.operators:
        entering = [edge for edge in plan.graph.edges if edge.target == operator.id and not edge.is_feedback]
        if len(entering) < 2:
            continue
        # Every path to the meeting leads through its dominator, so numbers given there order all of them.
        parting = parting_of[operator.id]
        between = (nx.descendants(directed, parting) & nx.ancestors(directed, operator.id)) - {parting}
        if any(plan.region_of(member) is not None for member in sorted(between)):
            found.append(Meeting(parting, operator.id, frozenset(between)))
    position = {operator_id: index for index, operator_id in enumerate(nx.topological_sort(directed))}
    return tuple(sorted(found, key=lambda meeting: (position[meeting.parting], -position[meeting.meeting])))
