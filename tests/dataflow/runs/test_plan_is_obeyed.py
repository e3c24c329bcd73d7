"""An engine does what the plan says: where that is changed, execution changes with it, or it is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.executed import Fact, Ran, Sent
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.runs.execute import execute
from anabranch.dataflow.runs.run_config import RunConfig
from anabranch.errors import AnabranchError
from anabranch.graph.order_keys import Number
from anabranch.graph.places import TAIL, Arrival, Clock, Layout, Lines, Loop, Phase, Place, Reading, Taking
from anabranch.graph.plan import PE, Plan, Segment
from anabranch.graph.settings import Settings, Target
from anabranch.run import as_program
from tests.dataflow.simulated import Simulated


class Trade(NamedTuple):
    symbol: str
    venue: str
    price: float


class Rise:
    def __init__(self) -> None:
        self.last = 0.0

    def process(self, trade: Trade) -> Iterator[Trade]:
        if trade.price > self.last:
            yield trade
        self.last = trade.price


class Tick(NamedTuple):
    count: int
    highest: float


TRADES = [Trade(f"s{n % 7}", f"v{n % 3}", float(n * 7 % 11)) for n in range(300)]


def rises() -> ab.Sink:
    risen = ab.from_items(Trade, TRADES).filter(lambda t: t.price > 0.5).process(Rise, key="symbol")
    cheap = risen.filter(lambda t: t.price < 10.0)
    return cheap.window(ab.tumbling(count=5)).aggregate(Tick, count=ab.count(), highest=ab.max_("price")).collect("out")


def plan() -> Plan:
    return compile(as_program(rises()).graph, Settings(Target("spark", cores=2), form="python"))


def executed(changed: Plan) -> tuple[set[tuple[str, Fact]], list[Any]]:
    metrics = Metrics()
    metrics.start(changed.graph)
    result = execute(RunConfig(Simulated(), changed, metrics, stretch=32))
    assert result.plan is changed
    return set(metrics.executed), result.items("out")


# One change at a time -----------------------------------------------------------------------------------------------

Change = Callable[[Plan], Plan]


def phase(**change: Any) -> Change:
    return lambda before: replace(before, phases=(replace(before.phases[0], **change),))


def layout(change: Callable[[Layout], Layout]) -> Change:
    return lambda before: phase(layout=change(before.phases[0].layout))(before)


def place(name: str, change: Callable[[Place], Place]) -> Change:
    return layout(lambda all_of: replace(all_of, places=tuple(change(p) if p.id == name else p for p in all_of.places)))


def arrival(at: str, **change: Any) -> Change:
    def changed(all_of: Layout) -> Layout:
        arrivals = tuple(replace(each, **change) if each.place == at else each for each in all_of.arrivals)
        return replace(all_of, arrivals=arrivals)

    return layout(changed)


def pes(change: Callable[[PE], list[PE]]) -> Change:
    return lambda before: replace(before, pes=tuple(each for pe in before.pes for each in change(pe)))


def pe_at(name: str, change: Callable[[PE], list[PE]]) -> Change:
    return pes(lambda pe: change(pe) if pe.place == name and pe.segments else [pe])


def segment(**change: Any) -> Change:
    return pe_at("R1", lambda pe: [replace(pe, segments=(replace(pe.segments[0], **change),))])


def cut(pe: PE) -> list[PE]:
    first, second = pe.operators
    return [
        replace(pe, id="PE a", operators=(first,), segments=(Segment((first,), "python"),)),
        replace(pe, id="PE b", operators=(second,), segments=(Segment((second,), "python"),)),
    ]


CHANGES: dict[type, dict[str, list[Change]]] = {
    Plan: {
        "phases": [lambda before: replace(before, phases=())],
        "loop": [lambda before: replace(before, loop=Loop("here", "there"))],
        "pes": [
            pe_at("R1", cut),
            pe_at("R1", lambda pe: []),
            pe_at("R1", lambda pe: [pe, replace(pe, id="PE again")]),
            pe_at("R1", lambda pe: cut(pe)[::-1]),
        ],
    },
    Phase: {
        "name": [phase(name="another")],
        "reading": [phase(reading=Reading.HERE), phase(reading=Reading.ONE_TASK)],
        "layout": [layout(lambda before: replace(before, places=before.places[:-1]))],
        "taking": [phase(taking=Taking.TOGETHER)],
        "watched": [phase(watched=()), phase(watched=("Rise",))],
    },
    Layout: {
        "graph": [layout(lambda before: replace(before, graph=replace(before.graph, edges=before.graph.edges[:-1])))],
        "places": [layout(lambda before: replace(before, places=before.places[::-1]))],
        "arrivals": [layout(lambda before: replace(before, arrivals=before.arrivals[1:]))],
        "is_ordered": [layout(lambda before: replace(before, is_ordered=False))],
        "first_steps": [layout(lambda before: replace(before, first_steps=(("aggregate", "filter"),)))],
    },
    Place: {
        "id": [place("R1", lambda before: replace(before, id="R9"))],
        "operators": [
            place("R1", lambda before: replace(before, operators=before.operators[:1])),
            place("R1", lambda before: replace(before, operators=("filter", *before.operators))),
        ],
        "level": [place("R1", lambda before: replace(before, level=0))],
        "channels": [place("R1", lambda before: replace(before, channels=5))],
        "inputs": [place("R1", lambda before: replace(before, inputs=()))],
        "outputs": [place("R1", lambda before: replace(before, outputs=()))],
        "is_prolific": [place("R1", lambda before: replace(before, is_prolific=True))],
        "region": [place("R1", lambda before: replace(before, region=None))],
        "is_ranked": [place("R1", lambda before: replace(before, is_ranked=True))],
        "follows": [place("R1", lambda before: replace(before, follows="sources"))],
        "ranks": [place("R1", lambda before: replace(before, ranks=(Number("x"),)))],
    },
    Arrival: {
        "stream": [arrival("R1", stream=replace(plan().phases[0].layout.arrivals[0].stream, port=1))],
        "place": [arrival("R1", place=TAIL)],
        "key": [arrival("R1", key=("venue",)), arrival("R1", key=())],
        "bounds": [arrival("R1", key=("price",), bounds=(5.0,))],
        "lineage": [
            arrival("R1", lineage=()),
            arrival("R1", lineage=(Number("draw"), Number("draw"))),
            arrival("R1", lineage=(Number("elsewhere"),)),
        ],
        "paths": [arrival("R1", paths=())],
        "clock": [arrival("R1", clock=Clock(ab.tumbling(delta=1, on="price"), has_boundaries=True))],
        "again": [arrival("R1", again=1)],
        "lines": [arrival(TAIL, lines=Lines("out", "csv")), arrival("R1", lines=Lines("out", "csv"))],
    },
    PE: {
        "operators": [pe_at("R1", lambda pe: [replace(pe, operators=pe.operators[:1])])],
        "phase": [pe_at("R1", lambda pe: [replace(pe, phase="another")])],
        "place": [pe_at("R1", lambda pe: [replace(pe, place=TAIL)])],
        "segments": [
            pe_at("R1", lambda pe: [replace(pe, segments=())]),
            pe_at("R1", lambda pe: [replace(pe, segments=tuple(Segment((each,), "python") for each in pe.operators))]),
        ],
    },
    Segment: {"operators": [segment(operators=("Rise",))], "form": [segment(form="native"), segment(form=None)]},
}
# What is there for people, for the stages of the compiler, or asked of them.
NOT_EXECUTED = {
    Plan: [
        "graph",
        "settings",
        "properties",
        "regions",
        "sequential",
        "channels",
        "expected",
        "form",
        "light",
        "worth",
        "unweighed",
    ],
    Phase: ["why"],
    Layout: ["refused", "_by_id"],
    Place: [],
    Arrival: [],
    PE: ["id", "why_together", "why_apart"],
    Segment: ["why_not_native"],
}


@pytest.mark.parametrize("kind", CHANGES)
def test_every_field_of_a_plan_is_accounted_for(kind: type) -> None:
    assert sorted([*CHANGES[kind], *NOT_EXECUTED[kind]]) == sorted(field.name for field in fields(kind))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(change, id=f"{kind.__name__}.{name} {number}")
        for kind, of_kind in CHANGES.items()
        for name, changes in of_kind.items()
        for number, change in enumerate(changes)
    ],
)
def test_where_a_plan_is_changed_execution_changes_with_it_or_it_is_refused(change: Change) -> None:
    before = executed(plan())
    try:
        after = executed(change(plan()))
    except AnabranchError:
        return
    assert after[0] != before[0]


# What some of them do -----------------------------------------------------------------------------------------------


def sent_to_region(facts: set[tuple[str, Fact]]) -> Sent:
    [found] = [fact for _, fact in facts if isinstance(fact, Sent) and fact.place == "R1"]
    return found


def test_the_plan_as_it_is() -> None:
    facts, items = executed(plan())
    assert sent_to_region(facts) == Sent("filter", 0, "R1", 2, ("symbol",), 0, 1)
    inside = ("Rise", "filter_2")
    assert ("run", Ran("R1", inside, inside, "python")) in facts
    assert items == ab.run(rises(), engine="sequential").items("out")


def test_another_number_of_channels_is_what_tuples_are_dealt_out_to() -> None:
    facts, items = executed(CHANGES[Place]["channels"][0](plan()))
    assert sent_to_region(facts).channels == 5
    assert items == executed(plan())[1]


def test_another_key_is_what_tuples_are_routed_by() -> None:
    facts, items = executed(CHANGES[Arrival]["key"][0](plan()))
    assert sent_to_region(facts).key == ("venue",)
    assert items != executed(plan())[1]  # the operator has one instance per symbol, and its tuples are in two channels


def test_bounds_make_channels_of_ranges() -> None:
    assert sent_to_region(executed(CHANGES[Arrival]["bounds"][0](plan()))[0]).bounds == 1


def test_a_pe_that_is_cut_in_two_is_two_functions_and_the_result_is_the_same() -> None:
    facts, items = executed(CHANGES[Plan]["pes"][0](plan()))
    ran = {fact for _, fact in facts if isinstance(fact, Ran) and fact.place == "R1"}
    assert ran == {Ran("R1", ("Rise",), ("Rise",), "python"), Ran("R1", ("filter_2",), ("filter_2",), "python")}
    assert items == executed(plan())[1]


def test_another_form_is_what_runs() -> None:
    facts, items = executed(CHANGES[Segment]["form"][0](plan()))
    inside = ("Rise", "filter_2")
    assert ("run", Ran("R1", inside, inside, "native")) in facts
    assert items == executed(plan())[1]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (CHANGES[Arrival]["lineage"][0], "carries for its order"),
        (CHANGES[Layout]["arrivals"][0], "does not arrive there"),
        (CHANGES[Place]["operators"][1], "is in two places"),
        (CHANGES[Plan]["pes"][2], "in 2 PEs"),
        (CHANGES[PE]["place"][0], "spans two places"),
    ],
)
def test_what_nobody_could_have_decided_is_refused_with_a_reason(change: Change, why: str) -> None:
    with pytest.raises(AnabranchError, match=why):
        executed(change(plan()))
