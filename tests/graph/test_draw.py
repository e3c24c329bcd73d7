"""The drawing: nothing overlaps, nothing is cut off, nothing a user wrote can break out of it."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from math import dist
from xml.etree import ElementTree

import pytest

import anabranch as ab
from anabranch.errors import Location, UsageError
from anabranch.graph.drawing.arrangement import arrange
from anabranch.graph.drawing.geometry import Box, crossing, samples, with_round_corners
from anabranch.graph.drawing.labels import with_fitting_labels
from anabranch.graph.drawing.picture import JOINT_RADIUS, Picture
from anabranch.graph.index import GraphIndex
from anabranch.graph.joints import joints_of
from anabranch.graph.laid_out import as_laid_out
from anabranch.graph.plan import JointKind, Plan
from anabranch.graph.properties import Reason
from tests.graph.programs import (
    SHAPES,
    branches,
    islands,
    joined,
    linear,
    looping,
    looping_tightly,
    pipeline,
    shuffled,
    travels,
    wide,
)

SVG = "{http://www.w3.org/2000/svg}"


@cache
def plan_of(app: ab.App[[]]) -> Plan:
    """With the regions that are drawn."""
    return as_laid_out(ab.explain(app).plan)


@cache
def picture_of(app: ab.App[[]]) -> Picture:
    return arrange(plan_of(app))


def svg_of(app: ab.App[[]], **options: object) -> ElementTree.Element:
    return ElementTree.fromstring(ab.explain(app, **options).to_svg())


def texts(root: ElementTree.Element) -> list[str]:
    return [node.text or "" for node in root.iter(f"{SVG}text")]


def of_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [node for node in root.iter() if name in node.get("class", "").split()]


each_shape = pytest.mark.parametrize("app", SHAPES, ids=lambda app: app.name)


# Places ----------------------------------------------------------------------------------------------------------


@each_shape
def test_no_two_operators_overlap(app: ab.App[[]]) -> None:
    boxes = picture_of(app).operators
    assert len(boxes) == len(plan_of(app).graph.operators)
    touching = [
        (one, other)
        for (one, first), (other, second) in itertools.combinations(boxes.items(), 2)
        if first.overlaps(second)
    ]
    assert touching == []


@each_shape
def test_a_region_holds_its_own_operators_and_no_other(app: ab.App[[]]) -> None:
    picture = picture_of(app)
    for operator_id, box in picture.operators.items():
        homes = [part.region.id for part in picture.regions if part.box.overlaps(box)]
        region = plan_of(app).region_of(operator_id)
        assert homes == ([region.id] if region is not None else [])
        assert all(_holds(part.box, box) for part in picture.regions if part.box.overlaps(box))


@each_shape
def test_the_outline_of_a_pe_holds_its_own_operators_and_no_other(app: ab.App[[]]) -> None:
    picture = picture_of(app)
    for part in picture.pes:
        inside = [operator_id for operator_id, box in picture.operators.items() if part.box.overlaps(box)]
        assert inside
        assert set(inside) <= set(part.pe.operators)


def _holds(outer: Box, inner: Box) -> bool:
    return outer.contains((inner.x, inner.y)) and outer.contains((inner.right, inner.bottom))


@each_shape
def test_regions_do_not_overlap(app: ab.App[[]]) -> None:
    parts = picture_of(app).regions
    assert not [1 for one, other in itertools.combinations(parts, 2) if one.box.overlaps(other.box)]


@each_shape
def test_every_stream_is_drawn_from_its_source_to_its_target(app: ab.App[[]]) -> None:
    plan, picture = plan_of(app), picture_of(app)
    assert sorted(map(str, plan.graph.edges)) == sorted(str(route.edge) for route in picture.routes)
    for route in picture.routes:
        source, target = picture.operators[route.edge.source], picture.operators[route.edge.target]
        start, end = route.curve[0], route.curve[-1]
        if route.edge.is_feedback:
            assert abs(start[1] - source.y) < 2
            assert abs(end[1] - target.y) < 2
        else:
            assert abs(start[0] - source.right) < 2
            assert abs(end[0] - target.x) < 2
            assert source.y <= start[1] <= source.bottom
            assert target.y <= end[1] <= target.bottom


@each_shape
def test_no_stream_runs_through_an_operator(app: ab.App[[]]) -> None:
    picture = picture_of(app)
    hit = []
    for route in picture.routes:
        others = [
            _shrunk(box)
            for operator_id, box in picture.operators.items()
            if operator_id not in (route.edge.source, route.edge.target)
        ]
        hit += [route.edge for point in samples(route.curve) if any(box.contains(point) for box in others)]
    assert hit == []


def _shrunk(box: Box) -> Box:
    return Box(box.x + 2, box.y + 2, box.width - 4, box.height - 4)


@each_shape
def test_joints_stand_on_the_borders_of_their_regions(app: ab.App[[]]) -> None:
    plan, picture = plan_of(app), picture_of(app)
    joints = joints_of(plan, GraphIndex(plan.graph))
    merged = [joint.edges[0].source for joint in joints if joint.kind is JointKind.MERGE]
    signs = [sign.joint for sign in picture.joints]
    assert [joint for joint in joints if joint.kind is not JointKind.MERGE or joint in signs] == signs
    # What leaves an operator by several outputs is merged at one point.
    assert [joint.edges[0].source for joint in signs if joint.kind is JointKind.MERGE] == list(dict.fromkeys(merged))
    for sign in picture.joints:
        parts = [part.box for part in picture.regions if part.region == sign.joint.region]
        x, y = sign.middle
        assert min(min(abs(x - box.x), abs(x - box.right), abs(y - box.y), abs(y - box.bottom)) for box in parts) < 2


def test_a_joint_stands_on_the_stream_it_deals_out() -> None:
    picture = arrange(plan_of(branches))
    assert [sign.kind for sign in picture.joints if not sign.joint.edges] == [JointKind.SOURCE]
    for sign in picture.joints[1:]:
        routes = [route for route in picture.routes if route.edge in sign.joint.edges]
        assert any(dist(point, sign.middle) < JOINT_RADIUS for route in routes for point in samples(route.curve))


def test_the_streams_into_a_join_arrive_one_below_the_other_in_their_order() -> None:
    picture = picture_of(joined)
    first, second = sorted(
        (route for route in picture.routes if route.edge.target == "join"), key=lambda route: route.edge.target_port
    )
    assert first.curve[-1][1] < second.curve[-1][1] - 10


def test_the_two_joints_of_a_join_are_next_to_each_other() -> None:
    picture = arrange(plan_of(joined))
    split, shuffle = [sign for sign in picture.joints if sign.joint.is_entry and sign.joint.region.id == "R2"]
    assert {split.kind, shuffle.kind} == {JointKind.SPLIT, JointKind.SHUFFLE}
    assert dist(split.middle, shuffle.middle) > JOINT_RADIUS


@each_shape
def test_labels_hide_nothing(app: ab.App[[]]) -> None:
    picture = picture_of(app)
    root = svg_of(app)
    labels = [_extent(node, (0, 0)) for node in of_class(root, "ab-type")]
    taken = [*picture.operators.values(), *(sign.box for sign in picture.joints)]
    assert not [label for label in labels if any(label.overlaps(box) for box in taken)]
    assert not [1 for one, other in itertools.combinations(labels, 2) if one.overlaps(other)]


def test_a_label_moves_along_its_stream_to_where_it_hides_nothing_or_is_left_out() -> None:
    plan, picture = plan_of(linear), picture_of(linear)
    route = next(route for route in picture.routes if route.edge.source == "read_csv")
    assert route.label is not None
    x, y = route.label
    (kept,) = with_fitting_labels(plan, [route], [])
    assert kept.label == route.label
    (aside,) = with_fitting_labels(plan, [route], [Box(x, y - 20, 100, 40)])
    assert aside.label is not None
    assert aside.label[0] < x
    (left_out,) = with_fitting_labels(plan, [route], [Box(x - 500, y - 50, 1000, 100)])
    assert left_out.label is None


def test_a_drawing_with_very_many_streams_leaves_their_labels_out() -> None:
    assert of_class(svg_of(looping), "ab-type") != []
    assert of_class(svg_of(wide(100)), "ab-type") == []


# Rows ------------------------------------------------------------------------------------------------------------


def rows_in(picture: Picture) -> list[list[str]]:
    """Operators from left to right, row by row."""
    rows: dict[float, list[str]] = {}
    for operator_id, box in sorted(picture.operators.items(), key=lambda item: (item[1].y, item[1].x)):
        rows.setdefault(round(box.y), []).append(operator_id)
    return list(rows.values())


def test_a_long_pipeline_is_read_row_by_row() -> None:
    plan = plan_of(pipeline(60))
    picture = arrange(plan)
    rows = rows_in(picture)
    assert [operator_id for row in rows for operator_id in row] == [o.id for o in plan.graph.operators]
    assert 5 <= len(rows) <= 8
    assert picture.frame.width < 1900


def test_rows_keep_regions_together_where_they_fit() -> None:
    plan = plan_of(pipeline(60))
    row_of = {operator_id: number for number, row in enumerate(rows_in(arrange(plan))) for operator_id in row}
    torn = [region.id for region in plan.regions if len({row_of[o] for o in region.operators}) > 1]
    assert torn == []


def test_a_region_that_is_longer_than_a_row_goes_on_in_the_next() -> None:
    stream = travels("source")
    for number in range(30):
        stream = stream.filter(lambda t: t.speed > 1).named(f"fast_{number}")
    picture = arrange(as_laid_out(ab.explain(stream.collect("out")).plan))
    parts = sorted(picture.regions, key=lambda part: part.box.y)
    assert len(parts) > 1
    assert [part.is_start for part in parts] == [True, *[False] * (len(parts) - 1)]
    assert [sign.kind for sign in picture.joints] == [JointKind.SOURCE, JointKind.MERGE]
    assert parts[0].box.contains((picture.joints[0].middle[0] + 1, picture.joints[0].middle[1]))


def test_a_graph_of_ordinary_size_stays_in_one_row() -> None:
    assert len(rows_in(arrange(plan_of(linear)))) == 1


def test_programs_in_one_are_one_below_the_other() -> None:
    rows = [row for row in rows_in(arrange(plan_of(islands))) if any("source" in each for each in row)]
    assert [row[:2] for row in rows] == [[f"source_{number}", f"fast_{number}"] for number in range(3)]


# The file --------------------------------------------------------------------------------------------------------


@each_shape
def test_no_text_is_outside_the_picture(app: ab.App[[]]) -> None:
    root = svg_of(app, channels=4)
    x, y, width, height = map(float, root.get("viewBox", "").split())
    frame = Box(x, y, width, height)
    found = list(_placed_texts(root, (0.0, 0.0)))
    assert len(found) == len(texts(root))
    assert [node.text for node, extent in found if not _holds(frame, extent)] == []


def _placed_texts(node: ElementTree.Element, offset: tuple[float, float]) -> Iterator[tuple[ElementTree.Element, Box]]:
    moved = re.fullmatch(r"translate\((\S+) (\S+)\)", node.get("transform", ""))
    if moved:
        offset = (offset[0] + float(moved[1]), offset[1] + float(moved[2]))
    if node.tag == f"{SVG}text":
        yield node, _extent(node, offset)
    for child in node:
        yield from _placed_texts(child, offset)


def _extent(node: ElementTree.Element, offset: tuple[float, float]) -> Box:
    """What a text covers in a common fixed-width font."""
    sizes = {"ab-title": 16, "ab-name": 13, "ab-region-name": 13}
    size = next((sizes[name] for name in node.get("class", "").split() if name in sizes), 10.5)
    width = len(node.text or "") * size * 0.602
    x = float(node.get("x", "0")) + offset[0]
    x -= {"middle": width / 2, "end": width}.get(node.get("text-anchor", ""), 0)
    return Box(x, float(node.get("y", "0")) + offset[1] - size * 0.7, width, size * 0.8)


@each_shape
def test_every_operator_region_and_pe_is_named(app: ab.App[[]]) -> None:
    plan, shown = plan_of(app), texts(svg_of(app))
    assert all(operator.id in shown for operator in plan.graph.operators)
    assert all(region.id in shown for region in plan.regions)
    assert all(pe.id in shown for pe in plan.pes if len(pe.operators) > 1)


def test_a_drawing_needs_nothing_from_outside_and_runs_nothing() -> None:
    text = ab.explain(branches).to_svg()
    root = ElementTree.fromstring(text)
    assert {node.tag.removeprefix(SVG) for node in root.iter()} <= {
        *("svg", "title", "style", "defs", "marker", "g", "path", "rect", "circle", "text"),
    }
    assert set(re.findall(r"url\([^)]*\)", text)) == {"url(#ab-arrow)"}
    assert "href" not in text
    assert "@import" not in text
    assert text.count("http") == 1  # the namespace


def test_an_operator_shows_its_selectivity_on_the_left_and_its_state_on_the_right() -> None:
    root = svg_of(linear)
    group = next(node for node in of_class(root, "ab-operator") if "Speed" in texts(node))
    box, *_ = of_class(group, "ab-box")
    middle = float(box.get("x", "")) + float(box.get("width", "")) / 2
    places = {node.text: float(node.get("x", "")) for node in group.iter(f"{SVG}text")}
    assert places["1:[0,1]"] < middle < places["phone"]
    assert len(of_class(group, "ab-state")) == 1
    assert of_class(group, "ab-stateful") == []


def test_a_stateless_operator_has_no_state_sign_and_a_stateful_one_a_filled_one() -> None:
    root = svg_of(linear)
    groups = {texts(node)[0]: node for node in of_class(root, "ab-operator")}
    assert of_class(groups["filter"], "ab-state") == []
    assert len(of_class(groups["aggregate"], "ab-stateful")) == 1


def test_tooltips_give_the_reasons_and_the_line() -> None:
    group = next(node for node in of_class(svg_of(linear), "ab-operator") if "aggregate" in texts(node))
    tip = group.findtext(f"{SVG}title") or ""
    assert re.match(r"aggregate \(aggregate\), \S*programs\.py:\d+\n", tip)
    assert "state: a window without a key has one state for the whole stream" in tip
    assert "\ntry: " in tip


def test_channels_are_a_number_and_a_stack_of_boxes() -> None:
    stacks = {
        given: (texts(root := svg_of(linear, channels=given)), len(of_class(root, "ab-channel"))) for given in (1, 4)
    }
    of_slices = 2  # how many tasks read is not known, but that it may be many
    assert ("×1" in stacks[1][0], stacks[1][1]) == (True, of_slices)
    assert ("×4" in stacks[4][0], stacks[4][1]) == (True, of_slices + 2)
    not_laid_out = svg_of(linear, stage="ordering")
    assert ("×n" in texts(not_laid_out), len(of_class(not_laid_out, "ab-channel"))) == (True, 2)


def test_what_many_tasks_read_has_no_number_and_says_so() -> None:
    slices, region = of_class(svg_of(linear, channels=4), "ab-region-name")
    assert (slices.text, region.text) == ("slices", "R1")
    shown = texts(svg_of(linear, channels=4))
    assert "read in slices" in shown
    assert [text for text in shown if text.startswith("×")] == ["×4"]


def test_a_program_in_one_process_has_no_region_and_one_pe_around_all_but_the_source() -> None:
    root = svg_of(linear, engine="fused", channels=4)
    assert of_class(root, "ab-region") == of_class(root, "ab-joint") == []
    [pe] = arrange(as_laid_out(ab.explain(linear, engine="fused").plan)).pes
    assert pe.pe.operators == ("filter", "Speed", "is_fast", "aggregate", "write_csv")


@each_shape
def test_the_outline_of_a_pe_is_in_one_region_or_in_none(app: ab.App[[]]) -> None:
    picture = picture_of(app)
    for part in picture.pes:
        around = [region.box for region in picture.regions if region.box.overlaps(part.box)]
        assert len(around) <= 1
        assert all(_holds(box, part.box) for box in around)


def test_the_legend_explains_the_signs_that_occur() -> None:
    def legend(app: ab.App[[]]) -> str:
        key, *_ = of_class(svg_of(app, channels=2), "ab-key")
        return "\n".join(texts(key))

    assert "shuffle: " in legend(shuffled)
    assert "split: " in legend(shuffled)
    assert "parallel source: " not in legend(shuffled)
    assert "parallel source: " in legend(linear)
    assert "split: " not in legend(linear)
    assert "feedback" in legend(looping)
    assert "feedback" not in legend(linear)


@pytest.mark.parametrize("app", [looping, looping_tightly], ids=lambda app: app.name)
def test_a_way_back_is_dashed_and_goes_from_right_to_left_above_the_loop(app: ab.App[[]]) -> None:
    back, *others = [node for node in of_class(svg_of(app), "ab-feedback") if "marker-end" in node.attrib]
    assert others == []
    points = [tuple(map(float, point.split(","))) for point in re.findall(r"-?[\d.]+,-?[\d.]+", back.get("d", ""))]
    assert points[0][0] > points[-1][0]
    assert min(y for _, y in points) < min(points[0][1], points[-1][1])


def test_the_forward_streams_of_a_loop_are_straight() -> None:
    picture = arrange(plan_of(looping_tightly))
    forward = [route for route in picture.routes if not route.edge.is_feedback]
    assert max(max(y for _, y in r.curve) - min(y for _, y in r.curve) for r in forward) < 1


# What people bring along -----------------------------------------------------------------------------------------

HOSTILE = "</title><script>alert(1)</script>&\"'\x1b[2J\x7f"


def hostile_plan(code_file: str) -> Plan:
    """A plan with hostile text wherever a user can bring some."""
    plan = ab.explain(travels("source").filter(lambda t: t.speed > 1).collect("out")).plan
    kind = type(HOSTILE, (), {})
    reason = Reason("state", HOSTILE, Location(code_file, 1), hint=HOSTILE + "\x00\ud800")

    def hostile(port):
        return replace(port, name=HOSTILE, schema=replace(port.schema, type=kind))

    operators = tuple(
        replace(
            operator,
            location=Location(code_file, 1),
            inputs=tuple(map(hostile, operator.inputs)),
            outputs=tuple(map(hostile, operator.outputs)),
        )
        for operator in plan.graph.operators
    )
    properties = {name: replace(known, key=(HOSTILE,), reasons=(reason,)) for name, known in plan.properties.items()}
    regions = tuple(replace(region, key=(HOSTILE,), reasons=(reason,)) for region in plan.regions)
    return replace(
        plan,
        graph=replace(plan.graph, name=HOSTILE, operators=operators),
        properties=properties,
        regions=regions,
        sequential=dict.fromkeys(plan.sequential, (reason,)),
    )


def test_hostile_names_types_reasons_and_code_stay_text(tmp_path) -> None:
    file = tmp_path / "<b>&.py"
    file.write_text("x = '</title><script>alert(2)</script>'\n")
    text = ab.Explanation(hostile_plan(str(file)), "fuse").to_svg()
    root = ElementTree.fromstring(text)
    assert not list(root.iter(f"{SVG}script"))
    assert not list(root.iter("script"))
    tips = [node.text or "" for node in root.iter(f"{SVG}title")]
    assert any("<script>alert(1)</script>&\"'\\u001b[2J\\u007f" in tip for tip in tips)
    assert any("x = '</title><script>alert(2)</script>'" in tip for tip in tips)
    assert all(character.isprintable() or character == "\n" for character in text)
    assert any("\\u0000\\ud800" in tip for tip in tips)


def test_a_missing_graphviz_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    with pytest.raises(UsageError, match="a drawing needs Graphviz") as raised:
        ab.explain(linear).to_svg()
    assert raised.value.hint == "pip install pygraphviz"


# Curves ----------------------------------------------------------------------------------------------------------


def test_a_curve_is_cut_at_the_border_where_it_leaves_first_or_enters_last() -> None:
    line = ((0.0, 5.0), (10.0, 5.0), (20.0, 5.0), (30.0, 5.0))
    box = Box(10, 0, 10, 10)
    entering = crossing(line, box, leaving=False)
    assert entering is not None
    assert dist(entering, (10, 5)) < 0.1
    from_inside = crossing(((12.0, 5.0), (18.0, 5.0), (24.0, 5.0), (30.0, 5.0)), box, leaving=True)
    assert from_inside is not None
    assert dist(from_inside, (20, 5)) < 0.1
    assert crossing(line, Box(10, 20, 10, 10), leaving=True) is None


def test_rounded_corners_keep_to_the_lines() -> None:
    curve = with_round_corners([(0, 0), (100, 0), (100, 50)], radius=10)
    assert curve[0] == (0, 0)
    assert curve[-1] == (100, 50)
    assert (len(curve) - 1) % 3 == 0
    assert all(abs(y) < 0.01 or abs(x - 100) < 0.01 or (x > 90 and y < 10) for x, y in samples(curve))
    assert (100, 0) not in samples(curve)
