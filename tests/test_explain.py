"""`ab.explain`: the contract of its JSON, its page, and what it says about single operators."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch.compiler import STAGE_NAMES, compile
from anabranch.dataflow.streams.checkpoint import Checkpoint
from anabranch.engines.spark.streams.prepare import prepare
from anabranch.errors import UsageError
from examples.pagerank import pagerank
from tests.graph.programs import (
    SHAPES,
    branches,
    linear,
    looping,
    pipeline,
    shuffled,
    tangle,
    travels,
)
from tests.graph.test_draw import hostile_plan

each_shape = pytest.mark.parametrize("app", SHAPES, ids=lambda app: app.name)

# A tuple stands for "one of these", a list for "a list of such", a string for a pattern, a type for its instances; an
# object whose only member is a pattern for any number of members.
TEXT, NAME, NOTHING = r"(?s).+", r"\w+", None
RUNS = r"\w+(: parts)?"  # an operator, or the first of its two steps
REASON = {"about": NAME, "text": TEXT, "location": (TEXT, NOTHING), "hint": (TEXT, NOTHING)}
OPERATOR = {
    "id": NAME,
    "name": NAME,
    "kind": NAME,
    "location": r".+:\d+",
    "state": "stateless|partitioned|stateful",
    "key": [NAME],
    "selectivity": r"1:1|1:\[0,1\]|1:\[0,inf\)",
    "forwards": {NAME: NAME},
    "region": (r"R\d+", NOTHING),
    "reasons": [REASON],
}
REGION = {
    "id": r"R\d+",
    "operators": [NAME],
    "key": [NAME],
    "first_joint": "source|split|shuffle",
    "last_joint": "sink|merge|shuffle",
    "ordering": "none|round-robin|seqno|strict-seqno-pulse|relaxed-seqno-pulse",
}
JOINT = {
    "kind": "source|split|shuffle|merge|sink",
    "region": r"R\d+|slices|readers|arrived|files",
    "is_entry": bool,
    "from": (RUNS, NOTHING),
    "to": [RUNS],
    "key": [NAME],
}
STREAM = {"from": NAME, "to": NAME, "type": NAME, "order_key": [TEXT]}
SEGMENT = {"operators": [RUNS], "form": ("native|python", NOTHING), "reason": (REASON, NOTHING)}
PE = {
    "id": r"PE\d+",
    "operators": [RUNS],
    "phase": "run|before|round",
    "place": TEXT,
    "form": ("native|python|mixed", NOTHING),
    "reason": (REASON, NOTHING),
    "why_together": [REASON],
    "why_apart": [REASON],
    "segments": [SEGMENT],
}
STEP = ({"number_of": TEXT}, {"branch": TEXT, "number": int})
ARRIVAL = {
    "from": RUNS,
    "port": int,
    "key": [NAME],
    "bounds": [TEXT],
    "order_key": [STEP],
    "clock": (TEXT, NOTHING),
}
PLACE = {
    "id": TEXT,
    "operators": [RUNS],
    "level": int,
    "channels": int,
    "region": (r"R\d+", NOTHING),
    "follows": (TEXT, NOTHING),
    "arrivals": [ARRIVAL],
}
PHASE = {
    "name": "run|before|round",
    "reading": "slices|a task each|one task|here|entries|entries in turn|round",
    "taking": ("columns|together|one by one", NOTHING),
    "watched": [NAME],
    "why": r"(?s).*",
    "is_ordered": bool,
    "in_one_place": {r"R\d+": TEXT},
    "light": {NAME: TEXT},
    "worth": {r"R\d+": TEXT},
    "unweighed": {r"R\d+": TEXT},
    "first_steps": {NAME: TEXT},
    "places": [PLACE],
}
CONTRACT = {
    "version": 2,
    "program": NAME,
    "stage": "|".join(STAGE_NAMES),
    "target": {"name": "spark|fused", "cores": int, "has_channels": bool},
    "settings": {
        "channels": {r"R\d+": int},
        "form": "auto|native|python",
        "expected": (int, NOTHING),
        "fuse": "all|none|manual",
    },
    "operators": [OPERATOR],
    "regions": [REGION],
    "joints": [JOINT],
    "streams": [STREAM],
    "phases": [PHASE],
    "loop": ({"entry": NAME, "back": TEXT}, NOTHING),
    "pes": [PE],
}


def problems(value: Any, wanted: Any, where: str = "") -> list[str]:
    """Where a value is not as the contract says; members beyond it are allowed."""
    match wanted:
        case tuple():
            return [] if any(not problems(value, choice, where) for choice in wanted) else [f"{where}: {value!r}"]
        case dict() if list(wanted) in ([NAME], [r"R\d+"]):
            [(name, inner)] = wanted.items()
            if not isinstance(value, dict) or not all(re.fullmatch(name, each) for each in value):
                return [f"{where}: {value!r}"]
            return [problem for each, item in value.items() for problem in problems(item, inner, f"{where}.{each}")]
        case dict():
            if not isinstance(value, dict):
                return [f"{where}: {value!r}"]
            missing = [f"{where}.{name} is missing" for name in wanted if name not in value]
            return missing + [
                problem
                for name, inner in wanted.items()
                if name in value
                for problem in problems(value[name], inner, f"{where}.{name}")
            ]
        case [inner]:
            if not isinstance(value, list):
                return [f"{where}: {value!r}"]
            return [p for number, item in enumerate(value) for p in problems(item, inner, f"{where}[{number}]")]
        case type():
            return [] if type(value) is wanted else [f"{where}: {value!r}"]
        case str():
            good = isinstance(value, str) and re.fullmatch(wanted, value)
            return [] if good else [f"{where}: {value!r}"]
        case _:
            return [] if value == wanted and type(value) is type(wanted) else [f"{where}: {value!r}"]


# JSON ------------------------------------------------------------------------------------------------------------


@each_shape
def test_the_json_keeps_its_contract(app: ab.App[[]]) -> None:
    explanation = ab.explain(app)
    described = json.loads(json.dumps(explanation.to_dict()))
    assert problems(described, CONTRACT) == []
    assert [operator["id"] for operator in described["operators"]] == [o.id for o in explanation.plan.graph.operators]
    assert len(described["streams"]) == len(explanation.plan.graph.edges)


def test_the_check_of_the_contract_finds_what_breaks_it() -> None:
    described = ab.explain(linear).to_dict()
    described["operators"][0]["state"] = "Stateful"
    described["operators"][1]["forwards"] = [["a", "a"]]
    del described["regions"][0]["ordering"]
    described["version"] = "2"
    described["phases"][0]["places"][1]["arrivals"][0]["order_key"][0] = "#draw"
    described["settings"]["channels"]["R1"] = None
    del described["pes"][1]["segments"][0]["form"]
    assert [problem.split(":")[0] for problem in problems(described, CONTRACT)] == [
        ".version",
        ".settings.channels.R1",
        ".operators[0].state",
        ".operators[1].forwards",
        ".regions[0].ordering is missing",
        ".phases[0].places[1].arrivals[0].order_key[0]",
        ".pes[1].segments[0].form is missing",
    ]


def test_the_json_says_what_the_compiler_decided() -> None:
    described = ab.explain(shuffled, channels={"R1": 3, "R2": 8}).to_dict()
    operators = {operator["id"]: operator for operator in described["operators"]}
    assert operators["Speed"]["state"] == "partitioned"
    assert operators["Speed"]["key"] == ["phone"]
    assert operators["Speed"]["selectivity"] == "1:[0,1]"
    assert operators["Speed"]["forwards"] == {"phone": "phone", "ts": "ts"}
    assert operators["Speed"]["region"] == "R2"
    assert [{name: region[name] for name in (*REGION, "channels")} for region in described["regions"]] == [
        {
            "id": "R1",
            "operators": ["read_csv", "filter"],
            "key": ["area"],
            "first_joint": "source",
            "last_joint": "shuffle",
            "ordering": "strict-seqno-pulse",
            "channels": 3,
        },
        {
            "id": "R2",
            "operators": ["Speed", "write_csv"],
            "key": ["phone"],
            "first_joint": "shuffle",
            "last_joint": "sink",
            "ordering": "none",
            "channels": 8,
        },
    ]
    assert [(stream["from"], stream["to"], stream["type"]) for stream in described["streams"]] == [
        ("read_csv", "filter", "Call"),
        ("filter", "Speed", "Call"),
        ("Speed", "write_csv", "Travel"),
    ]


def test_the_plan_of_a_stream_is_the_one_that_a_start_lays_out(tmp_path: Path) -> None:
    program = linear()
    shown = ab.explain(program, stream=True)
    cores = shown.plan.settings.target.cores
    assert shown.channels == {"R1": 4 * cores}
    assert shown.to_dict()["phases"][0]["reading"] == "entries"
    begun = prepare(compile(program.graph, until="ordering"), Checkpoint(tmp_path), cores, "auto", "auto")
    assert begun.plan == shown.plan


def test_a_stream_is_explained_only_if_it_could_be_started() -> None:
    with pytest.raises(UsageError, match="speaks of files that are all there"):
        ab.explain(shuffled, stream=True)
    with pytest.raises(UsageError, match="runs no streams"):
        ab.explain(linear, stream=True, engine="fused")
    with pytest.raises(UsageError, match="nobody says how many"):
        ab.explain(linear, stream=True, expect=10)


def test_the_json_says_how_a_program_is_laid_out() -> None:
    described = ab.explain(linear, channels=4, expect=1_000_000).to_dict()
    assert described["target"]["name"] == "spark"
    assert described["settings"] == {"channels": {"R1": 4}, "form": "auto", "expected": 1_000_000, "fuse": "all"}
    [phase] = described["phases"]
    assert (phase["name"], phase["reading"], phase["is_ordered"]) == ("run", "slices", True)
    assert [(place["id"], place["level"], place["channels"], place["operators"]) for place in phase["places"]] == [
        ("sources", 0, 1, ["read_csv", "filter"]),
        ("R1", 1, 4, ["Speed", "is_fast"]),
        ("tail", 2, 1, ["aggregate"]),
    ]
    [into_region], [into_tail] = (place["arrivals"] for place in phase["places"][1:])
    assert (into_region["from"], into_region["key"]) == ("filter", ["phone"])
    assert (into_tail["from"], into_tail["key"]) == ("is_fast", [])
    assert into_region["order_key"] == into_tail["order_key"] == [{"number_of": "draw"}]
    assert [(pe["place"], pe["operators"], pe["form"]) for pe in described["pes"]] == [
        ("sources", ["read_csv"], None),
        ("sources", ["filter"], "native"),
        ("R1", ["Speed", "is_fast"], "native"),
        ("tail", ["aggregate", "write_csv"], "native"),
    ]


def test_the_json_has_the_joints_that_are_drawn() -> None:
    def joints(**options: Any) -> list[tuple[Any, ...]]:
        found = ab.explain(linear, **options).to_dict()["joints"]
        return [(each["kind"], each["region"], each["from"], each["to"], each["key"]) for each in found]

    assert joints(stage="ordering") == [
        ("split", "R1", "read_csv", ["filter"], ["phone"]),
        ("merge", "R1", "is_fast", ["aggregate"], []),
    ]
    assert joints(channels=2) == [
        ("source", "slices", None, [], []),
        ("shuffle", "R1", "filter", ["Speed"], ["phone"]),
        ("merge", "R1", "is_fast", ["aggregate"], []),
    ]
    assert joints(engine="fused") == []


def test_streams_between_places_carry_an_order_key_and_those_inside_carry_nothing() -> None:
    keys = {(s["from"], s["to"]): s["order_key"] for s in ab.explain(linear, channels=2).to_dict()["streams"]}
    assert keys == {
        ("read_csv", "filter"): [],
        ("filter", "Speed"): ["#draw"],
        ("Speed", "is_fast"): [],
        ("is_fast", "aggregate"): ["#draw"],
        ("aggregate", "write_csv"): [],
    }


def test_the_json_has_the_phases_of_a_loop_in_rounds() -> None:
    described = ab.explain(pagerank, channels=2).to_dict()
    assert problems(described, CONTRACT) == []
    assert [phase["name"] for phase in described["phases"]] == ["before", "round"]
    assert described["loop"]["entry"] == "feedback"
    back = [operator["id"] for operator in described["operators"]]
    assert described["loop"]["back"] not in back, "it is no operator of the program"


def test_what_no_source_tells_is_null() -> None:
    assert ab.explain(linear).to_dict()["settings"]["expected"] is None
    assert ab.explain(travels("source").collect("out")).to_dict()["settings"]["expected"] == 0


def test_an_operator_that_is_not_parallel_says_why_in_its_reasons() -> None:
    operators = {operator["id"]: operator for operator in ab.explain(linear).to_dict()["operators"]}
    assert operators["write_csv"]["region"] is None
    (reason,) = operators["write_csv"]["reasons"]
    assert reason["text"] == "an ordered sink is written in one place"
    assert reason["hint"] == "ordered=False, if the order of what it writes does not matter"
    assert reason["location"] == operators["write_csv"]["location"]


def test_streams_name_their_ports_and_whether_they_go_back() -> None:
    streams = ab.explain(looping).to_dict()["streams"]
    assert {(s["from"], s["from_port"], s["to"], s["feedback"]) for s in streams if s["from"] == "split"} == {
        ("split", "slow", "out", False),
        ("split", "again", "feedback", True),
    }


def test_what_an_early_stage_does_not_know_is_null() -> None:
    described = ab.explain(linear, stage="build").to_dict()
    assert described["stage"] == "build"
    assert {operator["state"] for operator in described["operators"]} == {None}
    assert described["regions"] == described["phases"] == described["pes"] == []
    region = ab.explain(linear, stage="regions").to_dict()["regions"][0]
    assert (region["first_joint"], region["last_joint"], region["ordering"]) == (None, None, None)
    assert ab.explain(linear).to_dict()["stage"] == STAGE_NAMES[-1]


def test_an_explanation_is_the_same_in_every_process() -> None:
    """Nothing depends on the order of a set, whatever seed Python hashes strings with."""
    script = (
        "import json, sys, anabranch as ab\n"
        "from tests.graph.programs import tangle\n"
        "explanation = ab.explain(tangle(40, seed=3), channels=2)\n"
        "print(explanation, json.dumps(explanation.to_dict()), explanation.to_svg(), explanation.to_html())\n"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) > 10_000


# The page --------------------------------------------------------------------------------------------------------


class _Page(HTMLParser):
    """Collects the tags, checks that they are balanced, and gathers the text of cells."""

    VOID = ("meta", "br", "hr", "img", "input", "link")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.words.append(data)


@each_shape
def test_the_page_is_whole_and_names_every_operator(app: ab.App[[]]) -> None:
    explanation = ab.explain(app, channels=3)
    text = explanation.to_html()
    page = _Page(text)
    assert text.startswith("<!DOCTYPE html>")
    assert page.open == []
    assert page.tags.count("svg") == 2, "the drawing, and its legend"
    assert all(operator.id in page.words for operator in explanation.plan.graph.operators)


def test_the_page_needs_nothing_from_outside_and_runs_nothing() -> None:
    page = _Page(ab.explain(branches).to_html())
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert not {name for name, _ in page.attributes} & {"src", "href", "onload", "onclick", "style"}


def test_the_page_says_which_operators_of_a_region_run_elsewhere_and_draws_them_there() -> None:
    page = ab.explain(linear, channels=2).to_html()
    assert "filter runs where read_csv is read" in page
    assert "shuffle → merge" in page
    assert "read in slices" in page


def test_the_page_shows_where_everything_runs() -> None:
    words = _Page(ab.explain(linear, channels=4).to_html()).words
    for cell in (
        *("On Spark", "read read_csv", "slices", "stage 1", "R1 × 4", "driver", "one place"),
        *("filter: by phone (epoch, #draw)", "is_fast: put in order (epoch, #draw)"),
        *("R1 strict-seqno-pulse", "epochs in turn, each when all channels have sent it; in it by #draw"),
    ):
        assert cell in words
    assert any(word.startswith("for Spark on ") for word in words)
    fused = _Page(ab.explain(linear, engine="fused").to_html()).words
    assert "all of it runs in this process, in one place" in fused


def test_the_legend_stays_in_view_while_a_wide_drawing_is_moved() -> None:
    """It is no part of what scrolls, never wider than the page, and both together are no higher than the window."""
    text = ab.explain(pipeline(60)).to_html()
    drawing, _, rest = text.partition('<div class="key">')
    assert '<div class="drawing">' in drawing
    assert '<g class="ab-key"' not in drawing
    assert '<g class="ab-key"' in rest.partition("</figure>")[0]
    assert re.search(r"figure\{[^}]*flex-direction:column;max-height:max\(420px,100vh - 48px\)", text)
    assert re.search(r"\.drawing\{overflow:auto;min-height:0\}", text)
    assert re.search(r"\.key\{flex:none\}", text)
    assert re.search(r"\.key svg\{max-width:100%;height:auto\}", text)


def test_the_page_gives_reasons_code_and_edits() -> None:
    words = _Page(ab.explain(linear).to_html()).words
    assert "an ordered sink is written in one place" in "\n".join(words)
    assert '.write_csv("out.csv")' in words
    assert "ordered=False, if the order of what it writes does not matter" in words
    assert any("pulses tell how far a channel is" in word for word in words)


def test_hostile_text_stays_text_in_the_page(tmp_path: Path) -> None:
    file = tmp_path / "<b>&.py"
    file.write_text("x = '</title><script>alert(2)</script>'\n")
    text = ab.Explanation(hostile_plan(str(file)), "fuse").to_html()
    page = _Page(text)
    assert "script" not in page.tags
    assert any("<script>alert(1)</script>&\"'" in word for word in page.words)
    assert "x = '</title><script>alert(2)</script>'" in page.words
    assert all(character.isprintable() or character == "\n" for character in text)


# Single operators, and wrong calls -------------------------------------------------------------------------------


def test_one_can_ask_about_one_operator() -> None:
    explanation = ab.explain(linear, channels=2)
    assert explanation.is_parallel("Speed")
    assert explanation.why_not("Speed") == ()
    assert explanation.is_parallel("read_csv")
    assert explanation.why_not("read_csv") == ()
    assert not explanation.is_parallel("aggregate")
    assert [reason.text for reason in explanation.why_not("aggregate")] == [
        "a window without a key has one state for the whole stream",
        "it is not computed in two steps: its tuples are in channels by key, where the time of the whole stream is not "
        "known",
    ]
    with pytest.raises(UsageError, match="'linear' has no operator 'speed'") as raised:
        explanation.is_parallel("speed")
    assert raised.value.hint == "its operators: read_csv, filter, Speed, is_fast, aggregate, write_csv"


def test_apps_programs_and_sinks_can_be_explained() -> None:
    sink = travels("source").collect("out")
    for explanation in (ab.explain(linear), ab.explain(linear()), ab.explain(sink, travels("other").collect("rest"))):
        assert isinstance(explanation, ab.Explanation)
    assert len(explanation.plan.graph.operators) == 4


def test_a_notebook_shows_the_drawing() -> None:
    explanation = ab.explain(linear)
    assert explanation.to_svg().strip() in explanation._repr_html_()
    assert str(explanation) == explanation.to_text(100)


def test_an_unknown_stage_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="the compiler has no stage 'region'") as raised:
        ab.explain(linear, stage="region")
    assert raised.value.hint == f"use one of: {', '.join(STAGE_NAMES)}"


@pytest.mark.parametrize(
    ("channels", "message"),
    [
        (0, "a region cannot have 0 channels"),
        (True, "a region cannot have True channels"),
        ({"R1": -1}, "a region cannot have -1 channels"),
        ({"R7": 2}, "'linear' has no region 'R7'"),
    ],
)
def test_impossible_channels_are_refused(channels: Any, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        ab.explain(linear, channels=channels)


def test_channels_go_to_all_regions_or_to_those_named() -> None:
    assert dict(ab.explain(shuffled, channels=3).channels) == {"R1": 3, "R2": 3}
    cores = len(os.sched_getaffinity(0))
    assert dict(ab.explain(shuffled, channels={"R2": 5}).channels) == {"R1": cores, "R2": 5}
    assert dict(ab.explain(shuffled).channels) == dict(ab.explain(shuffled, channels="auto").channels)
    assert dict(ab.explain(shuffled).channels) == {"R1": cores, "R2": cores}
    assert dict(ab.explain(shuffled, engine="fused", channels=3).channels) == {"R1": 1, "R2": 1}


def test_before_it_is_laid_out_only_channels_that_were_asked_for_are_known() -> None:
    assert dict(ab.explain(shuffled, stage="ordering").channels) == {}
    assert dict(ab.explain(shuffled, stage="ordering", channels={"R2": 5}).channels) == {"R2": 5}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "sequential"}, "there is no plan for the engine 'sequential'"),
        ({"fuse": "some"}, "there is no fusion 'some'"),
        ({"expect": -1}, "-1 tuples cannot be expected"),
        ({"expect": True}, "True tuples cannot be expected"),
        ({"form": "c"}, "there is no form 'c' of generated code"),
    ],
)
def test_what_cannot_be_planned_for_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        ab.explain(linear, **options)


@pytest.mark.parametrize("app", [pipeline(500), tangle(500, seed=1)], ids=["in a row", "connected at random"])
def test_500_operators_can_be_explained_and_drawn(app: ab.App[[]]) -> None:
    """How fast is measured by benchmarks/explain.py."""
    explanation = ab.explain(app())
    operators = explanation.to_dict()["operators"]
    assert len(operators) >= 500
    text, drawing = str(explanation), explanation.to_svg()
    assert all(operator["id"] in text and operator["id"] in drawing for operator in operators)
