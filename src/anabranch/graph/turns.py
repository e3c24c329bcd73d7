"""Where a loop may be cut off from what is before it, so that chunks are handed to it (design, section 2, "feedback").

What comes around waits until all that was made of a source tuple has come through. A loop that is handed chunks lets it
wait for one item of them: then no more than one may be made of a source tuple on the way there.
"""

from __future__ import annotations

from collections.abc import Collection

from anabranch.graph.model import Graph, Operator
from anabranch.graph.properties import PunctuationOut


def mistimed_loop(graph: Graph, first: Collection[str], second: Collection[str]) -> str | None:
    """The entry of a loop in `second` where tuples would come around too early if `first` handed it chunks."""
    entry = next((edge.target for edge in graph.edges if edge.is_feedback and edge.target in second), None)
    return None if entry is None or _gives_one_at_most(graph, first) else entry


def _gives_one_at_most(graph: Graph, operators: Collection[str]) -> bool:
    """Whether operators, of which one stream leads out, make one item at most of each that comes to them."""
    # Where a stream goes two ways, both may lead here. Of every loop one way leads out, and another one around.
    givers = [edge.source for edge in graph.edges if edge.source in operators or edge.target in operators]
    is_chain = len(givers) == len(dict.fromkeys(givers))
    return is_chain and all(_makes_one_at_most(graph.operator(each)) for each in operators)


def _makes_one_at_most(operator: Operator) -> bool:
    """As far as it is known without the user's code, which may also emit at the end."""
    makes_marks = operator.definition.punctuation_out is PunctuationOut.GENERATES
    return operator.definition.record.selectivity in ("1:1", "1:[0,1]") and not makes_marks
