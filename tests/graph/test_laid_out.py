"""What is drawn is what is laid out: every joint is something that arrives, and what arrives in channels has one."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch.compiler import compile
from anabranch.graph.drawing.arrangement import arrange
from anabranch.graph.index import GraphIndex
from anabranch.graph.joints import Joint, joints_of
from anabranch.graph.laid_out import as_laid_out
from anabranch.graph.lanes import rows_of
from anabranch.graph.places import PARTS, SOURCES, Arrival, Layout, Phase, Place, Reading
from anabranch.graph.plan import JointKind, Plan
from anabranch.graph.settings import Settings, Target
from anabranch.run import as_program
from examples.mobility_fraud import mobility_fraud
from examples.pagerank import pagerank
from tests.graph.programs import SHAPES, Call, Numbered, Speed, Travel, is_fast, tangle, travels

EXAMPLES = [
    getattr(importlib.import_module(f"examples.{path.stem}"), path.stem)
    for path in sorted(Path(__file__).parents[2].joinpath("examples").glob("*.py"))
]


def to_folder(stream: Callable[[], ab.Stream[Any]], *, ordered: bool) -> ab.App[[]]:
    @ab.app
    def folder() -> None:
        stream().write_csv("out/", ordered=ordered)

    return folder


@ab.app
def partitioned() -> None:
    ab.read_csv("logs/*.csv", Call, partition_by="area").process(Speed, key="phone").write_csv("out.csv")


def fast_travels() -> ab.Stream[Travel]:
    return ab.read_csv("travels.csv", Travel).filter(is_fast)


def numbered_travels() -> ab.Stream[Travel]:
    return fast_travels().process(Numbered, key="phone")


FOLDERS = [
    to_folder(stream, ordered=ordered) for stream in (fast_travels, numbered_travels) for ordered in (True, False)
]
PROGRAMS = [
    *EXAMPLES,
    *SHAPES,
    *(tangle(30, seed) for seed in range(20, 36)),
    partitioned,
    *FOLDERS,
]
TARGETS = [Target("spark", cores=2), Target("spark", cores=2, reads_slices=False)]


def drawn_plan(program: Any, **options: Any) -> Plan:
    return as_laid_out(ab.explain(program, **{"channels": 2, **options}).plan)


def joints_in(plan: Plan) -> tuple[Joint, ...]:
    return joints_of(plan, GraphIndex(plan.graph))


def drawn(program: Any, **options: Any) -> list[str]:
    """The rows of the drawing, in a few words."""
    plan = drawn_plan(program, **options)
    found = []
    for row in rows_of(plan, GraphIndex(plan.graph)):
        if row.joint is not None:
            assert row.joint.kind is not None
            key = row.joint.arrivals[0].key if row.joint.arrivals and row.joint.is_entry else ()
            found.append(f"[{' '.join((row.joint.kind.value, row.joint.region.id, *key))}]")
        elif row.operator is not None:
            found.append(row.operator.id)
    return found


# Every plan ------------------------------------------------------------------------------------------------------


def _home(layout: Layout, operator_id: str) -> Place:
    for place in layout.places:
        if operator_id in place.operators:
            return place
    return layout.places[-1]


def _channels(phase: Phase, place: Place) -> str | None:
    """The place whose channels these are; None where there is only one."""
    while place.follows is not None:
        place = phase.layout.place(place.follows)
    if place.id == SOURCES:
        is_alone = len(phase.layout.graph.sources) == 1
        many = phase.reading is Reading.SLICES or (phase.reading is Reading.APART and is_alone)
        return place.id if many else None
    return place.id if place.region is not None or place.id == PARTS else None


def _between_channels(plan: Plan) -> list[tuple[JointKind, Arrival]]:
    """What arrives in other channels than it comes from, as the places say it."""
    found = []
    for phase in plan.phases:
        for arrival in phase.layout.arrivals:
            before = _channels(phase, _home(phase.layout, arrival.stream.operator))
            behind = _channels(phase, phase.layout.place(arrival.place))
            if arrival.clock is None and before != behind:
                both = before is not None and behind is not None
                one = JointKind.SPLIT if before is None else JointKind.MERGE
                found.append((JointKind.SHUFFLE if both else one, arrival))
    return found


@pytest.mark.parametrize("target", TARGETS, ids=["slices", "no slices"])
@pytest.mark.parametrize("app", PROGRAMS, ids=lambda app: app.name)
def test_every_joint_is_an_arrival_between_channels_and_the_other_way_round(app: Any, target: Target) -> None:
    plan = compile(as_program(app).graph, Settings(target, expected=1_000_000))
    shown = as_laid_out(plan)
    joints = joints_in(shown)
    told = [(joint.kind, arrival) for joint in joints for arrival in joint.arrivals]
    assert Counter(map(repr, told)) == Counter(map(repr, _between_channels(plan)))
    for joint in joints:
        assert bool(joint.edges) == bool(joint.arrivals) == (joint.kind not in (JointKind.SOURCE, JointKind.SINK))
        assert all(edge.source == each.stream.operator for edge in joint.edges for each in joint.arrivals)
    rows = [row.joint for row in rows_of(shown, GraphIndex(shown.graph)) if row.joint is not None]
    assert sorted(map(repr, rows)) == sorted(map(repr, joints)), "each is a row of the text"
    assert [edge for joint in joints for edge in joint.edges] == list(
        dict.fromkeys(edge for joint in joints for edge in joint.edges)
    )


@pytest.mark.parametrize("app", PROGRAMS, ids=lambda app: app.name)
def test_an_operator_is_drawn_in_the_channels_of_its_place(app: Any) -> None:
    plan = ab.explain(app, channels=3).plan
    shown = as_laid_out(plan)
    names = {SOURCES: ("slices", "readers"), PARTS: ("files",)}
    for phase in plan.phases:
        for place in phase.layout.places:
            channels = None if phase.is_in_process else _channels(phase, place)
            for operator_id in place.operators:
                region = shown.region_of(operator_id)
                if channels is None:
                    assert region is None
                else:
                    assert region is not None
                    assert region.id in names.get(channels, (channels,))


@pytest.mark.parametrize("app", EXAMPLES, ids=lambda app: app.name)
def test_the_picture_the_text_and_the_json_have_the_same_joints(app: Any) -> None:
    explanation = ab.explain(app, channels=2)
    plan = as_laid_out(explanation.plan)
    joints = joints_in(plan)
    assert [sign.joint for sign in arrange(plan).joints] == list(joints)
    described = explanation.to_dict()["joints"]
    assert [(each["kind"], each["region"], each["to"]) for each in described] == [
        (joint.kind.value if joint.kind else None, joint.region.id, [edge.target for edge in joint.edges])
        for joint in joints
    ]


# Some of them ----------------------------------------------------------------------------------------------------


def test_in_the_flagship_example_calls_are_filtered_where_they_are_read_and_dealt_out_before_speed() -> None:
    assert drawn(mobility_fraud) == [
        "[source slices]",
        *("read_csv", "filter"),
        "[shuffle R1 phone]",
        *("Speed", "filter_2"),
        "[merge R1]",
        *("aggregate", "write_csv"),
    ]


def test_stateless_operators_behind_a_region_stay_in_its_channels() -> None:
    # The map forwards no key, so it begins a region of its own.
    moved = numbered_travels().map(lambda t: Travel(1, t.speed, t.ts), out=Travel).named("moved")
    explanation = ab.explain(moved.filter(is_fast).named("still").collect("out"), channels=2)
    assert drawn(moved.filter(is_fast).named("still").collect("out"))[3:] == [
        "[shuffle R1 phone]",
        *("Numbered", "moved", "still"),
        "[merge R1]",
        "out",
    ]
    assert [region.id for region in as_laid_out(explanation.plan).regions] == ["slices", "R1"]


def test_a_region_in_one_place_is_not_drawn() -> None:
    seen: list[Travel] = []

    def remember(travel: Travel) -> Travel:
        seen.append(travel)
        return travel

    sink = travels("source").map(remember).process(Numbered, key="phone").collect("out")
    assert drawn(sink) == ["[source slices]", "source", "[merge slices]", "remember", "Numbered", "out"]


def test_a_program_on_the_fused_engine_has_neither_regions_nor_joints() -> None:
    plan = drawn_plan(mobility_fraud, engine="fused")
    assert plan.regions == ()
    assert joints_in(plan) == ()


def test_before_the_layout_regions_are_as_they_were_formed() -> None:
    plan = ab.explain(mobility_fraud, stage="ordering").plan
    assert as_laid_out(plan) is plan
    assert [joint.kind for joint in joints_in(plan)] == [JointKind.SPLIT, JointKind.MERGE]


def test_a_folder_that_tasks_write_is_a_region_of_its_own_if_it_has_an_order() -> None:
    stateless, _, numbered, unordered = map(drawn, FOLDERS)
    assert stateless == ["[source slices]", "read_csv", "is_fast", "write_csv", "[sink slices]"]  # where it is read
    assert numbered[3:] == ["[shuffle R1 phone]", "Numbered", "[shuffle files]", "write_csv", "[sink files]"]
    assert unordered[3:] == ["[shuffle R1 phone]", "Numbered", "write_csv", "[sink R1]"]


def test_a_partitioned_source_with_a_task_for_each_file_is_parallel() -> None:
    assert drawn(partitioned)[:3] == ["[source readers]", "read_csv", "[shuffle R2 phone]"]
    assert "[parallel source]  read by a task for each file" in str(ab.explain(partitioned, channels=2))


def test_what_a_stream_reads_is_parallel_too() -> None:
    target = Target("spark", cores=2, is_endless=True)
    plan = as_laid_out(compile(as_program(mobility_fraud).graph, Settings(target)))
    assert [(region.id, region.operators[0]) for region in plan.regions] == [("arrived", "read_csv"), ("R1", "Speed")]


def test_each_phase_of_a_loop_in_rounds_has_its_regions() -> None:
    assert drawn(pagerank)[:6] == [
        "[source slices]",
        "read_csv",
        "[shuffle R1 page to]",
        *("distinct", "as_entry"),
        "[merge R1]",
    ]
    assert drawn(pagerank)[6:9] == ["feedback", "[split R2 page]", "Multiply"]


def test_ranges_of_a_key_are_named_where_tuples_are_dealt_out() -> None:
    sink = fast_travels().process(Numbered, key=ab.ranges("phone", [10, 20])).collect("out")
    assert "[shuffle]          R1 ×2: ranges of phone" in str(ab.explain(sink, channels=2))


def test_a_number_of_channels_is_that_of_the_places() -> None:
    plan = drawn_plan(FOLDERS[2], channels={"R1": 5})
    assert dict(plan.channels) == {"R1": 5, "files": plan.settings.target.cores}


def test_a_plan_keeps_its_own_regions() -> None:
    plan = ab.explain(mobility_fraud).plan
    before = replace(plan)
    as_laid_out(plan)
    assert plan == before
    assert plan.regions[0].operators == ("filter", "Speed", "filter_2")
