"""The same of plans of other kinds: a stream, one process, a loop in rounds, windows by time, a file of lines."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.executed import Fact
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.runs.execute import execute
from anabranch.dataflow.runs.run_config import RunConfig
from anabranch.engines import in_process
from anabranch.errors import AnabranchError
from anabranch.graph.places import TAIL, Arrival, Clock, Lines, Loop, Phase, Place, Reading, Taking
from anabranch.graph.plan import PE, Plan, Segment
from anabranch.graph.settings import IN_PROCESS, Settings, Target
from anabranch.run import as_program
from tests.dataflow.layout.test_rounds_exactly import pages
from tests.dataflow.runs.test_plan_is_obeyed import CHANGES, TRADES, Change, Tick, Trade, layout, pe_at, phase, rises
from tests.dataflow.simulated import Simulated
from tests.engines.spark.streams.simulated_stream import Disk, SimulatedStream

Facts = set[tuple[str, Fact]]
TWO_CORES = Target("spark", cores=2)
WINDOW = ab.tumbling(delta=4, on="price")


def no_change(plan: Plan) -> Plan:
    return plan


def executed(plan: Plan) -> Facts:
    metrics = Metrics()
    metrics.start(plan.graph)
    execute(RunConfig(Simulated(), plan, metrics, stretch=32))
    return set(metrics.executed)


def is_obeyed(run: Callable[[Change], Facts], change: Change) -> bool:
    before = run(no_change)
    try:
        return run(change) != before
    except AnabranchError:
        return True


def changes_of(kinds: dict[type, dict[str, list[Change]]]) -> list[Any]:
    return [
        pytest.param(change, id=f"{kind.__name__}.{name} {number}")
        for kind, of_kind in kinds.items()
        for name, changes in of_kind.items()
        for number, change in enumerate(changes)
    ]


# A stream -----------------------------------------------------------------------------------------------------------


OF_A_STREAM = {
    **CHANGES,
    Phase: {**CHANGES[Phase], "reading": [phase(reading=Reading.ENTRIES_IN_TURN), phase(reading=Reading.ONE_TASK)]},
}


def stream(folder: Path, change: Change) -> Facts:
    graph = as_program(rises()).graph
    disk = Disk(folder / str(len(list(folder.iterdir()))))
    run = SimulatedStream(graph, disk, random.Random(1), channels=3, at_once=4, form="python", change=change)
    run.run()
    return set(run.metrics.executed)


@pytest.mark.parametrize("change", changes_of(OF_A_STREAM))
def test_where_the_plan_of_a_stream_is_changed_execution_changes_or_it_is_refused(
    change: Change, tmp_path: Path
) -> None:
    assert is_obeyed(partial(stream, tmp_path), change)


# One process --------------------------------------------------------------------------------------------------------


def cut_in_the_tail(pe: PE) -> list[PE]:
    [whole] = pe.segments
    return [
        replace(pe, id="PE a", operators=(whole.operators[0],), segments=(Segment(whole.operators[:1], "python"),)),
        replace(pe, id="PE b", operators=pe.operators[1:], segments=(Segment(whole.operators[1:], "python"),)),
    ]


OF_ONE_PROCESS: dict[type, dict[str, list[Change]]] = {
    Plan: {
        "phases": [lambda plan: replace(plan, phases=())],
        "loop": [lambda plan: replace(plan, loop=Loop("here", "there"))],
        "pes": [pe_at(TAIL, cut_in_the_tail), pe_at(TAIL, lambda pe: []), pe_at(TAIL, lambda pe: [pe, pe])],
    },
    Phase: {
        "name": [phase(name="another")],
        "reading": [phase(reading=Reading.ONE_TASK), phase(reading=Reading.SLICES)],
        "layout": [layout(lambda before: replace(before, places=before.places[::-1]))],
        "taking": [phase(taking=Taking.ONE_BY_ONE), phase(taking=None)],
        "watched": [phase(watched=()), phase(watched=("from_items",))],
    },
    Segment: {
        "form": [
            pe_at(TAIL, lambda pe: [replace(pe, segments=(replace(pe.segments[0], form=form),))])
            for form in ("native", None)
        ]
    },
}


def one_process(change: Change) -> Facts:
    plan = compile(as_program(rises()).graph, Settings(IN_PROCESS, form="python"))
    metrics = Metrics()
    in_process.run(change(plan), metrics)
    return set(metrics.executed)


@pytest.mark.parametrize("change", changes_of(OF_ONE_PROCESS))
def test_where_the_plan_of_one_process_is_changed_execution_changes_or_it_is_refused(change: Change) -> None:
    assert is_obeyed(one_process, change)


def test_a_pipe_is_no_file_to_be_read_as_columns_and_the_plan_of_the_result_says_so(tmp_path: Path) -> None:
    trades = ab.read_csv(tmp_path / "trades.csv", Trade, delimiter="§").collect("out")
    (tmp_path / "trades.csv").write_text("symbol§venue§price\na§b§1.0\n")
    plan = compile(as_program(trades).graph, Settings(IN_PROCESS))
    assert plan.phases[0].taking is Taking.COLUMNS
    metrics = Metrics()
    result = in_process.run(plan, metrics)
    assert result.items("out") == [Trade("a", "b", 1.0)]
    assert result.plan.phases[0].taking is Taking.TOGETHER


# A loop in rounds ---------------------------------------------------------------------------------------------------


def loop(**change: Any) -> Change:
    return lambda plan: replace(plan, loop=replace(plan.loop, **change) if plan.loop is not None else None)


OF_A_LOOP: dict[type, dict[str, list[Change]]] = {
    Loop: {"entry": [loop(entry="Sum"), loop(entry="nobody")], "back": [loop(back="out"), loop(back="nobody")]},
    Plan: {
        "loop": [lambda plan: replace(plan, loop=None)],
        "phases": [
            lambda plan: replace(plan, phases=plan.phases[::-1]),
            lambda plan: replace(plan, phases=plan.phases[:1]),
        ],
    },
}


def in_rounds(change: Change) -> Facts:
    return executed(change(compile(pages().graph, Settings(TWO_CORES, form="python"))))


@pytest.mark.parametrize("change", changes_of(OF_A_LOOP))
def test_where_the_plan_of_a_loop_is_changed_execution_changes_or_it_is_refused(change: Change) -> None:
    assert is_obeyed(in_rounds, change)


# The time of a stream -----------------------------------------------------------------------------------------------


def clocks(**change: Any) -> Change:
    def changed(arrival: Arrival) -> Arrival:
        return arrival if arrival.clock is None else replace(arrival, clock=replace(arrival.clock, **change))

    return layout(lambda before: replace(before, arrivals=tuple(map(changed, before.arrivals))))


OF_A_CLOCK: dict[type, dict[str, list[Change]]] = {
    Clock: {
        "window": [clocks(window=ab.tumbling(delta=5, on="price"))],
        "has_boundaries": [clocks(has_boundaries=False)],
        "is_bare": [clocks(is_bare=True)],
    },
}


def by_time(change: Change) -> Facts:
    items = sorted(TRADES, key=lambda trade: trade.price)
    windows = ab.from_items(Trade, items).window(WINDOW, key="symbol")
    sink = windows.aggregate(Tick, count=ab.count(), highest=ab.max_("price")).collect("out")
    plan = compile(as_program(sink).graph, Settings(TWO_CORES, form="python"))
    assert any(arrival.clock is not None for arrival in plan.phases[0].layout.arrivals)
    return executed(change(plan))


@pytest.mark.parametrize("change", changes_of(OF_A_CLOCK))
def test_where_the_time_of_a_plan_is_changed_execution_changes_or_it_is_refused(change: Change) -> None:
    assert is_obeyed(by_time, change)


def test_a_time_that_nobody_asks_for_is_refused() -> None:
    with pytest.raises(AnabranchError, match="that nobody asks for"):
        by_time(clocks(window=ab.tumbling(delta=5, on="price")))


# A file of lines ----------------------------------------------------------------------------------------------------


def lines(**change: Any) -> Change:
    def changed(arrival: Arrival) -> Arrival:
        return arrival if arrival.lines is None else replace(arrival, lines=replace(arrival.lines, **change))

    return layout(lambda before: replace(before, arrivals=tuple(map(changed, before.arrivals))))


OF_LINES: dict[type, dict[str, list[Change]]] = {
    Lines: {
        "sink": [lines(sink="filter")],
        "format": [lines(format="jsonl")],
        "options": [lines(options=(("delimiter", ";"),))],
    },
    Arrival: {
        "lines": [
            layout(lambda all_of: replace(all_of, arrivals=tuple(replace(a, lines=None) for a in all_of.arrivals)))
        ]
    },
}


def as_lines(folder: Path, change: Change) -> Facts:
    kept = ab.from_items(Trade, TRADES).process(Same, key="symbol")
    plan = compile(as_program(kept.write_csv(folder / "out.csv")).graph, Settings(TWO_CORES, form="python"))
    assert any(arrival.lines is not None for arrival in plan.phases[0].layout.arrivals)
    return executed(change(plan))


class Same:
    def process(self, trade: Trade) -> Trade:
        return trade


@pytest.mark.parametrize("change", changes_of(OF_LINES))
def test_where_the_lines_of_a_plan_are_changed_execution_changes_or_it_is_refused(
    change: Change, tmp_path: Path
) -> None:
    assert is_obeyed(partial(as_lines, tmp_path), change)


@pytest.mark.parametrize("kinds", [OF_A_STREAM, OF_A_LOOP, OF_A_CLOCK, OF_LINES])
def test_every_field_of_what_only_these_plans_have_is_changed(kinds: dict[type, dict[str, list[Change]]]) -> None:
    for kind in (Loop, Clock, Lines, Place, Phase):
        if kind in kinds:
            missing = {each.name for each in fields(kind)} - set(kinds[kind])
            assert missing <= {"why"}
