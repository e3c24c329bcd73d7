"""The legend of a drawing: what its signs mean, those that occur in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from anabranch.graph.drawing.icons import JOINT_SIGNS
from anabranch.graph.drawing.markup import Element, element, number
from anabranch.graph.drawing.picture import JOINT_RADIUS, SMALL_SIZE, JointSign, text_width
from anabranch.graph.phrases import joint_words
from anabranch.graph.plan import JointKind, Plan
from anabranch.graph.properties import State

STATE_SIGN = "M0 0h6l3 3v8H0zM6 0v3h3"  # a sheet of paper, 9 by 11 (paper 000, Fig. 1)

_LINE = 24.0
_GAP = 22.0
_JOINTS = {
    JointKind.SOURCE: "many tasks read, a part each",
    JointKind.SPLIT: "deals tuples out to channels",
    JointKind.SHUFFLE: "from channels or slices to other channels",
    JointKind.MERGE: "puts tuples in order again",
    JointKind.SINK: "many tasks write, a part each",
}


@dataclass(frozen=True)
class Legend:
    element: Element
    height: float


@dataclass(frozen=True)
class _Entry:
    sign: Element  # around a middle at zero
    sign_width: float
    text: str

    @property
    def indent(self) -> float:
        return self.sign_width + 7 if self.sign_width else 0.0

    @property
    def width(self) -> float:
        return self.indent + text_width(self.text, SMALL_SIZE)


def legend(plan: Plan, joints: Sequence[JointSign], width: float) -> Legend:
    """The entries in lines of at most a width."""
    group = element("g", class_="ab-key")
    x, y = 0.0, 0.0
    for entry in _entries(plan, joints):
        if x > 0 and x + entry.width > width:
            x, y = 0.0, y + _LINE
        entry.sign.set("transform", f"translate({number(x + entry.sign_width / 2)} {number(y)})")
        group.append(entry.sign)
        group.append(element("text", entry.text, class_="ab-note", x=x + entry.indent, y=y + 3.5))
        x += entry.width + _GAP
    return Legend(group, y + _LINE / 2)


def _entries(plan: Plan, joints: Sequence[JointSign]) -> Iterator[_Entry]:
    present = [joint.kind for joint in joints]
    for kind, meaning in _JOINTS.items():
        if kind in present:
            sign = element("g", joint_sign(kind, (0.0, 0.0)), class_="ab-hue0")
            yield _Entry(element("g", sign), 18, f"{joint_words(kind)}: {meaning}")
    states = [properties.state for properties in plan.properties.values()]
    if State.STATEFUL in states:
        yield _Entry(_state("ab-state ab-stateful"), 9, "state")
    if State.PARTITIONED in states:
        yield _Entry(_state("ab-state"), 9, "state of its own for every key")
    if states:
        yield _Entry(element("g"), 0, "1:[0,1]: tuples out for each tuple in")
    if any(len(pe.operators) > 1 for pe in plan.pes):
        outline = element("rect", class_="ab-pe", x=-11.0, y=-7.0, width=22.0, height=14.0, rx=4.0)
        yield _Entry(element("g", outline), 22, "PE: operators fused into one function")
    if any(edge.is_feedback for edge in plan.graph.edges):
        yield _Entry(element("g", element("path", class_="ab-stream ab-feedback", d="M-12,0H12")), 24, "feedback")


def _state(kind: str) -> Element:
    return element("g", element("path", class_=kind, d=STATE_SIGN, transform="translate(-4.5 -5.5)"))


def joint_sign(kind: JointKind, place: tuple[float, float]) -> Element:
    """A joint, drawn around a point."""
    x, y = place
    return element(
        "g",
        element("circle", class_="ab-joint", r=JOINT_RADIUS, cx=x, cy=y),
        element(
            "path",
            class_="ab-joint-sign",
            d=JOINT_SIGNS[kind],
            transform=f"translate({number(x - 8)} {number(y - 8)})",
        ),
    )
