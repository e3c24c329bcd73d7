"""Where everything stands in a drawing: left to right, in several rows where one would be too long to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from anabranch.graph.drawing.geometry import Box, Curve, around, crossing, moved, with_round_corners
from anabranch.graph.drawing.labels import with_fitting_labels
from anabranch.graph.drawing.picture import JointSign, PEBox, Picture, RegionBox, Route
from anabranch.graph.drawing.rows import WIDEST, cut_into_rows
from anabranch.graph.drawing.sheet import Sheet, lay_out_sheet
from anabranch.graph.index import GraphIndex
from anabranch.graph.joints import joints_of
from anabranch.graph.model import Edge
from anabranch.graph.plan import Plan, Region

_ROW_GAP = 46.0
_TURN = 18.0  # how far a stream to the next row goes beyond the end of its own


def arrange(plan: Plan) -> Picture:
    """Place a plan's operators; Graphviz does it, once for the whole and once more for every row.

    A plan that is laid out has to have the regions of its layout (`laid_out.py`).
    """
    whole = lay_out_sheet(plan, [operator.id for operator in plan.graph.operators])
    rows = cut_into_rows(plan, whole.operators) if whole.size[0] > WIDEST else []
    sheets = [lay_out_sheet(plan, row) for row in rows] if len(rows) > 1 else [whole]
    return _stacked(plan, sheets)


# One below the other ---------------------------------------------------------------------------------------------


def _stacked(plan: Plan, sheets: Sequence[Sheet]) -> Picture:
    offsets = [0.0]
    for sheet in sheets:
        offsets.append(offsets[-1] + sheet.size[1] + _ROW_GAP)
    operators: dict[str, Box] = {}
    regions: list[RegionBox] = []
    pes: list[PEBox] = []
    routes: list[Route] = []
    for sheet, down in zip(sheets, offsets, strict=False):
        operators |= {operator_id: box.moved(0, down) for operator_id, box in sheet.operators.items()}
        regions += [replace(part, box=part.box.moved(0, down)) for part in sheet.regions]
        pes += [replace(part, box=part.box.moved(0, down)) for part in sheet.pes]
        routes += [_moved(route, down) for route in sheet.routes]
    for number, (upper, lower) in enumerate(pairwise(sheets)):
        routes += _between(upper, lower, offsets[number], offsets[number + 1])
    joints = tuple(_joint_signs(plan, operators, regions, routes))
    taken = [
        *operators.values(),
        *(joint.box for joint in joints),
        *(part.head_box for part in regions),
        *(part.name_box for part in pes),
    ]
    routes = list(with_fitting_labels(plan, routes, taken))
    frame = around(
        [
            *(Box(0, down, *sheet.size) for sheet, down in zip(sheets, offsets, strict=False)),
            *(Box(x, y, 0, 0) for route in routes for x, y in route.curve),
        ]
    )
    return Picture(frame, operators, tuple(regions), tuple(pes), tuple(routes), joints)


def _moved(route: Route, down: float) -> Route:
    label = (route.label[0], route.label[1] + down) if route.label is not None else None
    return Route(route.edge, moved(route.curve, 0, down), label)


def _between(upper: Sheet, lower: Sheet, above: float, below: float) -> Iterator[Route]:
    """The streams from one row to the next: out to the right, back below the row, and in from the left."""
    edges: list[Edge] = sorted(upper.outlets, key=lambda edge: -upper.outlets[edge][-1][1])
    for number, edge in enumerate(edges):
        leaving = moved(upper.outlets[edge], 0, above)
        entering = moved(lower.inlets[edge], 0, below)
        far, near = upper.size[0] + _TURN + 8 * number, -_TURN - 8 * number
        lane = above + upper.size[1] + _ROW_GAP / 2 + 8 * number - 4 * (len(edges) - 1)
        corners = [
            leaving[-1],
            (far, leaving[-1][1]),
            (far, lane),
            (near, lane),
            (near, entering[0][1]),
            entering[0],
        ]
        turn: Curve = with_round_corners(corners, 12)
        yield Route(edge, (*leaving, *turn[1:], *entering[1:]))


def _joint_signs(
    plan: Plan, operators: Mapping[str, Box], regions: Sequence[RegionBox], routes: Sequence[Route]
) -> Iterator[JointSign]:
    """A joint stands where its stream crosses the border of its region; what an operator gives is merged at one."""
    curves = {route.edge: route.curve for route in routes}
    merged: dict[str, None] = {}
    for joint in joints_of(plan, GraphIndex(plan.graph)):
        if joint.kind is None:
            continue
        edge = next(iter(joint.edges), None)
        inside = joint.region.entry if joint.is_entry else joint.region.exit
        if edge is not None:
            inside = edge.target if joint.is_entry else edge.source
        if not joint.is_entry and inside in merged:
            continue  # the streams of its outputs leave at one point, where one sign would hide the other
        merged |= {} if joint.is_entry else {inside: None}
        operator = operators[inside]
        box = _box_around(operator, joint.region, regions)
        crossings = [crossing(curves[edge], box, leaving=not joint.is_entry) for edge in joint.edges]
        at_operator = (box.x if joint.is_entry else box.right, operator.middle)
        yield JointSign(joint, joint.kind, next(filter(None, crossings), at_operator))


def _box_around(operator: Box, region: Region, parts: Sequence[RegionBox]) -> Box:
    """That of the part of a region in which an operator stands."""
    middle = (operator.x + operator.width / 2, operator.middle)
    return next(part.box for part in parts if part.region is region and part.box.contains(middle))
