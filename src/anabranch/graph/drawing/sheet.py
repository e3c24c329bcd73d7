"""One call of Graphviz's `dot`: operators are nodes, regions and PEs are clusters around them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from anabranch.errors import UsageError
from anabranch.graph.drawing.arcs import arc, is_arc
from anabranch.graph.drawing.geometry import Box, Curve, Point
from anabranch.graph.drawing.picture import (
    JOINT_RADIUS,
    REGION_HEAD,
    SMALL_SIZE,
    STACK,
    PEBox,
    RegionBox,
    Route,
    operator_size,
    region_head_width,
    stream_label,
    text_width,
)
from anabranch.graph.model import Edge
from anabranch.graph.plan import Plan, Region

_MOST_LABELS = 80  # a drawing with more streams than that has no room for what they carry
_MOST_PLACES = 5  # inputs that can be told from each other at the side of a box
_POINTS_PER_INCH = 72
_TABLE = '<TABLE BORDER="0" CELLBORDER="0" CELLPADDING="0" CELLSPACING="0">'


@dataclass(frozen=True)
class Sheet:
    """A part of the graph, laid out. `inlets` and `outlets` are the streams that come from and go to other parts."""

    size: tuple[float, float]
    operators: dict[str, Box]
    regions: tuple[RegionBox, ...]
    pes: tuple[PEBox, ...]
    routes: tuple[Route, ...]
    inlets: dict[Edge, Curve]
    outlets: dict[Edge, Curve]


def lay_out_sheet(plan: Plan, members: Sequence[str]) -> Sheet:
    """Let Graphviz place these operators. It sees numbers, never names: nothing a user wrote has to be quoted."""
    writer = _Writer(plan, members)
    dot = _graphviz().AGraph(string=writer.written())
    return _Reader(plan, writer, json.loads(dot.draw(format="json0", prog="dot"))).sheet()


class _Writer:
    """Writes the graph in Graphviz's language."""

    def __init__(self, plan: Plan, members: Sequence[str]) -> None:
        self.plan = plan
        self.number = {operator_id: f"n{position}" for position, operator_id in enumerate(members)}
        touching = [edge for edge in plan.graph.edges if edge.source in self.number or edge.target in self.number]
        self.edges = [edge for edge in touching if not is_arc(plan, edge)]
        self.arcs = [edge for edge in touching if is_arc(plan, edge)]
        self.has_labels = len(self.edges) <= _MOST_LABELS

    def written(self) -> str:
        lines = [
            "digraph {",
            'rankdir=LR newrank=true nodesep=0.35 ranksep=0.45 node [shape=box fixedsize=true label=""]',
            "edge [arrowhead=none tailport=e headport=w]",
        ]
        for operator_id, number in self.number.items():
            width, height = operator_size(self.plan, self.plan.graph.operator(operator_id))
            label = self._places(operator_id, width, height)
            lines.append(f"{number} [width={_inches(width)} height={_inches(height)}{label}]")
        for position, edge in enumerate(self.edges):
            lines += self._edge(position, edge)
        return "\n".join([*lines, *self._clusters(), "}"])

    def _edge(self, position: int, edge: Edge) -> Iterator[str]:
        source, target = self.number.get(edge.source), self.number.get(edge.target)
        attributes = [f"id=e{position}"]
        if source is None:
            source = f"i{position}"
            yield _end(source, "min")
        elif target is None:
            target = f"o{position}"
            yield _end(target, "max")
        else:
            room = self._room_for_label(edge) + self._room_for_joint(edge)
            if room:
                attributes.append(f"label={_room(room, 14)}")
        if edge.is_feedback:
            attributes.append("constraint=false tailport=n headport=n")
        elif edge.target in self.number and 1 < self._inputs(edge.target) <= _MOST_PLACES:
            attributes.append(f'headport="i{edge.target_port}:w"')
        yield f"{source} -> {target} [{' '.join(attributes)}]"

    def _places(self, operator_id: str, width: float, height: float) -> str:
        """Places at the left of an operator where the streams of its several inputs come in, the first on top."""
        count = self._inputs(operator_id)
        if not 1 < count <= _MOST_PLACES:
            return ""
        rows = (f"<TR>{_cell(width - 2, (height - 2) // count, f'i{port}')}</TR>" for port in range(count))
        return f" margin=0 label=<{_TABLE}{''.join(rows)}</TABLE>>"

    def _inputs(self, operator_id: str) -> int:
        """The inputs that streams from the left come to; a loop's way back comes from above and is the last."""
        operator = self.plan.graph.operator(operator_id)
        return len(operator.inputs) - (1 if operator.kind == "feedback" else 0)

    def _room_for_label(self, edge: Edge) -> float:
        label = stream_label(self.plan, edge)
        return text_width(label, SMALL_SIZE) + 6 if label and self.has_labels else 0.0

    def _room_for_joint(self, edge: Edge) -> float:
        before, behind = self.plan.region_of(edge.source), self.plan.region_of(edge.target)
        return 2 * JOINT_RADIUS if before is not behind else 0.0

    def _clusters(self) -> Iterator[str]:
        """Regions, and the outlines of PEs of several operators: no PE spans a place, so none a border of a region."""
        within: dict[str | None, list[str]] = {}
        for position, pe in enumerate(self.plan.pes):
            part = self._numbers(pe.operators)
            if len(pe.operators) > 1 and part:
                home = self.plan.region_of(pe.operators[0])
                outline = f'subgraph cluster_p{position} {{ margin=8 label="" {" ".join(part)} }}'
                within.setdefault(home.id if home is not None else None, []).append(outline)
        yield from within.get(None, [])
        for position, region in enumerate(self.plan.regions):
            yield self._region(position, region, within.get(region.id, []))

    def _region(self, position: int, region: Region, inner: list[str]) -> str:
        """Nothing where none of it is on this sheet."""
        part = self._numbers(region.operators)
        room = _room(region_head_width(region) + STACK, REGION_HEAD)
        head = f"margin={12 + STACK / 2:.0f} labeljust=l label={room}"
        return f"subgraph cluster_r{position} {{ {head} {' '.join([*inner, *part])} }}" if part else ""

    def _numbers(self, operators: Sequence[str]) -> list[str]:
        return [self.number[operator_id] for operator_id in operators if operator_id in self.number]


