"""A plan as a drawing: an SVG without script or outside resources, legible on light and dark backgrounds."""

from __future__ import annotations

from collections.abc import Mapping

from anabranch.graph.drawing.arrangement import arrange
from anabranch.graph.drawing.geometry import Box, Curve
from anabranch.graph.drawing.icons import kind_sign
from anabranch.graph.drawing.legend import STATE_SIGN, joint_sign, legend
from anabranch.graph.drawing.markup import Element, as_xml, element, number
from anabranch.graph.drawing.picture import (
    NAME_SIZE,
    SMALL_SIZE,
    STACK,
    TITLE_SIZE,
    JointSign,
    PEBox,
    RegionBox,
    Route,
    has_number,
    key_label,
    operator_name,
    region_key,
    region_order,
    selectivity_label,
    stream_label,
    text_width,
)
from anabranch.graph.drawing.style import HUES, STYLE
from anabranch.graph.format_layout import order_key
from anabranch.graph.laid_out import as_laid_out
from anabranch.graph.model import Operator
from anabranch.graph.phrases import (
    JOINT_MEANS,
    ORDERING_MEANS,
    joint_sentence,
    joint_words,
    names,
    printable,
    reason_words,
    reasons_of,
    routing_words,
    summary,
    types_out,
)
from anabranch.graph.plan import Plan, Region
from anabranch.graph.properties import State

_MARGIN = 24.0
_HEAD = 58.0  # title and summary
_NARROWEST = 560.0
_LEGEND_WIDTH = 860.0  # beside no drawing, but under all of it that a page shows
_LEGEND_MARGIN = 20.0


def as_svg(plan: Plan, channels: Mapping[str, int]) -> str:
    return as_xml(_Drawing(plan, channels).svg())


def drawing_and_legend(plan: Plan, channels: Mapping[str, int]) -> tuple[Element, Element]:
    """For a page, where the drawing may be moved under its legend, which stays where it is."""
    drawing = _Drawing(plan, channels)
    return drawing.svg(with_legend=False), drawing.legend()


