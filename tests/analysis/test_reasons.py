"""Every conclusion carries its reason: a rule in words, the user's line, and the smallest edit that would help."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.analysis import Findings, analyze_function, analyze_operator
from anabranch.graph.schema import schema_of


class Item(NamedTuple):
    key: str
    n: int


ITEM = schema_of(Item)
counts: dict[str, int] = {}


def found(fn: Any, emits: Any = "one") -> Findings:
    return analyze_function(fn, input=ITEM, output=ITEM, emits=emits)


def clean(t: Item) -> Item:
    return Item(t.key, t.n + 1)


def test_a_clean_function_has_a_reason_for_each_property() -> None:
    reasons = found(clean).reasons
    assert [(r.about, r.text) for r in reasons] == [
        ("state", "keeps nothing from one tuple to the next and shares nothing"),
        ("selectivity", "emits exactly one tuple on every path"),
        ("forwards", "copies `key` from its input unchanged"),
    ]
    assert {r.location.line for r in reasons if r.location} == {clean.__code__.co_firstlineno}


def count(t: Item) -> Item:
    counts[t.key] = 1
    return t


def helper(t: Item) -> None:
    note(t.key)


def note(key: str) -> None:
    counts[key] = 2


def clock(t: Item) -> float:
    return time.time()


def default(t: Item, memory: list[str] = []) -> None:
    memory.append(t.key)


def printing(t: Item) -> None:
    print(t.key)


MESSAGES = [
    (count, "`count` changes the global `counts`", "counts[t.key] = 1",
     "move `counts` into __init__ of an operator class (self.counts = …) and use key="),
    (helper, "`note` changes the global `counts`", "counts[key] = 2",
     "move `counts` into __init__ of an operator class (self.counts = …) and use key="),
    (clock, "`clock` calls `time.time`, which reads the clock", "return time.time()",
     "let the source add the time as an attribute"),
    (default, "`default` changes the default value of `memory`, which all calls share", "memory.append(t.key)",
     "use memory=None and make it inside, or keep it in `self` of an operator class with key="),
    (printing, "`printing` calls `print`, which prints", "print(t.key)",
     'if it is safe, say so: @ab.declare(state="stateless", because="…")'),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "text", "code", "hint"), MESSAGES, ids=[m[0].__name__ for m in MESSAGES])
def test_a_reason_names_the_effect_the_line_and_the_way_out(fn: Any, text: str, code: str, hint: str) -> None:
    [reason] = found(fn, "value").shared
    assert reason.text == text
    assert reason.hint == hint
    assert reason.location is not None
    assert reason.location.file == __file__
    assert reason.location.code == code


class Two:
    def __init__(self) -> None:
        self.b = self.a = 0

    def process(self, t: Item) -> Iterator[Item]:
        self.b += 1
        self.a += 1
        for _ in t.key:
            yield t


def test_reasons_come_in_the_order_of_the_text_and_are_the_same_every_time() -> None:
    first = analyze_operator(Two, inputs={"process": ITEM}, output=ITEM)
    lines = [r.location.line for r in first.own if r.location]
    assert lines == sorted(lines)
    assert len(lines) == 2
    again = analyze_operator(Two, inputs={"process": ITEM}, output=ITEM)
    assert [str(r) for r in again.reasons] == [str(r) for r in first.reasons]


def test_an_unbounded_operator_is_told_how_to_become_bounded() -> None:
    [reason] = [
        r for r in analyze_operator(Two, inputs={"process": ITEM}, output=ITEM).reasons if r.about == "selectivity"
    ]
    assert reason.hint == "yield outside of loops, at most once on every path"


def test_what_is_too_large_to_follow_is_unknown_and_not_an_error() -> None:
    names: dict[str, Any] = {"Item": Item}
    lines = ["def f0(t): return t"] + [f"def f{i}(t): return f{i - 1}(f{i - 1}(t))" for i in range(1, 60)]
    exec("\n".join(lines), names)
    assert found(names["f59"]).shared


def chance(t: Item) -> bool:
    return random.random() < t.n


def seeded(t: Item) -> bool:
    return random.Random(t.n).random() < 0.5


def test_random_numbers_are_named_with_a_way_to_draw_them() -> None:
    [reason] = found(chance, "predicate").shared
    assert (
        reason.text
        == "`chance` calls `random.random()`, which draws random numbers from a generator that all calls share"
    )
    assert reason.hint is not None
    assert "random.Random(seed)" in reason.hint
    assert found(seeded, "predicate").shared == ()  # as the hint says


@dataclasses.dataclass
class Counting:
    n: int = 0

    def process(self, t: Item) -> Iterator[Item]:
        self.n += 1
        yield t


def test_reasons_of_a_dataclass_are_at_lines_of_the_user() -> None:
    reasons = analyze_operator(Counting, inputs={"process": ITEM}, output=ITEM).reasons
    assert {reason.location.file for reason in reasons if reason.location} == {__file__}


class Sharing:
    def __init__(self) -> None:
        self.n = 0

    def process(self, t: Item) -> Iterator[Item]:
        self.n += 1
        counts[t.key] = self.n
        yield t


@pytest.mark.parametrize("key", [None, "key"])
def test_what_a_keyed_operator_keeps_for_itself_is_no_reason_against_it(key: str | None) -> None:
    @ab.app
    def program() -> None:
        ab.from_items(Item, [Item("a", 1)]).process(Sharing, key=key).collect("out")

    [operator] = [op for op in ab.explain(program()).to_dict()["operators"] if op["kind"] == "process"]
    texts = [reason["text"] for reason in operator["reasons"] if reason["about"] == "state"]
    assert operator["state"] == "stateful"
    assert any("`counts`" in text for text in texts)
    assert any("keeps `self.n`" in text for text in texts) == (key is None)
