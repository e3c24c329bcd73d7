"""`@ab.declare` overrides what is found, where it says so, and every override is visible with its reason."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from anabranch.analysis import analyze_function, analyze_operator
from anabranch.errors import BuildError, Location
from anabranch.graph.properties import Selectivity
from anabranch.graph.schema import schema_of


class Item(NamedTuple):
    key: str
    n: int


ITEM = schema_of(Item)
HERE = Location(__file__, 1)


@dataclass(frozen=True)
class Declared:
    """What `ab.declare` attaches."""

    because: str
    state: str | None = None
    selectivity: str | None = None
    forwards: Any = None
    location: Location | None = HERE


def declare(because: str, **what: Any) -> Any:
    def attach(target: Any) -> Any:
        target.__anabranch_declared__ = Declared(because, **what)
        return target

    return attach


def ticking(t: Item) -> Item:
    return t._replace(n=int(time.time()))


@declare("the clock only goes to a log", state="stateless")
def trusted(t: Item) -> Item:
    return t._replace(n=int(time.time()))


def test_a_declared_state_clears_what_was_found_and_says_why() -> None:
    findings = analyze_function(trusted, input=ITEM, output=ITEM, emits="one")
    assert findings.shared == ()
    assert findings.declared.state == "stateless"
    [reason] = [r for r in findings.reasons if r.about == "state"]
    assert reason.text == "stateless: declared, because the clock only goes to a log"
    assert reason.location == HERE


def test_what_is_not_declared_is_still_found() -> None:
    findings = analyze_function(trusted, input=ITEM, output=ITEM, emits="one")
    assert findings.forwards == (("key", "key"),)
    assert findings.selectivity is Selectivity.EXACTLY_ONE


def test_a_declaration_is_found_under_partial_and_wraps() -> None:
    wrapped = functools.wraps(trusted)(lambda t: ticking(t))
    for fn in (functools.partial(trusted), wrapped):
        assert analyze_function(fn, input=ITEM, output=ITEM, emits="one").shared == ()


def test_a_declared_helper_is_trusted_and_no_other() -> None:
    def calls_trusted(t: Item) -> Item:
        return trusted(t)

    def calls_both(t: Item) -> Item:
        return ticking(trusted(t))

    findings = analyze_function(calls_trusted, input=ITEM, output=ITEM, emits="one")
    assert findings.shared == ()
    assert findings.forwards == (("key", "key"),)
    assert analyze_function(calls_both, input=ITEM, output=ITEM, emits="one").shared


@declare("it is reset at midnight anyway", state="partitioned", selectivity="1:1", forwards=("key",))
class Counter:
    total = 0

    def process(self, t: Item) -> Iterator[Item]:
        Counter.total += 1
        for _ in range(1):
            yield Item(t.key.strip(), Counter.total)


class Derived(Counter):
    pass


def test_every_property_of_a_class_can_be_declared() -> None:
    findings = analyze_operator(Counter, inputs={"process": ITEM}, output=ITEM)
    assert findings.shared == ()
    assert findings.own
    assert findings.selectivity is Selectivity.EXACTLY_ONE
    assert findings.forwards == (("key", "key"),)
    assert [r.about for r in findings.reasons] == ["state", "selectivity", "forwards"]
    assert all("declared, because it is reset" in r.text for r in findings.reasons)


def test_a_subclass_does_other_things_and_inherits_no_declaration() -> None:
    assert analyze_operator(Derived, inputs={"process": ITEM}, output=ITEM).shared


class Renamed(NamedTuple):
    name: str
    n: int | None


def renamed(t: Item) -> Renamed:
    return Renamed(str(t.key), t.n)


@pytest.mark.parametrize(
    ("forwards", "message"),
    [
        ({"nme": "key"}, "names 'nme', which Renamed does not have"),
        ({"name": "kye"}, "names 'kye', which Item does not have"),
        (["key"], "names 'key', which Renamed does not have"),
        ({"name": "n"}, "says that 'name' of Renamed (str) is 'n' of Item (int), but their types differ"),
    ],
)
def test_declared_forwards_must_be_attributes_of_both_types(forwards: Any, message: str) -> None:
    declared = declare("so", forwards=forwards)(functools.wraps(renamed)(lambda t: renamed(t)))
    with pytest.raises(BuildError) as caught:
        analyze_function(declared, input=ITEM, output=schema_of(Renamed), emits="one")
    assert message in str(caught.value)
    assert caught.value.location == HERE


def test_forwards_may_be_declared_with_renames() -> None:
    @declare("as documented", forwards={"name": "key", "n": "n"})
    def by_mapping(t: Item) -> Renamed:
        return renamed(t)

    @declare("as documented", forwards=(("name", "key"),))
    def by_pairs(t: Item) -> Renamed:
        return renamed(t)

    out = schema_of(Renamed)
    assert analyze_function(by_mapping, input=ITEM, output=out, emits="one").forwards == (("n", "n"), ("name", "key"))
    assert analyze_function(by_pairs, input=ITEM, output=out, emits="one").forwards == (("name", "key"),)
