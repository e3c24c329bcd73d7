"""Which operators share a processing element: what a strategy and hints ask for, as far as order allows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.compiler import compile, execute_with
from anabranch.errors import UsageError
from anabranch.graph.plan import PE, Plan
from anabranch.graph.settings import IN_PROCESS, Settings
from anabranch.run import as_program


class Reading(NamedTuple):
    sensor: int
    value: float


class Total:
    def __init__(self) -> None:
        self.sum = 0.0

    def process(self, reading: Reading) -> Iterator[Reading]:
        self.sum += reading.value
        yield reading._replace(value=self.sum)


SEEN: list[Reading] = []


def remembered(reading: Reading) -> Reading:
    SEEN.append(reading)
    return reading


def readings() -> Any:
    return ab.from_items(Reading, [Reading(n % 3, float(n)) for n in range(20)])


def chain(**hints: dict[str, Any]) -> ab.Sink:
    """a → b → c → out, with what `.place` says of each."""
    a = readings().filter(lambda r: r.value > 0.0).named("a").place(**hints.get("a", {}))
    b = a.process(Total, key="sensor").named("b").place(**hints.get("b", {}))
    c = b.filter(lambda r: r.value > 1.0).named("c").place(**hints.get("c", {}))
    return c.collect("out").place(**hints.get("out", {}))


def pes_of(sink: ab.Sink, fuse: str) -> list[PE]:
    plan = execute_with(Plan(as_program(sink).graph), Settings(IN_PROCESS, fuse=fuse))
    return [pe for pe in plan.pes if pe.place == "tail"]


def groups(sink: ab.Sink, fuse: str) -> list[str]:
    return [" ".join(pe.operators) for pe in pes_of(sink, fuse)]


@pytest.mark.parametrize(
    ("fuse", "hints", "expected"),
    [
        ("all", {}, ["a b c out"]),
        ("none", {}, ["a", "b", "c", "out"]),
        ("manual", {}, ["a b c out"]),
        ("all", {"b": {"alone": True}}, ["a", "b", "c out"]),
        ("all", {"a": {"pe": "front"}}, ["a b c out"]),
        ("manual", {"a": {"pe": "front"}, "b": {"pe": "front"}}, ["a b", "c out"]),
        ("manual", {"b": {"pe": "one"}, "c": {"pe": "other"}}, ["a", "b", "c", "out"]),
        ("none", {"b": {"pe": "one"}, "c": {"pe": "one"}}, ["a", "b c", "out"]),
        # The first and the last are asked to be together, so the one between them is with them.
        ("none", {"a": {"pe": "one"}, "c": {"pe": "one"}}, ["a b c", "out"]),
    ],
)
def test_a_chain_is_cut_as_asked_for(fuse: str, hints: dict[str, Any], expected: list[str]) -> None:
    assert groups(chain(**hints), fuse) == expected


@pytest.mark.parametrize("fuse", ["all", "none", "manual"])
def test_the_result_is_the_same_however_operators_are_fused(fuse: str) -> None:
    expected = ab.run(chain(b={"pe": "middle"}), engine="sequential").items("out")
    assert ab.run(chain(b={"pe": "middle"}), engine="fused", fuse=fuse).items("out") == expected


def test_branches_that_meet_again_run_depth_first_in_one_pe() -> None:
    stream = readings().filter(lambda r: r.value > 0.0).named("first")
    high = stream.filter(lambda r: r.value > 5.0).named("high")
    low = stream.filter(lambda r: r.value < 9.0).named("low")
    sink = high.union(low).named("both").filter(lambda r: r.sensor > 0).named("last").collect("out")
    assert groups(sink, "none") == ["first", "high low both", "last", "out"]
    [together] = [pe for pe in pes_of(sink, "none") if "high" in pe.operators]
    [why] = together.why_together
    assert why.text == "'high' and 'both' run together: other streams would cross where they would be cut apart"


def test_who_shares_something_takes_turns_with_all_that_run_with_it() -> None:
    sink = readings().map(remembered).filter(lambda r: r.value > 1.0).named("later").collect("out")
    [pe] = pes_of(sink, "none")
    assert pe.operators == ("remembered", "later", "out")
    assert "all that runs with 'remembered' takes turns with it" in pe.why_together[0].text


def test_a_loop_is_in_one_pe() -> None:
    def around(loop: Any) -> tuple[Any, Any]:
        more = loop.filter(lambda r: r.value < 5.0).named("more")
        return loop, more.map(lambda r: r._replace(value=r.value + 3.0), out=Reading).named("again")

    sink = readings().feedback(around).filter(lambda r: r.sensor > 0).named("behind").collect("out")
    [loop] = [pe for pe in pes_of(sink, "none") if "more" in pe.operators]
    assert "again" in loop.operators
    assert "behind" not in loop.operators


def test_a_loop_shares_a_pe_with_who_makes_several_tuples_of_one_before_it() -> None:
    """Handed over in chunks, what comes around would get ahead of the rest of them."""

    def around(loop: Any) -> tuple[Any, Any]:
        return loop, loop.filter(lambda r: r.value < 5.0).named("again")

    stream = readings().filter(lambda r: r.value > 0.0).named("first")
    assert groups(stream.feedback(around).named("loop").collect("out"), "none") == ["first", "loop again", "out"]
    several = stream.flat_map(lambda r: [r, r], out=Reading).named("several")
    sink = several.filter(lambda r: r.sensor > 0).named("some").feedback(around).named("loop").collect("out")
    assert groups(sink, "none") == ["first", "several some loop again", "out"]
    [together] = [pe for pe in pes_of(sink, "none") if "several" in pe.operators]
    text = (
        "'several' and 'some' run together: what comes around to 'loop' waits for all that is made of a tuple before it"
    )
    assert [why.text for why in together.why_together] == [text]
    assert text in " ".join(str(ab.explain(sink, engine="fused", fuse="none")).split())


def test_who_takes_a_stream_beside_a_sink_takes_turns_with_it() -> None:
    stream = readings().filter(lambda r: r.value > 0.0).named("first")
    sinks = stream.collect("one"), stream.process(Total, key="sensor").named("total").collect("two")
    plan = execute_with(Plan(as_program(*sinks).graph), Settings(IN_PROCESS, fuse="none"))
    assert [pe.operators for pe in plan.pes[1:]] == [("first",), ("total", "one", "two")]


def test_who_is_in_another_place_than_the_pe_that_it_was_given_says_so() -> None:
    """The filter stays with the tasks that read the source, though it is of the region of the operator behind it."""
    front = {"pe": "front"}
    plan = compile(as_program(chain(a=front, b=front)).graph)
    [first, second] = [pe for pe in plan.pes if pe.why_apart]
    assert (first.operators, first.place, second.place) == (("a",), "sources", "R1")
    assert [why.text for why in first.why_apart] == [
        "'a' is not fused with 'b' (pe='front'): it runs at sources, and 'b' at R1"
    ]
    assert "not in one PE: 'a' is not fused with 'b'" in str(ab.explain(chain(a=front, b=front)))


def test_who_is_in_the_pe_that_it_was_given_has_nothing_to_say() -> None:
    assert not any(pe.why_apart for pe in pes_of(chain(a={"pe": "front"}, b={"pe": "front"}), "none"))


def test_an_unknown_fusion_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="there is no fusion 'some'") as raised:
        ab.run(chain(), engine="fused", fuse="some")
    assert raised.value.hint == "use one of all, none, manual"


def test_the_sequential_engine_has_nothing_to_fuse() -> None:
    with pytest.raises(UsageError, match="generates no code, so it has no fusion 'none'"):
        ab.run(chain(), engine="sequential", fuse="none")