class _Drawing:
    """Of a plan, whose reasons speak of regions as they were formed; `drawn` has those that are in the picture."""

    def __init__(self, plan: Plan, channels: Mapping[str, int]) -> None:
        self.plan = plan
        self.drawn = as_laid_out(plan)
        self.channels = {**channels, **self.drawn.channels}
        self.picture = arrange(self.drawn)
        self.hue_of = {region.id: number % HUES for number, region in enumerate(self.drawn.regions)}

    def legend(self) -> Element:
        """The legend by itself, as wide as a page is at most."""
        key = legend(self.plan, self.picture.joints, _LEGEND_WIDTH)
        key.element.set("transform", f"translate({number(_MARGIN)} {number(_LEGEND_MARGIN)})")
        return _svg([key.element], _LEGEND_WIDTH + 2 * _MARGIN, key.height + 2 * _LEGEND_MARGIN)

    def svg(self, *, with_legend: bool = True) -> Element:
        frame = self.picture.frame
        title = printable(self.plan.graph.name)
        head = text_width(title, TITLE_SIZE) * 1.1
        width = max(frame.width, _NARROWEST, head, text_width(summary(self.plan), SMALL_SIZE)) + 2 * _MARGIN
        height = _HEAD + frame.height + 30
        graph = element("g", transform=f"translate({number(_MARGIN - frame.x)} {number(_HEAD + 8 - frame.y)})")
        graph.extend(self._regions())
        graph.extend(self._pes())
        graph.extend(self._streams())
        graph.extend(self._joints())
        graph.extend(self._operators())
        shown = [graph]
        if with_legend:
            key = legend(self.plan, self.picture.joints, width - 2 * _MARGIN)
            key.element.set("transform", f"translate({number(_MARGIN)} {number(height + 4)})")
            shown.append(key.element)
            height += key.height + _MARGIN
        head_of_it = [
            element("title", f"{title}: {summary(self.plan)}"),
            element("style", STYLE),
            _arrow(),
            element("rect", class_="ab-paper", width=width, height=height, rx=10.0),
            element("text", title, class_="ab-title", x=_MARGIN, y=32.0),
            element("text", summary(self.plan), class_="ab-note", x=_MARGIN, y=49.0),
        ]
        return _svg([*head_of_it, *shown], width, height)

    # Regions and PEs ---------------------------------------------------------------------------------------------

    def _regions(self) -> list[Element]:
        return [self._region(part) for part in self.picture.regions]

    def _region(self, part: RegionBox) -> Element:
        region, box = part.region, part.box
        group = element("g", element("title", self._region_tooltip(region)), class_=self._hue(region))
        for step in (2, 1) if self.channels.get(region.id) != 1 else ():
            behind = box.moved(step * STACK / 2, step * STACK / 2)
            group.extend([_rect(behind, "ab-base", 10), _rect(behind, "ab-channel", 10)])
        group.extend([_rect(box, "ab-base", 10), _rect(box, "ab-region", 10)])
        name = region.id if part.is_start else f"{region.id} …"
        group.append(element("text", name, class_="ab-region-name", x=box.x + 15, y=box.y + 19))
        x = box.x + 15 + text_width(name, NAME_SIZE) + 8
        if has_number(region):
            badge = f"×{self.channels.get(region.id, 'n')}"
            wide = text_width(badge, SMALL_SIZE) + 10
            middle = x + wide / 2
            group.append(element("rect", class_="ab-badge", x=x, y=box.y + 8, width=wide, height=15.0, rx=7.5))
            group.append(element("text", badge, class_="ab-badge-text", x=middle, y=box.y + 19, text_anchor="middle"))
            x += wide + 8
        group.append(element("text", region_key(region), class_="ab-note", x=x, y=box.y + 19))
        if region_order(region):
            group.append(element("text", region_order(region), class_="ab-note", x=box.x + 15, y=box.y + 33))
        return group

    def _region_tooltip(self, region: Region) -> str:
        lines = [f"{region.id}: {routing_words(region)}", f"operators: {names(region.operators)}"]
        if region.ordering is not None:
            lines.append(f"order: {region.ordering.value}: {ORDERING_MEANS[region.ordering]}")
        return "\n".join([*lines, *(reason_words(reason) for reason in region.reasons)])

    def _pes(self) -> list[Element]:
        return [self._pe(part) for part in self.picture.pes]

    def _pe(self, part: PEBox) -> Element:
        pe, box = part.pe, part.box
        group = element("g", element("title", f"{pe.id}: {names(pe.operators)}, fused into one function"))
        group.append(_rect(box, "ab-pe", 6))
        group.append(element("text", pe.id, class_="ab-pe-name", x=box.right - 4, y=box.y - 3, text_anchor="end"))
        return group

    # Streams and joints ------------------------------------------------------------------------------------------

    def _streams(self) -> list[Element]:
        return [self._stream(route) for route in self.picture.routes]

    def _stream(self, route: Route) -> Element:
        edge = route.edge
        group = element("g", element("title", self._stream_tooltip(route)))
        kind = "ab-stream ab-feedback" if edge.is_feedback else "ab-stream"
        group.append(element("path", class_=kind, d=_path(route.curve), marker_end="url(#ab-arrow)"))
        group.append(element("path", class_="ab-touch", d=_path(route.curve)))
        if route.label is not None:
            text = stream_label(self.drawn, edge)
            group.append(
                element("text", text, class_="ab-type", x=route.label[0], y=route.label[1] + 3.5, text_anchor="middle")
            )
        return group

    def _stream_tooltip(self, route: Route) -> str:
        edge = route.edge
        port = self.drawn.graph.operator(edge.source).outputs[edge.source_port]
        lines = [f"{edge.source} → {edge.target}" + (" (feedback)" if edge.is_feedback else ""), str(port.schema)]
        if len(self.drawn.graph.operator(edge.source).outputs) > 1:
            lines.insert(1, f"output '{port.name}'")
        key = order_key(self.plan, edge)
        return "\n".join([*lines, *([f"order key: {', '.join(key)}"] if key else [])])

    def _joints(self) -> list[Element]:
        return [
            element(
                "g",
                element("title", self._joint_tooltip(sign)),
                joint_sign(sign.kind, sign.middle),
                class_=self._hue(sign.joint.region),
            )
            for sign in self.picture.joints
        ]

    def _joint_tooltip(self, sign: JointSign) -> str:
        means = f"{joint_words(sign.kind)}: {JOINT_MEANS[sign.kind]}"
        return f"{means}\n{joint_sentence(sign.joint, self.channels)}"

    # Operators ---------------------------------------------------------------------------------------------------

    def _operators(self) -> list[Element]:
        return [self._operator(operator) for operator in self.drawn.graph.operators]

    def _operator(self, operator: Operator) -> Element:
        box = self.picture.operators[operator.id]
        region = self.drawn.region_of(operator.id)
        group = element("g", element("title", self._operator_tooltip(operator)))
        group.set("class", f"ab-operator {self._hue(region) if region is not None else 'ab-alone'}")
        group.append(_rect(box, "ab-box", 7))
        group.append(
            element(
                "path",
                class_="ab-icon",
                d=kind_sign(operator),
                transform=f"translate({number(box.x + 10)} {number(box.y + 7)})",
            )
        )
        group.append(element("text", operator_name(operator), class_="ab-name", x=box.x + 33, y=box.y + 20))
        selectivity = selectivity_label(self.drawn, operator)
        if selectivity:
            group.append(element("text", selectivity, class_="ab-note", x=box.x + 10, y=box.bottom - 8))
        self._add_state(group, operator, box)
        return group

    def _add_state(self, group: Element, operator: Operator, box: Box) -> None:
        properties = self.drawn.properties.get(operator.id)
        if properties is None or properties.state is State.STATELESS:
            return
        kind = "ab-state ab-stateful" if properties.state is State.STATEFUL else "ab-state"
        at = f"translate({number(box.right - 18)} {number(box.bottom - 18)})"
        group.append(element("path", class_=kind, d=STATE_SIGN, transform=at))
        key = key_label(self.drawn, operator)
        if key:
            group.append(element("text", key, class_="ab-note", x=box.right - 23, y=box.bottom - 8, text_anchor="end"))

    def _operator_tooltip(self, operator: Operator) -> str:
        lines = [f"{operator.id} ({operator.kind}), {operator.location}"]
        if operator.location.code:
            lines.append(operator.location.code)
        if operator.outputs:
            lines.append(f"gives {types_out(operator)}")
        for reason in reasons_of(self.plan, operator):
            lines.append(f"{reason.about}: {reason_words(reason, operator.location)}")
            if reason.hint:
                lines.append(f"try: {reason.hint}")
        return "\n".join(lines)

    def _hue(self, region: Region) -> str:
        return f"ab-hue{self.hue_of[region.id]}"


def _svg(children: list[Element], width: float, height: float) -> Element:
    return element(
        "svg",
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=width,
        height=height,
        role="img",
        class_="ab-graph",
    )


def _rect(box: Box, kind: str, radius: float) -> Element:
    return element("rect", class_=kind, x=box.x, y=box.y, width=box.width, height=box.height, rx=float(radius))


def _path(curve: Curve) -> str:
    first, *rest = (f"{number(x)},{number(y)}" for x, y in curve)
    return f"M{first}C{' '.join(rest)}"


def _arrow() -> Element:
    tip = element("path", d="M0,0L8,4L0,8z", class_="ab-tip")
    marker = element("marker", tip, id="ab-arrow", orient="auto", markerUnits="userSpaceOnUse")
    for name, value in {"markerWidth": "8", "markerHeight": "8", "refX": "8", "refY": "4"}.items():
        marker.set(name, value)
    return element("defs", marker)
