"""How many tuples leave for each that arrives, over all paths."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from anabranch.analysis import analyze_function, analyze_operator
from anabranch.graph.properties import Selectivity
from anabranch.graph.schema import schema_of


class Item(NamedTuple):
    key: str
    n: int
    parts: list[int]


ITEM = schema_of(Item)
ONE, MAYBE, ANY = Selectivity.EXACTLY_ONE, Selectivity.AT_MOST_ONE, Selectivity.UNBOUNDED


def selectivity(fn: Any, emits: Any = "many") -> Selectivity:
    return analyze_function(fn, input=ITEM, output=ITEM, emits=emits).selectivity


def to(name: str, item: Any) -> Any:
    """Stands for `ab.to`."""


to.__module__ = "anabranch.operators.emissions"


# Generators -----------------------------------------------------------------------------------------------------


def one(t: Item) -> Iterator[Item]:
    yield t


def none(t: Item) -> Iterator[Item]:
    return
    yield t


def two(t: Item) -> Iterator[Item]:
    yield t
    yield t


def one_on_both_branches(t: Item) -> Iterator[Item]:
    if t.n > 1:
        yield t
    else:
        yield t._replace(n=0)


def one_on_one_branch(t: Item) -> Iterator[Item]:
    if t.n > 1:
        yield t


def early_return(t: Item) -> Iterator[Item]:
    if t.n > 1:
        return
    yield t


def early_return_after_one(t: Item) -> Iterator[Item]:
    if t.n > 1:
        yield t
        return
    yield t


def in_a_loop(t: Item) -> Iterator[Item]:
    for _ in t.parts:
        yield t


def first_found(t: Item) -> Iterator[Item]:
    for part in t.parts:
        if part > 3:
            yield t
            return


def first_found_with_break(t: Item) -> Iterator[Item]:
    for part in t.parts:
        if part > 3:
            yield t
            break


def found_or_else(t: Item) -> Iterator[Item]:
    for part in t.parts:
        if part > 3:
            yield t
            break
    else:
        yield t


def loop_without_yield(t: Item) -> Iterator[Item]:
    total = 0
    for part in t.parts:
        total += part
    while total > 10:
        total -= 1
    yield t._replace(n=total)


def endless_with_break(t: Item) -> Iterator[Item]:
    n = t.n
    while True:
        n += 1
        if n > 10:
            break
    yield t


def endless_with_yield(t: Item) -> Iterator[Item]:
    while True:
        yield t
        if t.n:
            return


def error_on_one_branch(t: Item) -> Iterator[Item]:
    if t.n > 1:
        raise ValueError(t.n)
    yield t


def asserted(t: Item) -> Iterator[Item]:
    assert t.n > 0
    yield t


def finally_(t: Item) -> Iterator[Item]:
    try:
        yield t
    finally:
        print()


def yield_in_finally(t: Item) -> Iterator[Item]:
    try:
        yield t
    finally:
        yield t


def return_in_finally(t: Item) -> Iterator[Item]:
    try:
        int(t.key)
        yield t
    finally:
        return  # noqa: B012


def handled(t: Item) -> Iterator[Item]:
    try:
        n = int(t.key)
    except ValueError:
        return
    yield t._replace(n=n)


def handled_with_another(t: Item) -> Iterator[Item]:
    try:
        yield t._replace(n=int(t.key))
    except ValueError:
        yield t


def handled_after_the_yield(t: Item) -> Iterator[Item]:
    try:
        yield t
        int(t.key)
    except ValueError:
        yield t


def try_else(t: Item) -> Iterator[Item]:
    try:
        int(t.key)
    except ValueError:
        yield t
    else:
        yield t


def suppressed(t: Item) -> Iterator[Item]:
    with contextlib.suppress(ValueError):
        yield t._replace(n=int(t.key))


def matched(t: Item) -> Iterator[Item]:
    match t.n:
        case 1:
            yield t
        case 2 | 3:
            yield t


def matched_fully(t: Item) -> Iterator[Item]:
    match t.n:
        case 1:
            yield t
        case _:
            yield t


def from_list(t: Item) -> Iterator[Item]:
    yield from [t]


def from_pair(t: Item) -> Iterator[Item]:
    yield from (t, t)


def from_condition(t: Item) -> Iterator[Item]:
    yield from [t] if t.n else []


def from_helper(t: Item) -> Iterator[Item]:
    yield from one_on_one_branch(t)


def from_helper_and_one(t: Item) -> Iterator[Item]:
    yield from none(t)
    yield t


def from_changed_list(t: Item) -> Iterator[Item]:
    out = [t]
    if t.n:
        out.clear()
    yield from out


def from_consumed_generator(t: Item) -> Iterator[Item]:
    items = one(t)
    for _ in items:
        pass
    yield from items


def to_named_output(t: Item) -> Iterator[Item]:
    yield to("other", t)


def in_expression(t: Item) -> Iterator[Item]:
    t.n and (yield t)


def in_both_conditions(t: Item) -> Iterator[Item]:
    (yield t) if t.n else (yield t)


def inner_function(t: Item) -> Iterator[Item]:
    def inner() -> Iterator[Item]:
        yield t
        yield t

    list(inner())
    yield t


GENERATORS: list[tuple[Callable[[Item], Any], Selectivity]] = [
    (one, ONE), (none, MAYBE), (two, ANY), (one_on_both_branches, ONE), (one_on_one_branch, MAYBE),
    (early_return, MAYBE), (early_return_after_one, ONE), (in_a_loop, ANY), (first_found, MAYBE),
    (first_found_with_break, MAYBE), (found_or_else, ONE), (loop_without_yield, ONE), (endless_with_break, ONE),
    (endless_with_yield, ANY), (error_on_one_branch, ONE), (asserted, ONE), (finally_, ONE), (yield_in_finally, ANY),
    (return_in_finally, MAYBE), (handled, MAYBE), (handled_with_another, ONE), (handled_after_the_yield, ANY),
    (try_else, ONE), (suppressed, MAYBE), (matched, MAYBE), (matched_fully, ONE), (from_list, ONE), (from_pair, ANY),
    (from_condition, MAYBE), (from_helper, MAYBE), (from_helper_and_one, ONE), (from_changed_list, ANY),
    (from_consumed_generator, ANY), (to_named_output, MAYBE), (in_expression, MAYBE), (in_both_conditions, ONE),
    (inner_function, ONE),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "expected"), [pytest.param(f, e, id=f.__name__) for f, e in GENERATORS])
def test_emissions_are_counted_along_every_path(fn: Callable[[Item], Any], expected: Selectivity) -> None:
    assert selectivity(fn) is expected


# Functions that return --------------------------------------------------------------------------------------------


RETURNING: dict[str, tuple[Callable[[Item], Any], Selectivity]] = {
    "a tuple": (lambda t: t, ONE),
    "None": (lambda t: None, MAYBE),
    "a tuple or None": (lambda t: t if t.n else None, MAYBE),
    "a list of one": (lambda t: [t], ONE),
    "a list of two": (lambda t: [t, t], ANY),
    "a list of one or none": (lambda t: [t] if t.n else [], MAYBE),
    "a comprehension": (lambda t: [t for _ in t.parts], ANY),
    "a conditional comprehension over one": (lambda t: [x for x in [t] if x.n], MAYBE),
    "a plain pair": (lambda t: (t, t), ANY),
    "a generator of one": (lambda t: one(t), ONE),
    "a mapped list of one": (lambda t: map(lambda x: x, [t]), ONE),
    "a filtered list of one": (lambda t: filter(None, [t]), ANY),
    "a slice": (lambda t: [t][t.n :], ANY),
    "a spread list": (lambda t: [*t.parts], ANY),
}


@pytest.mark.parametrize(("fn", "expected"), RETURNING.values(), ids=RETURNING.keys())
def test_what_is_returned_is_counted(fn: Callable[[Item], Any], expected: Selectivity) -> None:
    assert selectivity(fn) is expected


def falls_off_the_end(t: Item) -> Item | None:
    if t.n:
        return t
    return None


def list_built_by_append(t: Item) -> list[Item]:
    out = []
    if t.n:
        out.append(t)
    return out


def test_a_list_that_grew_has_no_known_length() -> None:
    assert selectivity(list_built_by_append) is ANY


def test_a_map_is_one_to_one_unless_it_may_give_nothing() -> None:
    assert selectivity(lambda t: t._replace(n=1), "one") is ONE
    assert selectivity(falls_off_the_end, "one") is MAYBE


def test_a_filter_emits_at_most_one() -> None:
    assert selectivity(lambda t: t.n > 1, "predicate") is MAYBE


# Operators --------------------------------------------------------------------------------------------------------


class Both:
    def process(self, t: Item) -> Iterator[Item]:
        yield from self.helper(t)

    def helper(self, t: Item) -> Iterator[Item]:
        if t.n:
            yield t

    def punctuation(self) -> None:
        pass

    def finish(self) -> Iterator[Item]:
        for _ in range(2):
            yield Item("", 1, [])


class SilentEnd:
    def process(self, t: Item) -> Item:
        return t

    def finish(self) -> Iterator[Item]:
        if sys.argv:
            return
        yield from ()


class EndOnTheInstance:
    def __init__(self) -> None:
        self.finish = lambda: [Item("", 1, [])]

    def process(self, t: Item) -> Item:
        return t


class TwoInputs:
    def left(self, t: Item) -> Iterator[Item]:
        yield t

    def right(self, t: Item) -> Iterator[Item]:
        if t.n:
            yield t


class Silent:
    def __init__(self) -> None:
        self.n = 0

    def process(self, t: Item) -> None:
        self.n += t.n

    def punctuation(self) -> Iterator[Item]:
        yield Item("", self.n, [])


def operator(cls: Any, *inputs: str) -> Any:
    return analyze_operator(cls, inputs=dict.fromkeys(inputs or ("process",), ITEM), output=ITEM)


def test_selectivity_is_that_of_process_and_the_ends_are_told_apart() -> None:
    findings = operator(Both)
    assert findings.selectivity is MAYBE
    assert findings.emits_at_end
    assert not findings.emits_at_punctuation


def test_an_end_that_definitely_emits_nothing_is_silent() -> None:
    findings = operator(SilentEnd)
    assert findings.selectivity is ONE
    assert not findings.emits_at_end


def test_an_end_that_the_constructor_assigns_counts_too() -> None:
    assert operator(EndOnTheInstance).emits_at_end


def test_several_inputs_have_the_selectivity_of_the_least_known() -> None:
    assert operator(TwoInputs, "left", "right").selectivity is MAYBE
    assert operator(TwoInputs, "left").selectivity is ONE


def test_an_operator_that_only_emits_at_punctuations_is_silent_in_between() -> None:
    assert operator(Silent).is_silent
    assert operator(Silent).emits_at_punctuation
    assert not operator(Both).is_silent
