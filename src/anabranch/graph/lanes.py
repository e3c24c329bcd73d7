"""The drawing of a graph in a terminal: a row per operator and joint, streams as lanes beside them.

● read_csv
├─╥ split         a lane goes on while a stream has further consumers
│ ║ ○ filter      between the joints of a region the lane is double
│ ╨ merge
●─╯ union         lanes meet
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from anabranch.graph.index import GraphIndex
from anabranch.graph.joints import Joint, joints_of
from anabranch.graph.model import Operator
from anabranch.graph.plan import JointKind, Plan
from anabranch.graph.properties import State

_STATE_SIGNS = {State.STATELESS: "○", State.PARTITIONED: "◐", State.STATEFUL: "●"}
_ENTRY_SIGNS = {JointKind.SOURCE: "╔", JointKind.SPLIT: "╥", JointKind.SHUFFLE: "╫", None: "╥"}
_EXIT_SIGNS = {JointKind.SINK: "╚", JointKind.MERGE: "╨", None: "╨"}
_MOST_LANES = 18  # streams beyond that are named where they arrive instead of drawn

# By what a lane joins at a row: (up, down, left, right).
_SIGNS = {
    (True, True, False, False): "│",
    (True, True, False, True): "├",
    (True, True, True, False): "┤",
    (True, True, True, True): "┼",
    (True, False, True, False): "╯",
    (True, False, False, True): "╰",
    (True, False, True, True): "┴",
    (False, True, True, False): "╮",
    (False, True, False, True): "╭",
    (False, True, True, True): "┬",
    (False, False, True, True): "─",
}


@dataclass(frozen=True)
class DrawnRow:
    """One line of the drawing: the lanes with the row's sign, and what it stands for; nothing for a gap."""

    lanes: str
    operator: Operator | None = None
    joint: Joint | None = None
    unseen: tuple[str, ...] = ()  # operators whose streams arrive here without a lane


def rows_of(plan: Plan, index: GraphIndex) -> tuple[DrawnRow, ...]:
    """The rows, from the sources down, so that a branch is followed to its end before the next begins.

    A plan that is laid out has to have the regions of its layout (`laid_out.py`).
    """
    nodes, sources = _nodes(plan, index)
    painter = _Painter(plan)
    rows: list[DrawnRow] = []
    for node in _depth_first(nodes, sources):
        if rows and not node.inputs:
            rows.append(painter.gap())  # a source below another operator is not fed by it
        rows.append(painter.row(node))
    return tuple(rows)


# What is drawn ---------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Strand:
    """What leaves a node on one port, until its last consumer has been drawn."""

    source: str
    is_parallel: bool = False  # drawn double: as many streams as there are channels
    consumers: list[_Node] = field(default_factory=list)
    waiting: int = 0
    lane: int | None = None


@dataclass(eq=False)
class _Node:
    operator: Operator | None = None
    joint: Joint | None = None
    inputs: list[_Strand] = field(default_factory=list)
    outputs: list[_Strand] = field(default_factory=list)


def _nodes(plan: Plan, index: GraphIndex) -> tuple[list[_Node], list[_Node]]:
    """Operators and joints as nodes of one graph; and those that nothing feeds, in order of declaration."""
    operators = {operator.id: _Node(operator) for operator in plan.graph.operators}
    joints = [_Node(joint=joint) for joint in joints_of(plan, index)]
    on = {edge: node for node in joints if node.joint is not None for edge in node.joint.edges}
    streams: dict[tuple[str, int], _Strand] = {}
    for edge in plan.graph.edges:
        source, joint = operators[edge.source], on.get(edge)
        if edge.is_feedback and joint is None:
            continue
        stream = streams.get((edge.source, edge.source_port)) or _stream(source, edge.source)
        streams[edge.source, edge.source_port] = stream
        if joint is not None and not joint.inputs:
            _connect(stream, joint)
        if edge.is_feedback:
            continue  # it is named where it begins
        if joint is not None:
            stream = joint.outputs[0] if joint.outputs else _stream(joint, edge.source)
        _connect(stream, operators[edge.target])
    heads: dict[str, _Node] = {}  # the joint of a parallel source
    for node in joints:
        if node.joint is None or node.joint.edges:
            continue
        region = node.joint.region
        if node.joint.is_entry:
            heads[region.entry] = node
            _connect(_stream(node, region.entry), operators[region.entry])
        else:
            _connect(_stream(operators[region.exit], region.exit), node)
    nodes = [*operators.values(), *joints]
    for node in nodes:
        _draw_double(plan, node)
    return nodes, [heads.get(operator.id, operators[operator.id]) for operator in plan.graph.sources]


