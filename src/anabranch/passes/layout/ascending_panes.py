"""Whether the panes of a stream never go back: then each of its channels knows enough of the time of all of them.

Windows that close by the stream's time close in the order of their ends, and what comes behind one is in a later
one: so their ends ascend, and their starts. The times of tuples of a tumbling window are between these; of panes that
begin and end where such windows do, each window is in one. (Float times are cut at the floats nearest to the edges, and
those of the panes are among those of the windows.) What keeps nothing gives its tuples in the order of those that come.
"""

from __future__ import annotations

from fractions import Fraction

from anabranch.graph.model import Edge, Operator
from anabranch.graph.plan import Plan
from anabranch.graph.properties import State
from anabranch.graph.windows import Window
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.aggregates import Aggregate, WindowEdge
from anabranch.operators.parts import pane_length

_OF_A_TUPLE = ("any_", "first", "last", "min_", "max_", "arg_max")


def has_ascending_panes(plan: Plan, edge: Edge, window: Window) -> bool:
    """Of what comes on an edge, for windows by time."""
    assert window.on is not None
    name = window.on
    while edge.source_port == 0:
        operator = plan.graph.operator(edge.source)
        if not operator.has_main_output:
            return False
        if isinstance(operator.definition, WindowAggregate):
            return _ascend(operator, operator.definition, name, pane_length(window))
        properties = plan.properties[operator.id]
        entering = [each for each in plan.graph.edges if each.target == operator.id]
        taken = dict(properties.forwards).get(name)
        if properties.state is not State.STATELESS or len(entering) != 1 or taken is None:
            return False
        if operator.inputs[0].schema[taken] != operator.outputs[0].schema[name]:
            return False
        [edge], name = entering, taken
    return False


def _ascend(operator: Operator, windows: WindowAggregate, name: str, pane: Fraction) -> bool:
    """Whether an attribute of what windows give is in panes that do."""
    window = windows.window
    if not window.is_by_time or window.clock != "stream":
        return False
    match dict(windows.columns)[name]:
        case WindowEdge(edge="start" | "end"):
            return True
        case Aggregate(function=function, attribute=str(taken)) if function in _OF_A_TUPLE and taken == window.on:
            is_tumbling = window.shape == "tumbling" and (pane / window.length).denominator == 1
            return is_tumbling and operator.inputs[0].schema[taken] == operator.outputs[0].schema[name]
    return False
