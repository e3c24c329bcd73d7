"""Short loops of a drawing, which Graphviz would draw as two streams that sidestep each other."""

from __future__ import annotations

from anabranch.graph.drawing.geometry import Box
from anabranch.graph.drawing.picture import Route
from anabranch.graph.model import Edge
from anabranch.graph.plan import Plan

_HEIGHT = 30.0  # of the control points; the arc itself rises to three quarters of that


def is_arc(plan: Plan, edge: Edge) -> bool:
    """Whether a stream goes back to an operator that feeds its own directly, or is its own."""
    if not edge.is_feedback:
        return False
    there = (edge.target, edge.source)
    return edge.source == edge.target or any((other.source, other.target) == there for other in plan.graph.edges)


def arc(edge: Edge, source: Box, target: Box) -> Route:
    """From the top of one box over to the top of the other; a small loop where both are the same."""
    start, end = source.x + source.width / 2, target.x + target.width / 2
    lean = 0.0
    if edge.source == edge.target:
        start, end, lean = start + 12, end - 12, 14.0
    top = min(source.y, target.y) - _HEIGHT
    curve = ((start, source.y), (start + lean, top), (end - lean, top), (end, target.y))
    return Route(edge, curve, ((start + end) / 2, top + _HEIGHT / 4 - 8))