def _draw_double(plan: Plan, node: _Node) -> None:
    """What goes straight on in channels. Beside others a stream is a single line: in a row only one sign is double."""
    if node.operator is not None:
        is_in_channels = plan.region_of(node.operator.id) is not None
    else:
        is_in_channels = node.joint is not None and node.joint.is_entry
    if is_in_channels and len(node.outputs) == 1:
        [stream] = node.outputs
        stream.is_parallel = len(stream.consumers) == 1 and len(stream.consumers[0].inputs) == 1


def _stream(node: _Node, source: str) -> _Strand:
    stream = _Strand(source)
    node.outputs.append(stream)
    return stream


def _connect(stream: _Strand, node: _Node) -> None:
    stream.consumers.append(node)
    stream.waiting += 1
    node.inputs.append(stream)


def _depth_first(nodes: list[_Node], sources: list[_Node]) -> Iterator[_Node]:
    missing = {id(node): len(node.inputs) for node in nodes}
    pending = sources[::-1]
    while pending:
        node = pending.pop()
        yield node
        ready = []
        for stream in node.outputs:
            for consumer in stream.consumers:
                missing[id(consumer)] -= 1
                if missing[id(consumer)] == 0:
                    ready.append(consumer)
        pending += ready[::-1]


# How it is drawn -------------------------------------------------------------------------------------------------


class _Painter:
    """Keeps the lanes from row to row."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._lanes: list[_Strand | None] = []

    def gap(self) -> DrawnRow:
        return DrawnRow(self._cells(self._lanes, [], None, None))

    def row(self, node: _Node) -> DrawnRow:
        before = list(self._lanes)
        unseen = tuple(dict.fromkeys(stream.source for stream in node.inputs if stream.lane is None))
        arriving = sorted({stream.lane for stream in node.inputs if stream.lane is not None})
        ending = self._take(node)
        place = ending[0] if ending else self._free(beyond=arriving[0] if arriving else -1, avoiding=arriving)
        opened = self._open(node, place, avoiding=arriving)
        involved = [*arriving, *opened, *([place] if place is not None else [])]
        cells = self._cells(before, involved, place, node)
        self._trim()
        return DrawnRow(cells, node.operator, node.joint, unseen)

    def _take(self, node: _Node) -> list[int]:
        """The lanes whose last consumer this is; they end here."""
        ending = []
        for stream in node.inputs:
            stream.waiting -= 1
            if stream.waiting == 0 and stream.lane is not None:
                self._lanes[stream.lane] = None
                ending.append(stream.lane)
        return sorted(ending)

    def _open(self, node: _Node, place: int | None, avoiding: list[int]) -> list[int]:
        """Lanes for what leaves the node: the first stream goes straight on."""
        opened: list[int] = []
        for number, stream in enumerate(node.outputs):
            lane = place if number == 0 else self._free(beyond=place or 0, avoiding=[*avoiding, *opened])
            stream.lane = lane
            if lane is not None:
                self._lanes[lane] = stream
                opened.append(lane)
        return opened

    def _free(self, *, beyond: int, avoiding: list[int]) -> int | None:
        for lane in range(beyond + 1, _MOST_LANES):
            if lane >= len(self._lanes):
                self._lanes += [None] * (lane + 1 - len(self._lanes))
            if self._lanes[lane] is None and lane not in avoiding:
                return lane
        return None

    def _cells(self, before: list[_Strand | None], involved: list[int], place: int | None, node: _Node | None) -> str:
        first, last = (min(involved), max(involved)) if involved else (0, -1)
        text = ""
        for lane, after in enumerate(self._lanes):
            is_up = lane < len(before) and before[lane] is not None
            left, right = first < lane <= last, first <= lane < last
            if lane == place and node is not None:
                sign = self._sign(node)
                sign = "╟" if sign == "║" and right else sign
            elif lane in involved:
                sign = _SIGNS.get((is_up, after is not None, left, right), " ")
            elif after is not None:
                sign = "║" if after.is_parallel else "│"  # what crosses it passes behind
            else:
                sign = "─" if left and right else " "
            text += sign + ("─" if right else " ")
        if place is None and node is not None:
            text += self._sign(node)
        return text.rstrip()

    def _sign(self, node: _Node) -> str:
        if node.joint is not None:
            signs = _ENTRY_SIGNS if node.joint.is_entry else _EXIT_SIGNS
            return signs.get(node.joint.kind, "╫")
        assert node.operator is not None
        if self._plan.region_of(node.operator.id) is not None:
            return "║"
        return state_sign(self._plan, node.operator)

    def _trim(self) -> None:
        while self._lanes and self._lanes[-1] is None:
            self._lanes.pop()


def state_sign(plan: Plan, operator: Operator) -> str:
    """A circle, filled as far as the operator's state keeps it from being parallel."""
    properties = plan.properties.get(operator.id)
    return _STATE_SIGNS[properties.state] if properties is not None else "·"