class _Reader:
    """Reads what `dot` gives back, whose y grows upwards."""

    def __init__(self, plan: Plan, writer: _Writer, drawn: dict[str, Any]) -> None:
        self.plan = plan
        self.edges = writer.edges
        self.arcs = writer.arcs
        self.has_labels = writer.has_labels
        self.operator_of = {number: operator_id for operator_id, number in writer.number.items()}
        self.drawn = drawn
        _, _, self.width, self.top = _coordinates(drawn["bb"])

    def sheet(self) -> Sheet:
        operators, regions, pes = {}, [], []
        for thing in self.drawn.get("objects", ()):
            name: str = thing["name"]
            if name in self.operator_of:
                operators[self.operator_of[name]] = self._node_box(thing)
            elif name.startswith("cluster_r"):
                regions.append(self._region_box(int(name[9:]), self._cluster_box(thing)))
            elif name.startswith("cluster_p"):
                pes.append(PEBox(self.plan.pes[int(name[9:])], self._cluster_box(thing)))
        routes, inlets, outlets = [], {}, {}
        inside = set(operators)
        for thing in self.drawn.get("edges", ()):
            edge, curve = self.edges[int(thing["id"][1:])], self._curve(thing["pos"])
            if edge.source not in inside:
                inlets[edge] = curve
            elif edge.target not in inside:
                outlets[edge] = curve
            else:
                has_label = self.has_labels and "lp" in thing and stream_label(self.plan, edge)
                routes.append(Route(edge, curve, self._point(thing["lp"]) if has_label else None))
        routes += [arc(edge, operators[edge.source], operators[edge.target]) for edge in self.arcs]
        size = (self.width, self.top)
        return Sheet(size, operators, tuple(regions), tuple(pes), tuple(routes), inlets, outlets)

    def _region_box(self, position: int, box: Box) -> RegionBox:
        region = self.plan.regions[position]
        members = set(self.operator_of.values())
        room = Box(box.x, box.y, box.width - STACK, box.height - STACK)  # the rest is for further channels
        return RegionBox(region, room, region.entry in members)

    def _node_box(self, thing: dict[str, Any]) -> Box:
        x, y = self._point(thing["pos"])
        width = float(thing["width"]) * _POINTS_PER_INCH
        height = float(thing["height"]) * _POINTS_PER_INCH
        return Box(x - width / 2, y - height / 2, width, height)

    def _cluster_box(self, thing: dict[str, Any]) -> Box:
        left, low, right, high = _coordinates(thing["bb"])
        return Box(left, self.top - high, right - left, high - low)

    def _point(self, text: str) -> Point:
        x, y = _coordinates(text)
        return x, self.top - y

    def _curve(self, text: str) -> Curve:
        return tuple(self._point(point) for point in text.split())


def _coordinates(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


def _end(name: str, rank: str) -> str:
    """A place at the left or right edge where a stream comes from, or goes to, another row."""
    return f"{{ rank={rank} {name} [width=0.01 height=0.01] }}"


def _room(width: float, height: float) -> str:
    """A label that is only the space it takes: Graphviz has other fonts than whoever looks at the drawing."""
    return f"<{_TABLE}<TR>{_cell(width, height)}</TR></TABLE>>"


def _cell(width: float, height: float, port: str = "") -> str:
    name = f' PORT="{port}"' if port else ""
    return f'<TD{name} FIXEDSIZE="TRUE" WIDTH="{width:.0f}" HEIGHT="{height:.0f}"></TD>'


def _inches(pixels: float) -> str:
    return f"{pixels / _POINTS_PER_INCH:.4f}"


def _graphviz() -> Any:
    try:
        import pygraphviz
    except ImportError:
        raise UsageError("a drawing needs Graphviz", hint="pip install pygraphviz") from None
    return pygraphviz
