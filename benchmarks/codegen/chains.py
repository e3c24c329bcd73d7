"""Chains of operators, fused and not (paper 002, section 6, Figs. 6 to 8).

A chain of n operators is cut into processing elements of k operators each, which hand chunks to one another; besides
there is what a library without a compiler does, a call per operator and tuple. Operators do as little as can be seen
at the end: they count a hop. All operators of a chain are alike, so that one element stands for all of a length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import anabranch as ab
from anabranch.codegen.chunks import Batch, Chunk
from anabranch.codegen.pe import ProcessingElement
from benchmarks.codegen.elements import NATIVE, PYTHON, Form, element
from benchmarks.codegen.inputs import Data, column_batches, columns_of, row_batches
from benchmarks.codegen.measure import Contestant, Figure, race

LENGTHS = (1, 2, 4, 8, 16, 32)
WIDTHS = (1, 2, 4, 8, 16, 32)  # attributes of 8 bytes
ROUNDS_OF_WORK = (0, 1, 4, 16, 64, 256)
OPERATORS = 16  # of the chains whose tuples or work vary
PER_ELEMENT = (1, 4, 16)
CALLS = "a call per operator"


class Task(NamedTuple):
    rounds: int
    value: float


def hop(t: Any) -> Any:
    return t._replace(hops=t.hops + 1)


def work(task: Task) -> Task:
    value = task.value
    for _ in range(task.rounds):
        value = value * 0.999 + 0.001
    return Task(task.rounds, value)


@dataclass(frozen=True)
class Scale:
    """How many tuples a form is given, how much work of all of them, and how often."""

    tuples: dict[str, int]
    work: dict[str, int]
    repeats: int


FULL = Scale({PYTHON: 32_768, NATIVE: 524_288}, {PYTHON: 4_000_000, NATIVE: 200_000_000}, 3)
QUICK = Scale({PYTHON: 4_096, NATIVE: 65_536}, {PYTHON: 400_000, NATIVE: 20_000_000}, 2)


@dataclass(frozen=True)
class Curve:
    """Tuples per second over what varies, for each way of cutting the chain."""

    title: str
    varies: str
    form: Form
    lines: dict[str, dict[int, Figure]]


class Chain:
    """Operators of one kind over tuples of one type; elements are built once for each length."""

    def __init__(self, type: type[Any], fn: Callable[[Any], Any], form: Form) -> None:
        self.type, self.fn, self.form = type, fn, form
        self._elements: dict[int, ProcessingElement] = {}

    def element(self, length: int) -> ProcessingElement:
        if length not in self._elements:
            stream = ab.from_items(self.type, [])
            for _ in range(length):
                stream = stream.map(self.fn, out=self.type)
            self._elements[length] = element(stream.collect("out"), self.form)
        return self._elements[length]

    def contestants(self, data: Data, length: int, per_element: Iterator[int]) -> Iterator[Contestant]:
        batches = [_unended(each) for each in (row_batches if self.form == PYTHON else column_batches)(data)]
        for size in per_element:
            elements = [self.element(size)] * (length // size)
            run = partial(_through, elements, batches, self.form)
            yield Contestant(_line(size), len(data), run)
        if self.form == PYTHON:
            yield Contestant(CALLS, len(data), partial(_by_calls, self.fn, length, data.merged_rows()))


def _unended(batch: Batch) -> Batch:
    """Elements here stand for several and run several times, so their streams never end."""
    for chunk in batch.chunks:
        assert chunk is not None
        chunk.is_last = False
    return batch


def _line(size: int) -> str:
    return f"{size} per PE"


def _through(elements: list[ProcessingElement], batches: list[Batch], form: Form) -> list[Any]:
    outputs = []
    for batch in batches:
        for each in elements:
            (chunk,) = each.process(batch)
            batch = Batch((chunk,))
        outputs.append(_contents(chunk, form))
    assert all(each.form == form for each in elements), "an element left its form"
    return outputs


def _contents(chunk: Chunk, form: Form) -> Any:
    return chunk.rows if form == PYTHON else chunk.batch


class _Operator:
    """Hands on what its function gives, tuple by tuple."""

    def __init__(self, fn: Callable[[Any], Any], submit: Callable[[Any], None]) -> None:
        self.fn, self.submit = fn, submit

    def process(self, t: Any) -> None:
        self.submit(self.fn(t))


def _by_calls(fn: Callable[[Any], Any], length: int, rows: list[Any]) -> list[Any]:
    outputs: list[Any] = []
    process: Callable[[Any], None] = outputs.append
    for _ in range(length):
        process = _Operator(fn, process).process
    for row in rows:
        process(row)
    return outputs


# The three figures ------------------------------------------------------------------------------------------


def chain_length(form: Form, scale: Scale) -> Curve:
    """Fig. 6: the longer the chain, the more there is to save."""
    wide = wide_type(4)
    hops = Chain(wide, hop, form)
    data = _wide_data(wide, scale.tuples[form])
    lines: dict[str, dict[int, Figure]] = {}
    for length in LENGTHS:
        sizes = (size for size in LENGTHS if size <= length)
        columns = _add(lines, length, hops.contestants(data, length, sizes), scale)
        assert columns[0][0] == columns[0][-1] == (length if form == PYTHON else pa.scalar(length)), (
            "an operator was left out"
        )
    return Curve("Chains of operators", "operators in the chain", form, lines)


def tuple_size(form: Form, scale: Scale) -> Curve:
    """Fig. 7: the larger the tuple, the more is copied where elements meet."""
    lines: dict[str, dict[int, Figure]] = {}
    for width in WIDTHS:
        wide = wide_type(width)
        data = _wide_data(wide, max(scale.tuples[form] // width, 2048))
        _add(lines, width * 8, Chain(wide, hop, form).contestants(data, OPERATORS, iter(PER_ELEMENT)), scale)
    return Curve(f"{OPERATORS} operators, larger tuples", "bytes per tuple", form, lines)


def computation_size(form: Form, scale: Scale) -> Curve:
    """Fig. 8: the more an operator does, the less it matters how it is called."""
    lines: dict[str, dict[int, Figure]] = {}
    tasks = Chain(Task, work, form)
    for rounds in ROUNDS_OF_WORK:
        count = min(scale.tuples[form], max(scale.work[form] // (OPERATORS * max(rounds, 1)), 1024))
        rows = columns_of(Task, rounds=np.full(count, rounds), value=np.linspace(1, 2, count))
        _add(lines, rounds, tasks.contestants(Data((Task,), (rows,)), OPERATORS, iter(PER_ELEMENT)), scale)
    return Curve(f"{OPERATORS} operators, more work in each", "rounds of work per operator", form, lines)


def _add(lines: dict[str, dict[int, Figure]], at: int, contestants: Iterator[Contestant], scale: Scale) -> list[Any]:
    """Time them, if they all give the same tuples; the columns of these."""
    ready = list(contestants)
    columns, *others = [_columns(each.run()) for each in ready]
    assert all(other == columns for other in others), f"chains of {at} give different tuples"
    for name, speeds in race(ready, scale.repeats).items():
        lines.setdefault(name, {})[at] = Figure.of(speeds)
    return columns


def _columns(outputs: list[Any]) -> list[Any]:
    first = outputs[0]
    if isinstance(first, pa.RecordBatch):
        return pa.Table.from_batches(outputs).columns
    rows = outputs if isinstance(first, tuple) else chain.from_iterable(outputs)
    return list(zip(*rows, strict=True))


_WIDE: dict[int, type[Any]] = {}


def wide_type(width: int) -> type[Any]:
    """A NamedTuple of so many attributes of 8 bytes."""
    if width not in _WIDE:
        attributes = [("hops", int), *((f"value{number}", float) for number in range(1, width))]
        _WIDE[width] = NamedTuple(f"Wide{width}", attributes)
    return _WIDE[width]


def _wide_data(wide: type[Any], count: int) -> Data:
    values = np.linspace(0, 1, count)
    columns = {name: np.zeros(count, np.int64) if name == "hops" else values for name in wide._fields}
    return Data((wide,), (columns_of(wide, **columns),))
