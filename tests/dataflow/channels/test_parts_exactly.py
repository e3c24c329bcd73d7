"""Windows without a key that are put together of parts give the oracle's tuples in the oracle's order, or its error.

Parts are made of a stretch by itself: it does not know how late it is there, nor what the windows hold already.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.compiler import compile, execute_with
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.runs.execute import execute
from anabranch.dataflow.runs.run_config import RunConfig
from anabranch.engines import sequential
from anabranch.engines.on_transport import run_on
from anabranch.errors import AnabranchError
from anabranch.graph.model import Graph, Program
from anabranch.graph.plan import Plan
from anabranch.graph.settings import FUSIONS, IN_PROCESS
from anabranch.run import as_program
from tests.dataflow.outcomes import expected, in_python, outcome
from tests.dataflow.simulated import Simulated
from tests.examples_drawn import drawn

START = datetime(2024, 2, 29, 22)


class Reading(NamedTuple):
    s: str
    v: int
    x: float
    o: int | None
    ts: float
    n: int
    at: datetime
    day: date


class Window(NamedTuple):
    s: str
    count: int
    total: int
    least: float
    most: float
    last: str
    optional: int
    best: str
    smallest: int | None
    different: int = 0
    times: int = 0


class Edges(NamedTuple):
    count: int
    start: float
    end: float


def twice(reading: Reading) -> Iterator[Reading]:
    yield reading
    if reading.v % 3:
        yield reading._replace(ts=reading.ts + 4.0, n=reading.n + 7)


def reciprocal(window: Window) -> Window:
    return window._replace(total=100 // (window.count - 4))


class Steps:
    def __init__(self) -> None:
        self.seen = 0

    def process(self, window: Window) -> Iterator[Window]:
        self.seen += 1
        for _ in range(self.seen % 3):
            yield window._replace(count=self.seen)


def reading(v: int, ts: float, **other: Any) -> Reading:
    return Reading("a", v, 0.0, None, ts, int(ts), START, START.date())._replace(**other)


@st.composite
def readings(draw: st.DrawFn) -> list[Reading]:
    """Time goes on, with tuples that come early, late, or at the same time; large numbers are rare."""
    made = []
    time = 0.0
    has_large = draw(st.integers(0, 9)) == 0
    for _ in range(draw(st.integers(0, 60))):
        time += draw(st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0, 20.0]))
        ts = time - draw(st.sampled_from([0.0, 0.0, 0.0, 0.3, 2.5, 9.0]))
        v = draw(st.sampled_from([0, 1, 2, 3, 5, 2**62, -(2**63)] if has_large else [0, 1, 2, 3, 5]))
        at = START + timedelta(seconds=ts * 100)
        x = draw(st.sampled_from([0.0, -0.0, 1.5, math.nan, -math.inf]))
        o = draw(st.sampled_from([None, 1, -1]))
        made.append(Reading(draw(st.sampled_from("abc")), v, x, o, ts, int(ts * 2), at, at.date()))
    if made and draw(st.integers(0, 9)) == 0:
        at = draw(st.integers(0, len(made) - 1))
        made[at] = made[at]._replace(ts=draw(st.sampled_from([math.nan, math.inf, -1e300, 1e15])))
    if draw(st.integers(0, 4)) == 0:
        made = [one._replace(at=one.at.replace(tzinfo=UTC)) if one.v % 2 else one for one in made]
    return made


TIME = ab.tumbling(seconds=5, on="ts")
WINDOWS = (
    ab.tumbling(seconds=1, on="ts"),
    ab.tumbling(seconds=5, on="ts"),
    ab.tumbling(delta=0.1, on="ts"),
    ab.tumbling(delta=3, on="n"),
    ab.tumbling(minutes=5, on="at"),
    ab.tumbling(days=1, on="day"),
    ab.sliding(seconds=5, slide=1, on="ts"),
    ab.sliding(delta=0.3, slide=0.1, on="ts"),
    ab.sliding(delta=6, slide=2, on="n"),
    ab.sliding(minutes=10, slide=5, on="at"),
)


def totals(stream: Any, window: Any, *, has_distinct: bool = True, **options: Any) -> Any:
    different, times = (ab.count_distinct("x"), ab.count_distinct("at")) if has_distinct else (ab.count(), ab.count())
    return stream.window(window).aggregate(
        Window, s=ab.first("s"), count=ab.count(), total=ab.sum_("v"), least=ab.min_("x"), most=ab.max_("x"),
        last=ab.last("s"), optional=ab.sum_("o"), best=ab.arg_max("s", by="o"), smallest=ab.min_("o"),
        different=different, times=times, **options,
    )  # fmt: skip


@st.composite
def windowed(draw: st.DrawFn) -> Program:
    source: Any = ab.from_items(Reading, draw(readings()))
    stream = source
    match draw(st.sampled_from(["", "", "filter", "twice", "union"])):
        case "filter":
            stream = stream.filter(lambda reading: reading.v != 2)
        case "twice":
            stream = stream.flat_map(twice, out=Reading)
        case "union":  # one task reads both, and channels that take whole stretches come behind it
            source = stream = stream.union(ab.from_items(Reading, draw(readings()))).filter(lambda r: r.v != 3)
    window = draw(st.sampled_from(WINDOWS))
    if window.on == "ts" and draw(st.booleans()):
        edges = stream.window(window)
        made = edges.aggregate(Edges, count=ab.count(), start=ab.window_start(), end=ab.window_end())
        return as_program(made.collect("out"))
    behind = totals(stream, window, group_by=draw(st.sampled_from([None, None, "s"])))
    match draw(st.sampled_from(["", "map", "fails", "steps", "windows", "beside"])):
        case "map":
            behind = behind.filter(lambda window: window.count != 2)
        case "fails":
            behind = behind.map(reciprocal)
        case "steps":
            behind = behind.process(Steps, key="last")
        case "windows":
            pairs = behind.window(ab.tumbling(count=2))
            behind = pairs.aggregate(Edges, count=ab.sum_("count"), start=ab.min_("least"), end=ab.max_("most"))
        case "beside":  # what comes out of windows meets the tuples that close them
            other = source.map(lambda r: Window(r.s, r.v, 0, 0.0, 0.0, "", 0, "", None), out=Window)
            behind = behind.union(other) if draw(st.booleans()) else other.union(behind)
    return as_program(behind.collect("out"))


def makes_parts(plan: Plan) -> bool:
    return bool(plan.phases[-1].layout.first_steps)


@drawn(40)
@given(windowed(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100]), st.integers(0, 9))
def test_windows_of_parts(program: Program, channels: int, stretch: int, seed: int) -> None:
    cluster = Simulated(seed=seed)
    assert in_python(cluster, program.graph, channels, stretch) == expected(program.graph)
    assert cluster.last is not None
    assert cluster.last.layout.first_steps


def ran(graph: Graph, form: str = "python", *, stretch: int = 4, channels: int = 3) -> tuple[Any, Metrics, Simulated]:
    metrics, cluster = Metrics(), Simulated()
    found = outcome(run_on, cluster, compile(graph), metrics, form, channels=channels, stretch=stretch)
    assert found == expected(graph)
    return found, metrics, cluster


def program(items: list[Reading], window: Any = TIME, **options: Any) -> Graph:
    return as_program(totals(ab.from_items(Reading, items), window, **options).collect("out")).graph


def test_what_is_sent_are_parts_and_not_tuples() -> None:
    graph = program([reading(n, n / 100) for n in range(1000)])
    _, _, cluster = ran(graph, stretch=100)
    assert cluster.last is not None
    [arrival] = cluster.last.layout.arriving("tail")
    assert arrival.stream.operator == "aggregate: parts"


@pytest.mark.parametrize("stretch", [1, 3, 10, 1000])
def test_figures_are_those_of_one_operator(stretch: int) -> None:
    """Whether tuples are late within their stretch, or only in the stream."""
    items = [reading(n, float(n * 7 % 60 + n // 5)) for n in range(100)]
    graph = program(items)
    _, metrics, _ = ran(graph, stretch=stretch)
    own = Metrics()
    sequential.run(graph, own)
    assert own["aggregate"].late > 10
    assert metrics.operators == own.operators


def test_a_sum_may_leave_the_range_of_ints_and_come_back() -> None:
    items = [reading(v, float(n)) for n, v in enumerate([2**62, 2**62, 2**62, -(2**62), -(2**63), 0, 1, 2])]
    for stretch in (1, 2, 3, 8):
        found, _, _ = ran(program(items, ab.tumbling(seconds=100, on="ts")), stretch=stretch)
        assert found[1] is None
        assert str(3) in str(found[0]["out"])  # 3 * 2**62 - 2**62 - 2**63 + 3


def test_an_error_is_that_of_the_tuple_and_shows_it_as_the_user_knows_it() -> None:
    items = [reading(n, float(n)) for n in range(20)]
    items[13] = items[13]._replace(ts=math.nan)
    for stretch in (1, 4, 100):
        found, _, _ = ran(program(items), stretch=stretch)
        assert f"on {items[13]}" in str(found[1])


def test_a_window_that_fails_when_it_closes_does_so_at_the_tuple_that_closes_it() -> None:
    items = [*(reading(2**62, float(n)) for n in range(4)), reading(7, 6.0), reading(8, 7.0)]
    for stretch in (1, 4, 5, 100):
        found, _, _ = ran(program(items), stretch=stretch)
        assert "does not fit into 64 bits" in str(found[1])
        assert f"on {items[4]}" in str(found[1])


@pytest.mark.parametrize("stretch", [1, 3, 4, 5, 100])
@pytest.mark.parametrize("comes_first", [True, False])
def test_windows_close_between_the_tuples_that_are_beside_them(stretch: int, comes_first: bool) -> None:
    """Also where nothing closes in a stretch by itself: its first tuple may end the windows of those before."""
    source = ab.from_items(Reading, [reading(n, float(n // 4 * 5 + n % 2)) for n in range(16)])
    beside = source.map(lambda r: Edges(-r.v, 0.0, 0.0), out=Edges) if comes_first else None
    windows = source.window(TIME).aggregate(Edges, count=ab.count(), start=ab.window_start(), end=ab.window_end())
    beside = beside or source.map(lambda r: Edges(-r.v, 0.0, 0.0), out=Edges)
    ran(as_program(windows.union(beside).collect("out")).graph, stretch=stretch)


@pytest.mark.parametrize("fuse", FUSIONS)
def test_parts_are_made_in_what_follows_the_sources_too(fuse: str) -> None:
    """However the operators before the windows are cut into places."""
    source = ab.from_items(Reading, [reading(n, n / 2) for n in range(40)])
    before = source.flat_map(twice, out=Reading).flat_map(twice, out=Reading)
    beside = source.map(lambda r: Edges(-r.v, 0.0, 0.0), out=Edges)
    windows = before.window(TIME).aggregate(Edges, count=ab.count(), start=ab.window_start(), end=ab.window_end())
    graph = as_program(windows.union(beside).collect("out")).graph
    cluster = Simulated()
    found = outcome(run_on, cluster, compile(graph), Metrics(), "python", channels=2, stretch=7, fuse=fuse)
    assert found == expected(graph)
    assert cluster.last is not None
    assert cluster.last.layout.first_steps


def test_a_datetime_of_the_other_kind_fails_where_it_comes() -> None:
    """All of a stretch may have a zone, where those before it have none."""
    items = [reading(n, 0.0, at=START + timedelta(minutes=n)) for n in range(12)]
    items[8:] = [each._replace(at=each.at.replace(tzinfo=UTC)) for each in items[8:]]
    for stretch in (1, 4, 5, 100):
        found, _, _ = ran(program(items, ab.tumbling(minutes=5, on="at")), stretch=stretch)
        assert f"on {items[8]}" in str(found[1])


def test_parts_are_made_by_native_code_too() -> None:
    items = [reading(n, n / 10 - n % 7, x=float(n % 11), o=n % 5) for n in range(300)]
    graph = program(items, has_distinct=False)
    settings = replace(compile(graph).settings, expected=10**8)
    plan = compile(graph, settings)
    forms = {segment.operators: segment.form for pe in plan.pes for segment in pe.segments}
    assert forms["aggregate: parts",] == "native"
    assert forms["aggregate",] == "native"
    for stretch in (7, 100):
        found = outcome(run_on, Simulated(), plan, Metrics(), "auto", channels=2, stretch=stretch)
        assert found == expected(graph)
    large = program([each._replace(v=2**62) for each in items], has_distinct=False)
    assert outcome(run_on, Simulated(), compile(large, settings), Metrics(), "auto", stretch=50) == expected(large)


@pytest.mark.parametrize("form", ["python", "native"])
@pytest.mark.parametrize("window", [TIME, ab.sliding(seconds=10, slide=5, on="ts")])
def test_as_many_are_late_as_a_part_stands_for(window: Any, form: Any) -> None:
    """A whole stretch that is behind is one part there; what is behind in its stretch may be in some windows yet."""
    items = [reading(n % 5, n / 10 - (n % 13 == 4) * 6.0, o=[3, None][n % 2]) for n in range(100)]
    items[49:56] = [each._replace(ts=-50.0) for each in items[49:56]]
    graph = program(items, window, has_distinct=False)
    metrics, own = Metrics(), Metrics()
    plan = compile(graph, replace(compile(graph).settings, form=form))
    assert outcome(run_on, Simulated(), plan, metrics, form, stretch=7) == expected(graph)
    sequential.run(graph, own)
    assert own["aggregate"].late >= 7
    assert metrics.operators == own.operators


class Different(NamedTuple):
    floats: int
    texts: int
    maybe: int
    count: int
    last: int
    least: float


@pytest.mark.parametrize(
    ("window", "options"),
    [
        pytest.param(ab.tumbling(seconds=5, on="ts"), {}, id="tumbling"),
        pytest.param(ab.sliding(seconds=6, slide=2, on="ts"), {}, id="sliding"),
        pytest.param(ab.sliding(delta=9, slide=3, on="n"), {"group_by": "s"}, id="sliding, with groups"),
    ],
)
def test_different_values_are_counted_by_native_code_in_two_steps(window: Any, options: Any) -> None:
    """Of parts that are made for each value: late ones, and those at the end of a stretch."""
    values = [0.0, -0.0, math.nan, 1.5, -math.inf, 2.0, 1.5]
    items = [
        reading(n, n / 5 - (n % 11 == 7) * 3.0 - (n % 29 == 3) * 20.0, x=values[n * 3 % 7], o=[None, 1, 2][n % 3])
        for n in range(300)
    ]
    items = [each._replace(s="abcd"[each.v * 5 % 4]) for each in items]
    different = ab.from_items(Reading, items).window(window).aggregate(
        Different, floats=ab.count_distinct("x"), texts=ab.count_distinct("s"), maybe=ab.count_distinct("o"),
        count=ab.count(), last=ab.last("v"), least=ab.min_("x"), **options,
    )  # fmt: skip
    graph = as_program(different.collect("out")).graph
    plan = compile(graph, replace(compile(graph).settings, expected=10**8))
    forms = {segment.operators: segment.form for pe in plan.pes for segment in pe.segments}
    assert forms["aggregate: parts",] == forms["aggregate",] == "native"
    own = Metrics()
    sequential.run(graph, own)
    assert own["aggregate"].late > 5
    for stretch in (7, 100):
        metrics = Metrics()
        assert outcome(run_on, Simulated(), plan, metrics, "auto", channels=2, stretch=stretch) == expected(graph)
        assert metrics.operators == own.operators


def test_the_plan_is_obeyed() -> None:
    """What the plan does not say of the two steps is not executed."""
    plan = compile(program([reading(n, float(n)) for n in range(10)]))
    [phase] = plan.phases
    parts = phase.layout.place("sources, aggregate: parts")
    others = [place for place in phase.layout.places if place is not parts]
    for layout in (
        replace(phase.layout, first_steps=()),
        replace(phase.layout, graph=plan.graph),
        replace(phase.layout, places=tuple(others)),
        replace(phase.layout, places=(others[0], replace(parts, follows=None), *others[1:])),
        replace(phase.layout, places=(others[0], replace(parts, channels=2), *others[1:])),
    ):
        changed = replace(plan, phases=(replace(phase, layout=layout),))
        with pytest.raises(AnabranchError):
            execute(RunConfig(Simulated(), changed, Metrics()))


# What is not exact is not done ----------------------------------------------------------------------------------------


class Own:
    def __init__(self) -> None:
        self.count = 0

    def add(self, reading: Reading) -> None:
        self.count += 1

    def result(self) -> int:
        return self.count


class One(NamedTuple):
    it: Any


class Count(NamedTuple):
    count: int


class Sum(NamedTuple):
    total: float


class When(NamedTuple):
    at: datetime


class All(NamedTuple):
    values: list[int]


def why_whole(stream: Any) -> str:
    plan = compile(as_program(stream.collect("out")).graph)
    assert not makes_parts(plan)
    [why] = [each.text for each in ab.explain(stream.collect("other")).why_not("aggregate") if each.about == "parts"]
    return why.removeprefix("it is not computed in two steps: ")


@pytest.mark.parametrize(
    ("window", "out", "column", "options", "why"),
    [
        (TIME, Sum, {"total": ab.sum_("x")}, {}, "sum_(x) adds floats, and the sum depends on the order"),
        (TIME, Sum, {"total": ab.std("v")}, {}, "std(v) is not computed of parts"),
        (TIME, All, {"values": ab.collect("v")}, {}, "collect(v) is not computed of parts"),
        (TIME, When, {"at": ab.min_("at")}, {}, "min_(at) compares datetimes, which fails where only some"),
        (TIME, Count, {"count": Own}, {}, "Own() is an aggregate of the user's own"),
        (TIME, Count, {"count": ab.count()}, {"on_error": "skip"}, 'with on_error="skip" tuples that fail'),
        (ab.tumbling(count=3), Count, {"count": ab.count()}, {}, "where its windows end depends on the number of"),
        (ab.punctuated(), Count, {"count": ab.count()}, {}, "where its windows end depends on the punctuations"),
        (
            ab.sliding(seconds=5, slide=2, on="ts"),
            Count,
            {"count": ab.count()},
            {},
            "its windows do not begin where others",
        ),
    ],
)
def test_what_does_not_follow_from_parts_is_in_one_step(
    window: Any, out: Any, column: Any, options: Any, why: str
) -> None:
    stream: Any = ab.from_items(Reading, [reading(1, 1.0)]).filter(lambda r: r.v > 0)
    if window.shape == "punctuated":
        stream = stream.punctuate(lambda r: r.v == 3)
    assert why_whole(stream.window(window).aggregate(out, **column, **options)).startswith(why)


# What is said of it ---------------------------------------------------------------------------------------------------


def test_every_explanation_shows_the_first_step_where_it_runs() -> None:
    stream: Any = ab.from_items(Reading, [reading(n, float(n)) for n in range(10)])
    program = as_program(totals(stream, TIME).collect("out"))
    explanation = ab.explain(program)
    [phase] = explanation.to_dict()["phases"]
    assert phase["first_steps"] == {"aggregate": "aggregate: parts"}
    [maker] = [place for place in phase["places"] if place["operators"] == ["aggregate: parts"]]
    assert (maker["follows"], maker["level"]) == ("sources", 0)
    lines = str(explanation).splitlines()
    assert any("║ ○ aggregate: parts" in line for line in lines)
    assert any("read from_items   slices      aggregate: parts" in line for line in lines)
    assert "aggregate: parts" in explanation.to_svg()
    assert "aggregate: parts" in explanation.to_html()
    assert "aggregate: parts" in explanation.to_code()
    assert [why.about for why in explanation.why_not("aggregate")] == ["parts"]


def test_a_plan_for_another_target_begins_from_what_is_safe() -> None:
    program = as_program(totals(ab.from_items(Reading, [reading(1, 1.0)]), TIME).collect("out"))
    plan = compile(program.graph)
    again = execute_with(plan, plan.settings)
    assert again.sequential == plan.sequential
    here = execute_with(plan, replace(plan.settings, target=IN_PROCESS))
    assert not makes_parts(here)
    assert [why.about for why in here.sequential["aggregate"]] == ["state"]
