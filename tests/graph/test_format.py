"""The explanation as text: the drawing in the terminal, the sections, and what is not parallel and why."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

import anabranch as ab
from anabranch.graph.index import GraphIndex
from anabranch.graph.laid_out import as_laid_out
from anabranch.graph.lanes import DrawnRow, rows_of
from anabranch.graph.phrases import columns, counted, elided, printable
from anabranch.graph.properties import Reason
from examples.pagerank import pagerank
from tests.graph.programs import (
    SHAPES,
    Numbered,
    Travel,
    as_it_is,
    branches,
    is_fast,
    islands,
    joined,
    linear,
    looping,
    meeting,
    pipeline,
    shuffled,
    tangle,
    travels,
    wide,
)


def text_of(app: ab.App[[]], **options: object) -> str:
    return str(ab.explain(app, **options))


def drawing(app: ab.App[[]], **options: object) -> str:
    """The rows of the drawing, without the headline before and the key behind it."""
    lines = text_of(app, **options).splitlines()
    lines = lines[lines.index("") + 1 :]
    end = next(index for index, line in enumerate(lines) if line.startswith("  ○ stateless   ◐"))
    return textwrap.dedent("\n".join(lines[: end - 1]))


def section(text: str, title: str) -> list[str]:
    """The lines of a section, without its title."""
    lines = text.split(f"\n{title}\n")[1].splitlines()
    return list(lines[: next((i for i, line in enumerate(lines) if line and not line.startswith(" ")), len(lines))])


# The drawing -----------------------------------------------------------------------------------------------------


def test_a_pipeline_is_a_list_with_its_regions_between_joints() -> None:
    assert drawing(linear, channels=4) == textwrap.dedent("""\
        ╔ [parallel source]  read in slices
        ║ ● read_csv         stateful                       → Call
        ║ ○ filter           stateless             1:[0,1]
        ╫ [shuffle]          R1 ×4: key phone
        ║ ◐ Speed            partitioned by phone  1:[0,1]  → Travel
        ║ ○ is_fast          stateless             1:[0,1]
        ╨ [merge]            R1 ends, order: strict-seqno-pulse
        ● aggregate          stateful              1:[0,∞)  → Count
        ● write_csv          stateful              1:1""")


def test_before_it_is_laid_out_regions_are_drawn_as_they_were_formed() -> None:
    assert drawing(linear, stage="ordering") == textwrap.dedent("""\
        ● read_csv   stateful                       → Call
        ╥ [split]    R1: key phone
        ║ ○ filter   stateless             1:[0,1]
        ║ ◐ Speed    partitioned by phone  1:[0,1]  → Travel
        ║ ○ is_fast  stateless             1:[0,1]
        ╨ [merge]    R1 ends, order: strict-seqno-pulse
        ● aggregate  stateful              1:[0,∞)  → Count
        ● write_csv  stateful              1:1""")
    assert drawing(shuffled, stage="ordering", channels={"R1": 2}) == textwrap.dedent("""\
        ╔ [parallel source]  R1 ×2: key area
        ║ ◐ read_csv         partitioned by area            → Call
        ║ ○ filter           stateless             1:[0,1]
        ╫ [shuffle]          R2: key phone
        ║ ◐ Speed            partitioned by phone  1:[0,1]  → Travel
        ║ ○ write_csv        stateless             1:1
        ╚ [parallel sink]    R2 ends, order: none""")


def test_a_source_that_one_task_reads_and_a_file_that_the_driver_writes_are_in_no_region() -> None:
    assert drawing(shuffled, channels={"R1": 2, "R2": 8}) == textwrap.dedent("""\
        ◐ read_csv   partitioned by area            → Call
        ╥ [split]    R1 ×2: key area
        ║ ○ filter   stateless             1:[0,1]
        ╫ [shuffle]  R2 ×8: key phone
        ║ ◐ Speed    partitioned by phone  1:[0,1]  → Travel
        ╨ [merge]    R2 ends, order: none
        ○ write_csv  stateless             1:1""")


def test_branches_are_lanes_that_part_and_meet() -> None:
    assert drawing(branches, channels=2) == textwrap.dedent("""\
        ╔ [parallel source]  read in slices
        ║ ● read_csv         stateful                       → Call
        ╟─╮ ○ split          stateless             1:[0,1]  → near: Call, far: Call
        ╫ │ [shuffle]        R2 ×2: key phone
        ║ │ ◐ near_speed     partitioned by phone  1:[0,1]  ← split.near  → Travel
        ╨ │ [merge]          R2 ends, order: strict-seqno-pulse
        │ ╫ [shuffle]        R3 ×2: key phone
        │ ║ ◐ far_speed      partitioned by phone  1:[0,1]  ← split.far  → Travel
        │ ╨ [merge]          R3 ends, order: strict-seqno-pulse
        ○─╯ union            stateless             1:1
        ├─╥ [split]          R4 ×2: whole epochs in turn
        │ ║ ○ fast           stateless             1:[0,1]
        │ ╨ [merge]          R4 ends, order: strict-seqno-pulse
        │ ● write_csv        stateful              1:1
        ● write_csv_2        stateful              1:1""")


def test_a_way_back_is_named_where_it_begins() -> None:
    rows = {line.split()[1]: line for line in drawing(looping).splitlines()}
    assert rows["split"].endswith("→ slow: Travel, again: Travel  ↺ back to feedback")


def test_a_join_takes_one_input_from_a_shuffle_and_one_from_a_split() -> None:
    assert drawing(joined, channels=3).splitlines()[3:] == [
        "╫ [shuffle]  R2 ×3: key phone",
        "│",
        "│ ● travels  stateful                       → Travel",
        "│ ╥ [split]  R2 ×3: key phone",
        "╟─╯ ◐ join   partitioned by phone  1:[0,∞)  → Pair",
        "╨ [merge]    R2 ends, order: relaxed-seqno-pulse",
        "● write_csv  stateful              1:1",
    ]


def test_a_source_does_not_look_as_if_the_sink_above_it_fed_it() -> None:
    lines = drawing(islands).splitlines()
    starts = [index for index, line in enumerate(lines) if "source_" in line]
    assert len(starts) == 3
    assert all(lines[index - 1].strip() == "" for index in starts[1:])


def test_consumers_of_one_stream_share_its_lane() -> None:
    lines = drawing(wide(40)).splitlines()
    assert lines[2].startswith("╨ [merge]"), "all of them are in one place"
    assert [line.split()[:2] for line in lines[3:42]] == [["├─●", f"out_{number}"] for number in range(39)]
    assert lines[42].startswith("● out_39")


def test_streams_beyond_what_lanes_can_show_are_named_where_they_arrive() -> None:
    lines = drawing(meeting(30)).splitlines()
    union = next(line for line in lines if " union " in line)
    assert "← source_18, source_19" in union
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("app", SHAPES, ids=lambda app: app.name)
def test_who_feeds_whom_can_be_read_off_the_lanes(app: ab.App[[]]) -> None:
    """A reader who knows nothing but the lines follows them to the same streams as in the graph."""
    plan = as_laid_out(ab.explain(app).plan)
    streams = [edge for edge in plan.graph.edges if not edge.is_feedback]
    expected = {(edge.source, edge.target) for edge in streams}
    assert _read(rows_of(plan, GraphIndex(plan.graph))) == expected


def _read(rows: tuple[DrawnRow, ...]) -> set[tuple[str, str]]:
    """Pairs of operators that the lanes connect; joints pass on what they get, sinks nothing."""
    found: set[tuple[str, str]] = set()
    lanes: dict[int, str] = {}  # the operator whose stream runs in a lane
    for row in rows:
        cells = row.lanes
        if row.operator is None and row.joint is None:
            lanes = {lane: source for lane, source in lanes.items() if cells[lane : lane + 1] in ("│", "║")}
            continue
        place = _sign_of(row)
        first = last = place
        while first > 0 and cells[first - 1] == "─":
            first -= 2
        while last + 1 < len(cells) and cells[last + 1] == "─":
            last += 2
        touched = [lane for lane in range(first, last + 1, 2) if lane == place or cells[lane] in "├┤┼╯╰┴╮╭┬"]
        arriving = [lanes[lane] for lane in touched if lane in lanes and (lane == place or cells[lane] not in "╮╭┬")]
        name = row.operator.id if row.operator is not None else None
        found |= {(source, name) for source in (*arriving, *row.unseen) if name is not None}
        passed_on = name or next(iter((*arriving, *row.unseen)), row.joint.region.entry if row.joint else "")
        lanes = {lane: source for lane, source in lanes.items() if lane not in touched or cells[lane] in "├┤┼"}
        if row.operator is None or row.operator.outputs:
            lanes |= {lane: passed_on for lane in touched if lane == place or cells[lane] in "╮╭┬"}
    return {pair for pair in found if pair[0] != pair[1]}


def _sign_of(row: DrawnRow) -> int:
    """Only one sign in a row is not a line; inside a region it is the one double line."""
    places = [index for index, sign in enumerate(row.lanes) if sign in "○◐●╔╥╫╨╚╟║"]
    assert len(places) == 1, row.lanes
    return places[0]


# Its size --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [60, 100, 140])
def test_no_line_is_longer_than_asked_for(width: int) -> None:
    for app in (pipeline(60), tangle(60, seed=1), meeting(30)):
        text = ab.explain(app, channels=4).to_text(width)
        assert max(map(columns, text.splitlines())) <= width


@pytest.mark.parametrize("app", SHAPES, ids=lambda app: app.name)
def test_every_operator_has_one_row_below_those_that_feed_it(app: ab.App[[]]) -> None:
    plan = as_laid_out(ab.explain(app).plan)
    order = [row.operator.id for row in rows_of(plan, GraphIndex(plan.graph)) if row.operator is not None]
    assert sorted(order) == sorted(operator.id for operator in plan.graph.operators)
    place = {operator_id: index for index, operator_id in enumerate(order)}
    assert all(place[edge.source] < place[edge.target] for edge in plan.graph.edges if not edge.is_feedback)


# The sections ----------------------------------------------------------------------------------------------------


def test_every_operator_is_listed_with_its_properties_and_reasons() -> None:
    lines = section(text_of(linear), "Operators")
    speed = next(index for index, line in enumerate(lines) if line.startswith("  Speed"))
    assert "partitioned by phone · 1:[0,1] · forwards phone, ts · R1 · PE3" in lines[speed]
    assert "state: one instance per phone, which shares nothing" in " ".join(lines[speed : speed + 3])


def test_a_region_is_listed_with_key_joints_and_ordering() -> None:
    formed = section(text_of(shuffled, stage="ordering"), "Regions")
    assert formed[0] == "  R1  key area   parallel source → shuffle  strict-seqno-pulse"
    assert "  R2  key phone  shuffle → parallel sink    none" in formed
    laid_out = section(text_of(shuffled, channels={"R1": 2, "R2": 8}), "Regions")
    assert laid_out[0] == "  R1 ×2  key area   split → shuffle  strict-seqno-pulse"
    assert "  R2 ×8  key phone  shuffle → merge  none" in laid_out


def test_of_a_region_it_is_said_which_operators_run_elsewhere() -> None:
    assert section(text_of(linear, channels=2), "Regions")[1:3] == [
        "      filter, Speed, is_fast",
        "      filter runs where read_csv is read",
    ]
    lines = section(text_of(shuffled, channels=2), "Regions")
    assert "      read_csv is read by one task" in lines
    assert "      write_csv runs in the driver" in lines
    assert not any("runs" in line for line in section(text_of(linear, stage="ordering"), "Regions"))


def test_a_region_that_is_all_done_where_it_is_read_has_no_channels_and_no_joints() -> None:
    fast = ab.read_csv("travels.csv", Travel).filter(is_fast).map(as_it_is).collect("out")
    assert section(str(ab.explain(fast, channels=4)), "Regions")[:3] == [
        "  R1  any tuple to any channel    strict-seqno-pulse",
        "      is_fast, as_it_is",
        "      all of it runs where read_csv is read",
    ]


def test_what_is_not_parallel_is_listed_with_reason_line_code_and_edit() -> None:
    lines = section(text_of(linear), "Not parallel")
    start = next(index for index, line in enumerate(lines) if line.startswith("  write_csv"))
    assert "an ordered sink is written in one place" in lines[start]
    assert "programs.py:" in "".join(lines[start : start + 2])
    assert any(line.strip() == '│ .write_csv("out.csv")' for line in lines[start:])
    assert lines[-1].strip() == "try: ordered=False, if the order of what it writes does not matter"


class Keeping:
    """Has two reasons with one hint."""

    def __init__(self) -> None:
        self.calls = 0
        self.speeds: list[float] = []

    def process(self, travel: Travel) -> Iterator[Travel]:
        self.calls += 1
        self.speeds.append(travel.speed)
        yield travel


def test_a_hint_is_given_once() -> None:
    @ab.app
    def repeating() -> None:
        for name in ("a", "b", "c"):
            kept = travels(name).process(Keeping)
            kept.write_csv(f"{name}.csv")
        kept.write_csv("d.csv")

    lines = section(text_of(repeating), "Not parallel")
    assert sum("try: ordered=False" in line for line in lines) == 1
    assert sum('try: key="attribute"' in line for line in lines) == 1
    assert any(line == "  write_csv, write_csv_2, write_csv_3" for line in lines)
    assert any(line == "  Keeping, Keeping_2, Keeping_3" for line in lines)
    assert lines[-1].strip() == "try: as for write_csv"


def test_nothing_is_called_not_parallel_before_regions_are_formed() -> None:
    for stage, shown in [("build", False), ("properties", False), ("regions", True), ("fuse", True)]:
        assert ("Not parallel" in text_of(linear, stage=stage)) is shown


def test_a_stage_shows_what_is_known_by_then() -> None:
    titles = ["Operators", "Regions", "On Spark", "PEs"]
    shown = {
        stage: [title for title in titles if f"\n{title}\n" in text_of(linear, stage=stage)]
        for stage in ("build", "properties", "joints", "layout", "fuse")
    }
    assert shown == {
        "build": [],
        "properties": titles[:1],
        "joints": titles[:2],
        "layout": titles[:3],
        "fuse": titles,
    }


# What it is planned for ------------------------------------------------------------------------------------------


def head(app: ab.App[[]] | ab.Sink, **options: Any) -> str:
    """What stands below the name, once it is laid out."""
    return str(ab.explain(app, **options)).splitlines()[1]


def test_the_target_and_what_was_asked_for_stand_at_the_head() -> None:
    cores = len(os.sched_getaffinity(0))
    on_spark = head(linear, expect=2_500_000, form="native", fuse="none")
    assert on_spark == f"for Spark on {counted(cores, 'core')}, about 2,500,000 tuples, form native, fuse none"
    assert head(linear, engine="fused", expect=7) == "for the fused engine, about 7 tuples, form auto, fuse all"
    assert head(linear, stage="ordering") == ""


def test_files_that_are_not_there_are_planned_for_as_if_they_were_large() -> None:
    text = str(ab.explain(linear))
    assert "an unknown number of tuples" in text
    assert "       native form" in section(text, "PEs")


def test_of_a_source_that_does_not_tell_it_is_said_that_nobody_knows_how_many_come() -> None:
    def source() -> Iterator[Travel]:
        yield Travel(1, 2.0, 3.0)

    text = str(ab.explain(ab.generate(Travel, source).filter(is_fast).collect("out")))
    assert "an unknown number of tuples" in text
    said = " ".join(text.split())
    assert "Python form: native code pays from 3,000,000 tuples on, and how many come is unknown" in said


def test_what_is_counted_is_said() -> None:
    sink = ab.from_items(Travel, [Travel(1, 2.0, 3.0)] * 5).filter(is_fast).collect("out")
    assert ", about 5 tuples, " in head(sink)
    assert "native code pays from 3,000,000 tuples on, and about 5 are expected" in " ".join(
        str(ab.explain(sink)).split()
    )


# The layout ------------------------------------------------------------------------------------------------------


def test_places_are_listed_by_stage_with_what_comes_there_and_what_it_carries() -> None:
    assert section(text_of(linear, channels=4), "On Spark")[:3] == [
        "  read read_csv   slices      filter",
        "  stage 1         R1 × 4      Speed, is_fast         filter: by phone (epoch, #draw)",
        "  driver          one place   aggregate, write_csv   is_fast: put in order (epoch, #draw)",
    ]


def test_where_the_table_is_too_wide_arrivals_stand_below_their_place() -> None:
    lines = section(ab.explain(branches, channels=2).to_text(80), "On Spark")
    at = lines.index("  stage 2         one place   union")
    assert lines[at + 1].startswith("      near_speed: put in order (epoch, #draw, branch@split")
    assert max(map(len, lines)) <= 80


def test_regions_whose_order_comes_back_in_the_same_way_stand_together() -> None:
    lines = section(ab.explain(joined, channels=2).to_text(200), "On Spark")
    orders = [line for line in lines if "order of" in line]
    assert orders == [line for line in orders if line.startswith("  order of ")]
    both = section(ab.explain(branches, channels=2).to_text(200), "On Spark")
    [shared] = [line for line in both if "R2 strict-seqno-pulse" in line]
    assert shared.endswith("R2 strict-seqno-pulse, R3 strict-seqno-pulse")


def test_a_name_of_a_region_and_its_strategy_are_never_on_two_lines() -> None:
    explanation = ab.explain(branches, channels=2)
    for width in range(60, 120):
        text = explanation.to_text(width)
        orders = text[text.index("order of") : text.index("\n\nPEs")]
        assert len(re.findall(r"R\d strict-seqno-pulse", orders)) == 4
        assert "\u00a0" not in text


def test_a_region_that_is_done_where_it_is_read_needs_numbers_only_if_a_key_deals_it_out() -> None:
    fast = ab.read_csv("travels.csv", Travel).filter(is_fast)
    [to_the_driver] = _orders(fast.collect("out"))
    assert to_the_driver == "  order of R1 strict-seqno-pulse: epochs in turn, each as it was read; no numbers"
    first, second = _orders(
        fast.map(lambda t: t._replace(phone=1), out=Travel).process(Numbered, key="phone").collect("out")
    )
    assert first == "  order of R1 strict-seqno-pulse: epochs in turn, each as it was read; in it by #draw"
    assert second.startswith("  order of R2 strict-seqno-pulse: epochs in turn, each when all channels have sent it")


def test_of_a_region_that_is_a_sink_nothing_is_put_in_order() -> None:
    assert _orders(ab.read_csv("travels.csv", Travel).collect("out", ordered=False)) == []


def test_what_a_region_needs_in_no_order_comes_as_it_comes_only_to_the_sink() -> None:
    numbered = ab.read_csv("travels.csv", Travel).process(Numbered, key="phone")
    once = numbered.map(lambda t: t._replace(phone=1), out=Travel).distinct(key=Travel._fields)
    to_channels, to_the_sink = _orders(once.collect("out", ordered=False))
    assert to_channels.startswith("  order of R1 none: epochs in turn, each when all channels have sent it")
    assert to_the_sink == "  order of R2 none: what comes is taken as it comes"


def _orders(sink: ab.Sink) -> list[str]:
    return [line for line in ab.explain(sink, channels=2).to_text(200).splitlines() if line.startswith("  order of")]


def test_a_parallel_source_that_one_task_reads_is_not_called_parallel() -> None:
    explanation = ab.explain(shuffled, channels=4)
    assert "read read_csv   one task" in str(explanation)
    assert not explanation.is_parallel("read_csv")
    [reason] = explanation.why_not("read_csv")
    assert reason.text == "it could be read in parallel, but one task reads it"
    assert explanation.is_parallel("filter")
    assert dict(explanation.channels) == {"R1": 4, "R2": 4}


def test_each_phase_of_a_loop_in_rounds_is_laid_out_by_itself() -> None:
    text = str(ab.explain(pagerank, channels=2))
    assert "\nOn Spark, up to the loop of 'feedback'\n  read read_csv   slices " in text
    assert "\nOn Spark, each round of 'feedback'\n  enter feedback   driver " in text
    assert "Assemble, write_csv, ↺ feedback" in text
    assert "PE4  Multiply  (in R2, each round)" in text


def test_a_target_without_channels_has_one_place() -> None:
    text = str(ab.explain(linear, engine="fused", channels=4))
    assert section(text, "On the fused engine")[0] == "  all of it runs in this process, in one place"
    assert "[" not in drawing(linear, engine="fused", channels=4).replace("1:[0,", "")
    assert "      all of it runs in this process" in section(text, "Regions")
    assert "  PE2  filter, Speed, is_fast, aggregate, write_csv" in section(text, "PEs")


COUNTED: list[int] = []


def counting(travel: Travel) -> Travel:
    COUNTED.append(1)
    return travel


def test_a_region_that_cannot_be_in_channels_is_said_to_be_in_one_place_and_why() -> None:
    counted_ones = travels("source").map(counting).process(Numbered, key="phone")
    explanation = ab.explain(counted_ones.collect("out"), channels=4)
    assert explanation.plan.regions[0].operators == ("Numbered",)
    text = str(explanation)
    why = "'counting' before it runs in the driver, since it shares something: "
    assert f"in one place: R1: {why}" in text
    assert "R1 ×1" in text
    assert "×4" not in text
    assert not explanation.is_parallel("Numbered")
    assert next(reason.text for reason in explanation.why_not("Numbered")).startswith(f"R1 is in one place: {why}")
    assert f"Numbered  R1 is in one place: {why}" in " ".join(section(text, "Not parallel"))
    described = explanation.to_dict()
    assert described["regions"][0]["channels"] == 1
    assert described["operators"][2]["reasons"][-1]["text"].startswith(f"R1 is in one place: {why}")


def test_a_program_that_the_driver_runs_by_itself_has_nothing_parallel() -> None:
    def source() -> Iterator[Travel]:
        yield Travel(1, 2.0, 3.0)

    taken: list[Travel] = []
    sink = ab.generate(Travel, source).filter(is_fast).named("fast").for_each(taken.append)
    explanation = ab.explain(sink, channels=4)
    assert section(str(explanation), "On Spark")[0].startswith(
        "  all of it runs in the driver: 'generate' gives tuples"
    )
    assert not explanation.is_parallel("fast")
    assert dict(explanation.channels) == {"R1": 1}


# What people bring along -----------------------------------------------------------------------------------------


def test_control_characters_of_names_and_reasons_never_reach_the_terminal() -> None:
    hostile = type("Hostile\x1b[2J", (), {})
    plan = ab.explain(travels("source").collect("out")).plan
    source, sink = plan.graph.operators
    reason = Reason("state", "red\x1b[31m\nline", source.location, hint="try\x07this")
    port = replace(source.outputs[0], schema=replace(source.outputs[0].schema, type=hostile))
    graph = replace(
        plan.graph,
        operators=(replace(source, outputs=(port,)), replace(sink, inputs=(port,))),
        edges=plan.graph.edges,
    )
    text = ab.Explanation(
        replace(plan, graph=graph, phases=(), pes=(), sequential={source.id: (reason,)}), "ordering"
    ).to_text()
    assert "Hostile\\u001b[2J" in text
    assert "red\\u001b[31m line" in text
    assert "try\\u0007this" in text
    assert not [character for character in text if not character.isprintable() and character != "\n"]


def test_wide_characters_count_as_two_columns() -> None:
    assert columns("速度") == 4
    assert columns("a\u0301") == 1
    assert elided("速度計算", 5) == "速度…"
    assert elided("abcdef", 4) == "abc…"
    assert elided("abcd", 4) == "abcd"


def test_properties_stand_in_one_column_beside_wide_names() -> None:
    lines = drawing_of(travels("source").filter(lambda t: t.speed > 1).named("速度フィルタ").collect("out"))
    places = [columns(line[: line.index("state")]) for line in lines if "stateful" in line or "stateless" in line]
    assert all(one == other for one, other in pairwise(places))
    assert len(places) == 3


def drawing_of(sink: ab.Sink) -> list[str]:
    return str(ab.explain(sink)).split("\n\n")[1].splitlines()


def test_text_without_control_characters_is_left_as_it_is() -> None:
    assert printable("naïve 速度 <b>&amp;") == "naïve 速度 <b>&amp;"
    assert printable("a\tb\nc\x00") == "a b c\\u0000"
