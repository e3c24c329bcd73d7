"""What a drawing consists of, and how much room each piece takes: what layout and drawing have to agree on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anabranch.graph.drawing.geometry import Box, Curve, Point
from anabranch.graph.joints import Joint
from anabranch.graph.laid_out import ARRIVED, READERS, SLICES
from anabranch.graph.model import Edge, Operator
from anabranch.graph.phrases import columns, elided, names, printable, routing_words, selectivity_words
from anabranch.graph.plan import PE, JointKind, Ordering, Plan, Region
from anabranch.graph.properties import State

TITLE_SIZE, NAME_SIZE, SMALL_SIZE = 16.0, 13.0, 10.5  # of the fonts, in pixels
OPERATOR_HEIGHT = 46.0
REGION_HEAD = 24.0  # the lines above the operators of a region
JOINT_RADIUS = 9.0
STACK = 9.0  # how far further channels stand out behind a region
_NAME_COLUMNS = 26
_SHORT_COLUMNS = 18


@dataclass(frozen=True)
class Route:
    """The way of a stream, and the middle of its label where there is room for one."""

    edge: Edge
    curve: Curve
    label: Point | None = None


@dataclass(frozen=True)
class RegionBox:
    """A region, or the part of it that stands in one row of the picture."""

    region: Region
    box: Box
    is_start: bool

    @property
    def head_box(self) -> Box:
        """Where its name, key and ordering stand."""
        return Box(self.box.x + 8, self.box.y + 4, region_head_width(self.region), REGION_HEAD + 8)


@dataclass(frozen=True)
class PEBox:
    """The outline of a PE with several operators, or of the part of it that stands in one row."""

    pe: PE
    box: Box

    @property
    def name_box(self) -> Box:
        """Where its name stands: above the upper right corner."""
        width = text_width(self.pe.id, SMALL_SIZE)
        return Box(self.box.right - 4 - width, self.box.y - 12, width, 12)


@dataclass(frozen=True)
class JointSign:
    """A joint that has been chosen, and the middle of its sign."""

    joint: Joint
    kind: JointKind
    middle: Point

    @property
    def box(self) -> Box:
        x, y = self.middle
        return Box(x - JOINT_RADIUS, y - JOINT_RADIUS, 2 * JOINT_RADIUS, 2 * JOINT_RADIUS)


@dataclass(frozen=True)
class Picture:
    """Where everything stands; the upper left corner of `frame` need not be at zero."""

    frame: Box
    operators: Mapping[str, Box]
    regions: tuple[RegionBox, ...]
    pes: tuple[PEBox, ...]
    routes: tuple[Route, ...]
    joints: tuple[JointSign, ...]


def text_width(text: str, size: float) -> float:
    """In a fixed-width font, whose characters are about 0.6 em wide."""
    return columns(text) * size * 0.605


def operator_name(operator: Operator) -> str:
    return elided(printable(operator.id), _NAME_COLUMNS)


def key_label(plan: Plan, operator: Operator) -> str:
    """The key of partitioned state; that there is state at all is shown by a sign."""
    properties = plan.properties.get(operator.id)
    if properties is None or properties.state is not State.PARTITIONED:
        return ""
    return elided(names(properties.key), _SHORT_COLUMNS)


def selectivity_label(plan: Plan, operator: Operator) -> str:
    properties = plan.properties.get(operator.id)
    return selectivity_words(properties.selectivity) if properties is not None and operator.inputs else ""


def operator_size(plan: Plan, operator: Operator) -> tuple[float, float]:
    head = 33 + text_width(operator_name(operator), NAME_SIZE) + 11
    foot = 50 + text_width(selectivity_label(plan, operator) + key_label(plan, operator), SMALL_SIZE)
    return max(head, foot, 92.0), OPERATOR_HEIGHT


def region_key(region: Region) -> str:
    if not has_number(region):
        return routing_words(region)
    return elided(f"key {names(region.key)}" if region.key else "any channel", 24)


def has_number(region: Region) -> bool:
    """Whether it has a number of channels: how many tasks read a source depends on what is there to be read."""
    return region.id not in (SLICES, READERS, ARRIVED)


def region_order(region: Region) -> str:
    if region.ordering is None:
        return ""
    return "no order needed" if region.ordering is Ordering.NONE else str(region.ordering.value)


def region_head_width(region: Region) -> float:
    first = text_width(f"{region.id} ×000", NAME_SIZE) + text_width(region_key(region), SMALL_SIZE) + 8
    return max(first, text_width(region_order(region), SMALL_SIZE)) + 11


def stream_label(plan: Plan, edge: Edge) -> str:
    """The type, or the port where the operator has several; nothing where that type came in already."""
    source = plan.graph.operator(edge.source)
    port = source.outputs[edge.source_port]
    if len(source.outputs) > 1:
        return elided(printable(port.name), _SHORT_COLUMNS)
    if source.inputs and source.inputs[0].schema == port.schema:
        return ""
    return elided(printable(port.schema.name), _SHORT_COLUMNS)


def label_box(label: str, middle: Point) -> Box:
    width = text_width(label, SMALL_SIZE) + 4
    return Box(middle[0] - width / 2, middle[1] - 7, width, 14)
