"""`merge_by` and `barrier` against their definitions: what has come out is worked out anew from all that went in.

"merge_by(a) emits the smallest head; waits for all inputs; ties in order of the arguments."
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import anabranch as ab
from tests.tracing import Trace, line

QUICK = settings(max_examples=70, deadline=None)
THOROUGH = settings(max_examples=4000, deadline=None)


class ByInt(NamedTuple):
    by: int
    stream: int
    number: int


class ByFloat(NamedTuple):
    by: float
    stream: int
    number: int


class ByText(NamedTuple):
    by: str
    stream: int
    number: int


class ByMoment(NamedTuple):
    by: datetime
    stream: int
    number: int


class ByDay(NamedTuple):
    by: date
    stream: int
    number: int


VALUES: dict[type, st.SearchStrategy[Any]] = {
    ByInt: st.integers(-3, 5) | st.integers(-(2**63), 2**63 - 1),
    ByFloat: st.sampled_from([0.0, -0.0, 1.0, math.nan, math.inf, -math.inf]) | st.floats(-3, 3),
    ByText: st.sampled_from(["", "a", "b", "ä", "aa"]),
    ByMoment: st.integers(-3, 5).map(lambda n: datetime(1970, 1, 1) + timedelta(microseconds=n)),
    ByDay: st.integers(-3, 5).map(lambda n: date(1970, 1, 1) + timedelta(days=n)),
}


def is_smaller(one: Any, other: Any) -> bool:
    """NaN is larger than every number, and as large as itself."""
    if isinstance(one, float):
        if math.isnan(one):
            return False
        return math.isnan(other) or one < other
    return bool(one < other)


def merged(inputs: list[list[Any]], has_ended: list[bool]) -> list[Any]:
    """Everything that can have come out, given all that arrived on every input and which of them have ended."""
    waiting = [list(arrived) for arrived in inputs]
    out = []
    while any(waiting) and all(waiting[i] or has_ended[i] for i in range(len(waiting))):
        best: int | None = None
        for i, queue in enumerate(waiting):
            if queue and (best is None or is_smaller(queue[0].by, waiting[best][0].by)):
                best = i
        out.append(waiting[best].pop(0))
    return out


def paired(inputs: list[list[Any]], has_ended: list[bool]) -> list[Any]:
    """The barrier: as many as the shortest input has."""
    return [tuple(item.number for item in row) for row in zip(*inputs, strict=False)]


Definition = Callable[[list[list[Any]], list[bool]], list[Any]]


def expected(steps: list[tuple[str, int, Any]], width: int, definition: Definition) -> list[str]:
    """For every step (a tuple arrives or an input ends), what it adds to what came out."""
    lines: list[str] = []
    inputs: list[list[Any]] = [[] for _ in range(width)]
    has_ended = [False] * width
    so_far: list[Any] = []
    for what, stream, item in steps:
        if what == "tuple":
            lines.append(line("in", item))
            inputs[stream].append(item)
        else:
            has_ended[stream] = True
        now = definition(inputs, has_ended)
        assert [repr(one) for one in now[: len(so_far)]] == [repr(one) for one in so_far], "what came out stays out"
        lines += [line("out", one) for one in now[len(so_far) :]]
        so_far = now
    return lines


class Row(NamedTuple):
    a: int
    b: int
    c: int


def as_row(a: Any, b: Any, c: Any) -> Row:
    return Row(a.number, b.number, c.number)


# One source whose tuples take different ways: any interleaving, all ends at once ------------------------------------


def one_source(kind: type, rows: list[tuple[Any, int]]) -> tuple[list[Any], list[tuple[str, int, Any]]]:
    items = [kind(by, stream, number) for number, (by, stream) in enumerate(rows)]
    steps = [("tuple", item.stream, item) for item in items]
    return items, [*steps, *[("end", stream, None) for stream in range(3)]]


def run_split(kind: type, items: list[Any], meet: Callable[..., ab.Stream[Any]]) -> list[str]:
    trace = Trace()
    source = ab.from_items(kind, items)
    seen = source.for_each(trace("in"))
    parts = source.split({f"s{n}": lambda item, n=n: item.stream == n for n in range(3)})
    ab.run(seen, meet(*parts).for_each(trace("out")))
    return trace.lines


def check_split(kind: type, how_many: settings) -> None:
    @how_many
    @given(st.lists(st.tuples(VALUES[kind], st.integers(0, 2)), max_size=16))
    def check(rows: list[tuple[Any, int]]) -> None:
        items, steps = one_source(kind, rows)
        got = run_split(kind, items, lambda *parts: ab.merge_by("by", *parts))
        assert got == expected(steps, 3, merged)

    check()


@pytest.mark.parametrize("kind", VALUES)
def test_merge_by_gives_what_all_that_arrived_says(kind: type) -> None:
    check_split(kind, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("kind", VALUES)
def test_merge_by_gives_what_all_that_arrived_says_many_more_times(kind: type) -> None:
    check_split(kind, THOROUGH)


@QUICK
@given(st.lists(st.tuples(st.just(0), st.integers(0, 2)), max_size=20))
def test_a_barrier_gives_what_all_that_arrived_says(rows: list[tuple[int, int]]) -> None:
    items, steps = one_source(ByInt, rows)
    got = run_split(ByInt, items, lambda *parts: ab.barrier(*parts, out=as_row))
    assert got == expected(steps, 3, paired)


# Several sources, drawn alternately: each ends when its next tuple would have been drawn ----------------------------


def drawn_alternately(sources: list[list[Any]]) -> list[tuple[str, int, Any]]:
    steps: list[tuple[str, int, Any]] = []
    open_sources = list(range(len(sources)))
    turn = 0
    while open_sources:
        for stream in list(open_sources):
            if turn < len(sources[stream]):
                steps.append(("tuple", stream, sources[stream][turn]))
            else:
                steps.append(("end", stream, None))
                open_sources.remove(stream)
        turn += 1
    return steps


def check_sources(how_many: settings) -> None:
    @how_many
    @given(st.lists(st.lists(VALUES[ByFloat], max_size=6), min_size=2, max_size=4))
    @example([[], []])
    @example([[math.nan], [], [1.0, 1.0, 0.0]])
    def check(columns: list[list[float]]) -> None:
        sources = [
            [ByFloat(by, stream, number) for number, by in enumerate(column)] for stream, column in enumerate(columns)
        ]
        trace = Trace()
        streams = [ab.from_items(ByFloat, items) for items in sources]
        seen = [stream.for_each(trace("in")) for stream in streams]
        ab.run(*seen, ab.merge_by("by", *streams).for_each(trace("out")))
        assert trace.lines == expected(drawn_alternately(sources), len(sources), merged)

    check()


def test_an_input_that_has_ended_holds_nobody_up() -> None:
    check_sources(QUICK)


@pytest.mark.slow
def test_an_input_that_has_ended_holds_nobody_up_many_more_times() -> None:
    check_sources(THOROUGH)
