"""Runs a program by the oracle and as a native processing element, and compares them to the last bit."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anabranch.codegen.chunks import Batch, Chunk
from anabranch.codegen.native.assemble import Assembled, assemble
from anabranch.codegen.native.compiled import Compiled, compiled
from anabranch.codegen.native.element import NativeElement
from anabranch.codegen.native.values import NotNative
from anabranch.codegen.part import Part, part_of
from anabranch.codegen.pe import Stopped
from anabranch.dataflow.sources.source_order import draw
from anabranch.engines.sequential import run
from anabranch.errors import RunError
from anabranch.graph.model import Graph, StreamId
from anabranch.operators.base import FINAL, PUNCTUATION
from anabranch.operators.punctuate import Punctuate
from anabranch.operators.sinks.collect import Collect
from anabranch.run import as_program
from tests.codegen.exactness import described, exact

Items = list[tuple[int, Any]]  # the number of an input, and a tuple, a punctuation or the end


@dataclass
class Outcome:
    """What can be seen of a run: tuples by output, an error, and the figures of the operators."""

    outputs: dict[StreamId, list[Any]]
    punctuations: dict[StreamId, list[int]] = field(default_factory=dict)
    ended: list[StreamId] = field(default_factory=list)
    error: RunError | None = None
    figures: dict[str, Any] = field(default_factory=dict)


class Comparison:
    """A program as one native processing element, beside the oracle.

    Operators that make punctuations stay outside: the element is given what they would send. Kernels are compiled once
    for programs that are alike but for their input.
    """

    def __init__(self, *sinks: Any, like: Comparison | None = None, tracks_changes: bool = False) -> None:
        self.tracks_changes = tracks_changes
        self.graph: Graph = as_program(*sinks).graph
        operators = [each for each in self.graph.operators if not each.is_source and not each.is_sink]
        self.part: Part = part_of(
            self.graph, tuple(each.id for each in operators if not isinstance(each.definition, Punctuate))
        )
        self.assembled: Assembled | None = None
        self.refused: NotNative | None = None
        try:
            self.assembled = assemble(self.part, tracks_changes=tracks_changes)
        except NotNative as problem:
            self.refused = problem
        self._compiled: Compiled | None = like and like._compiled

    @property
    def is_native(self) -> bool:
        return self.assembled is not None

    @property
    def source(self) -> str:
        assert self.assembled is not None
        return self.assembled.source

    def element(self, kind: type[NativeElement] = NativeElement) -> NativeElement:
        assert self.assembled is not None, self.refused
        if self._compiled is None:
            self._compiled = compiled(self.part, self.assembled)
        options = {"origins": False, "tracks_changes": self.tracks_changes}
        return kind(self.part, self.assembled, self._compiled, **options)

    # The oracle -------------------------------------------------------------------------------------------------

    def expected(self) -> Outcome:
        """What the oracle gives."""
        error = None
        try:
            result: Any = run(self.graph)
        except RunError as problem:
            error, result = problem, problem.result
        outputs = {stream: result.items(self._sink(stream)) for stream in self.part.outputs}
        figures = {name: result.metrics[name] for name in self.part.operators}
        return Outcome(outputs, error=error, figures=figures)

    def _sink(self, stream: StreamId) -> str:
        """The name under which a stream is collected."""
        targets = [edge.target for edge in self.graph.edges if StreamId(edge.source, edge.source_port) == stream]
        definitions: list[Any] = [self.graph.operator(target).definition for target in targets]
        return next(str(each.name) for each in definitions if isinstance(each, Collect))

    # The element ------------------------------------------------------------------------------------------------

    def items(self) -> Items:
        """What the element is given, in order."""
        return list(self._items())

    def _items(self) -> Iterator[tuple[int, Any]]:
        for source, item in draw(self.graph.sources):
            for stream, each in self._entering(source.id, item):
                yield self.part.inputs.index(stream), each

    def _entering(self, source: str, item: Any) -> Iterator[tuple[StreamId, Any]]:
        if StreamId(source) in self.part.inputs:
            yield StreamId(source), item
        for edge in self.graph.edges:
            definition = self.graph.operator(edge.target).definition
            if edge.source == source and isinstance(definition, Punctuate):
                yield StreamId(edge.target), item
                assert definition.when is not None
                if item is not FINAL and definition.when(item):
                    yield StreamId(edge.target), PUNCTUATION

    def given(
        self, items: Items, cuts: list[int], element: Any = None, between: Callable[[Any], Any] = lambda each: each
    ) -> Outcome:
        """What an element gives that is handed the items in pieces; `between` these it may become another."""
        element = element or self.element()
        outcome = Outcome({stream: [] for stream in self.part.outputs}, figures=element.metrics)
        begin = 0
        try:
            for end in [*cuts, len(items)]:
                self._take(outcome, element.process(self.batch(items[begin:end])))
                begin = end
                element = between(element)
                outcome.figures = element.metrics
        except Stopped as stopped:
            self._take(outcome, stopped.outputs)
            outcome.error = stopped.error
        return outcome

    def batch(self, items: Items) -> Batch:
        chunks = tuple(self._chunk(number, items) for number in range(len(self.part.inputs)))
        return Batch(chunks, np.array([number for number, _ in items], np.uint16) if len(chunks) > 1 else None)

    def _chunk(self, number: int, items: Items) -> Chunk:
        mine = [item for which, item in items if which == number]
        rows: list[Any] = []
        punctuations = []
        for item in mine:
            if item is PUNCTUATION:
                punctuations.append(len(rows))
            elif item is not FINAL:
                rows.append(item)
        schema = self.part.schema(self.part.inputs[number])
        return Chunk.of_rows(schema, rows, punctuations=punctuations, is_last=any(item is FINAL for item in mine))

    def _take(self, outcome: Outcome, chunks: list[Chunk]) -> None:
        for stream, chunk in zip(self.part.outputs, chunks, strict=True):
            rows = outcome.outputs[stream]
            outcome.punctuations.setdefault(stream, []).extend(len(rows) + before for before in chunk.punctuations)
            rows += chunk.rows
            if chunk.is_last:
                outcome.ended.append(stream)


def random_cuts(items: Items, seed: int) -> list[int]:
    """Places to cut: chunks of one item, of all, or of any size."""
    random_ = random.Random(seed)
    match random_.randrange(4):
        case 0:
            return list(range(1, len(items)))
        case 1:
            return []
        case _:
            return sorted(random_.sample(range(len(items) + 1), min(len(items), random_.randrange(1, 12))))


def difference(want: Outcome, got: Outcome) -> str | None:
    """The first thing in which two runs differ."""
    for stream, expected in want.outputs.items():
        given = got.outputs[stream]
        for at, (one, other) in enumerate(zip(expected, given, strict=False)):
            if exact(one) != exact(other):
                return f"tuple {at} of '{stream.operator}' is {other}, not {one}"
        if len(expected) != len(given):
            return f"'{stream.operator}' emits {len(given)} tuples, not {len(expected)}"
    if described(want.error) != described(got.error):
        return f"the error is\n{described(got.error)}\nnot\n{described(want.error)}"
    if want.error is None:
        streams = list(want.outputs)
        if sorted(map(str, got.ended)) != sorted(map(str, streams)):
            return f"{got.ended} have ended, not {streams}"
    for name, figures in want.figures.items():
        if figures != got.figures[name]:
            return f"the figures of '{name}' are {got.figures[name]}, not {figures}"
    return None


def check_same(comparison: Comparison, seeds: int = 3) -> list[str]:
    """Compare with several ways to cut the items into chunks; gives how the runs ended.

    That is `native` where native code took all items, `handed over` where it went on behind some that it could not
    take, or `python`.
    """
    want, items = comparison.expected(), comparison.items()
    forms = []
    for seed in range(seeds):
        cuts = random_cuts(items, seed)
        element = comparison.element()
        problem = difference(want, comparison.given(items, cuts, element))
        assert problem is None, f"cut at {cuts}: {problem}\n{comparison.source}"
        forms.append("handed over" if element.form == "native" and element.notes else element.form)
    return forms
