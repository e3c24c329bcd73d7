"""The pipelines against their rivals: every answer is compared with the oracle's, then all are timed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

import pyarrow as pa

from benchmarks.codegen.bytewax_flows import batches_of
from benchmarks.codegen.contest import Output, Pipeline
from benchmarks.codegen.elements import NATIVE, PYTHON, Form, Missing, Runner, oracle
from benchmarks.codegen.inputs import Data, column_batches, row_batches
from benchmarks.codegen.measure import Contestant, Speeds, race

# The names of contestants. A kernel runs over the chunks that native code gets, and over everything as one array.
LOOP, KERNEL, KERNEL_WHOLE, BYTEWAX = "Python loop", "numba loop", "numba loop, one array", "Bytewax"


@dataclass(frozen=True)
class Sizes:
    """In tuples: what is compared with the oracle, and what each kind of contestant is timed on."""

    check: int = 20_000
    native: int = 4_000_000
    python: int = 300_000
    json: int = 100_000
    bytewax: int = 50_000
    rounds: int = 11


QUICK = Sizes(native=1_000_000, python=60_000, json=20_000, bytewax=10_000, rounds=3)


@dataclass(frozen=True)
class Entry:
    """A contestant before it has its input.

    prepare: from the data to its own form of them
    run: from that to its own form of the output
    rows: from that to the tuples, to compare
    is_ordered: whether it promises the order of the program
    """

    name: str
    tuples: int
    prepare: Callable[[Data], Any]
    run: Callable[[Any], Any]
    rows: Callable[[Any], list[Any]]
    rewind: Callable[[], None] = lambda: None
    is_ordered: bool = True


@dataclass
class Outcome:
    pipeline: Pipeline
    speeds: dict[str, Speeds]
    tuples: dict[str, int]
    missing: dict[str, str] = field(default_factory=dict)


def contest(pipeline: Pipeline, sizes: Sizes) -> Outcome:
    missing: dict[str, str] = {}
    entries = list(_entries(pipeline, sizes, missing))
    _check(pipeline, entries, pipeline.data(sizes.check))
    contestants = _ready(pipeline, entries)
    speeds = race(contestants, sizes.rounds)
    return Outcome(pipeline, speeds, {each.name: each.tuples for each in contestants}, missing)


def _ready(pipeline: Pipeline, entries: list[Entry]) -> list[Contestant]:
    """Give them their input and run them once; those of equal size must agree on all of their output."""
    whole = pipeline.data(max(each.tuples for each in entries))
    firsts = {count: whole.first(count) for count in dict.fromkeys(each.tuples for each in entries)}
    answers: dict[int, list[Any]] = {}
    contestants = []
    for each in entries:
        given = each.prepare(firsts[each.tuples])
        each.rewind()
        found = each.rows(each.run(given))
        _compare(pipeline, each, found, answers.setdefault(each.tuples, found), "another contestant")
        contestants.append(Contestant(each.name, each.tuples, partial(each.run, given), each.rewind))
    return contestants


def _entries(pipeline: Pipeline, sizes: Sizes, missing: dict[str, str]) -> Iterator[Entry]:
    count = sizes.python if pipeline.is_native else sizes.json
    if pipeline.kernel is not None:
        whole = partial(column_batches, size=max(sizes.native, sizes.check))
        yield from _form(pipeline, NATIVE, sizes.native, column_batches, missing)
        yield Entry(KERNEL, sizes.native, column_batches, pipeline.kernel, _rows_of_batches)
        yield Entry(KERNEL_WHOLE, sizes.native, whole, pipeline.kernel, _rows_of_batches)
    yield from _form(pipeline, PYTHON, count, row_batches, missing)
    yield Entry(LOOP, count, Data.merged_rows, pipeline.python_loop, list)
    yield Entry(
        BYTEWAX, sizes.bytewax, lambda data: batches_of(data.merged_rows()), pipeline.bytewax, list, is_ordered=False
    )


def _form(
    pipeline: Pipeline, form: Form, tuples: int, prepare: Callable[[Data], Any], missing: dict[str, str]
) -> Iterator[Entry]:
    empty: list[list[Any]] = [[] for _ in pipeline.data(1).streams]
    try:
        runner = Runner(pipeline.program(*empty), form)
    except Missing as reason:
        missing[form] = str(reason)
        return
    rows = partial(_rows_of_outputs, form)
    yield Entry(form, tuples, prepare, runner, rows, runner.rewind)


def _rows_of_outputs(form: Form, outputs: list[Any]) -> list[Any]:
    if form == PYTHON:
        return list(chain.from_iterable(outputs))
    return _rows_of_batches(outputs)


def _rows_of_batches(outputs: Output) -> list[Any]:
    return list(chain.from_iterable(zip(*map(pa.Array.to_pylist, batch.columns), strict=True) for batch in outputs))


# The answers ------------------------------------------------------------------------------------------------


def _check(pipeline: Pipeline, entries: list[Entry], data: Data) -> None:
    """Compare with the oracle, in order where that is promised, types and bits included."""
    expected = oracle(pipeline.program, data.rows())
    assert expected, f"{pipeline.name} gives nothing to compare"
    for each in entries:
        each.rewind()
        _compare(pipeline, each, each.rows(each.run(each.prepare(data))), expected, "the oracle")


def _compare(pipeline: Pipeline, entry: Entry, found: list[Any], expected: list[Any], whose: str) -> None:
    # What `repr` shows of an attribute are its type and its bits.
    one, other = ([tuple(map(repr, row)) for row in rows] for rows in (found, expected))
    if not entry.is_ordered:
        one, other = sorted(one), sorted(other)
    if one != other:
        at = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
        raise AssertionError(
            f"{entry.name} on {pipeline.name} differs from {whose} at output {at}: {one[at : at + 1]} instead of "
            f"{other[at : at + 1]} ({len(one)} and {len(other)} outputs)"
        )
