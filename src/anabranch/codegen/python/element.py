"""A processing element in the Python form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from operator import length_hint
from typing import Any

import numpy as np
import numpy.typing as npt

from anabranch.codegen.chunks import Batch, Chunk
from anabranch.codegen.cut_at_marks import Mark, Tuples, cut_at_marks, readers
from anabranch.codegen.part import Part
from anabranch.codegen.pe import Stopped
from anabranch.codegen.python.counting import Counting
from anabranch.codegen.python.enclosure import ExitMeaning, enclosed, exit_of
from anabranch.codegen.python.failures import Failed, as_failed, find
from anabranch.codegen.python.generator import Generator
from anabranch.codegen.python.slots import SlotWindows
from anabranch.codegen.python.state import BegunOperator, State
from anabranch.codegen.stores.checks import check_store
from anabranch.codegen.stores.forms import read, written
from anabranch.codegen.stores.schema import lacking, schema_of
from anabranch.codegen.stores.store import Store, not_kept_in, with_marks, without_marks
from anabranch.errors import RunError
from anabranch.graph.model import Edge, Graph, Operator
from anabranch.operators.base import PUNCTUATION, Meaning
from anabranch.operators.feedback import Feedback
from anabranch.operators.metrics import OperatorMetrics
from anabranch.operators.process import Process
from anabranch.operators.traversal import Frame, Node, Traversal


class _HotTraversal(Traversal):
    """The oracle's traversal, which hands tuples to generated code wherever there is some."""

    element: PythonElement

    def __init__(self, graph: Graph, metrics: Mapping[str, OperatorMetrics]) -> None:
        super().__init__(graph, metrics)
        # By the id of an edge, which the graph keeps: many tuples come this way from loops, and at punctuations.
        self._arrivals: dict[int, Callable[[Any], Iterable[Any]] | None] = {}

    def _tuple_arrival(self, node: Node, edge: Edge, item: Any) -> Frame:
        if id(edge) not in self._arrivals:
            self._arrivals[id(edge)] = self.element.arrival(edge)
        arrive = self._arrivals[id(edge)]
        if arrive is None:
            return super()._tuple_arrival(node, edge, item)
        return Frame(node, partial(arrive, item), item)

    def _arrival(self, edge: Edge, item: Any) -> list[Frame]:
        if item is PUNCTUATION:
            self._note_mark(self.nodes[edge.target])
        return super()._arrival(edge, item)

    def _finish(self, node: Node) -> list[Frame]:
        self._note_mark(node)
        return super()._finish(node)

    def _note_mark(self, node: Node) -> None:
        """All instances have a turn at a punctuation and at the end, wherever those came from: perhaps from inside."""
        self.element.generator.touched_all |= _works_at_marks(node.operator)

    def _failed(self, frame: Frame, problem: Exception) -> tuple[int, Any] | None:
        if isinstance(problem, Failed):
            raise problem
        try:
            letter = super()._failed(frame, problem)
        except RunError as error:
            raise Failed(error) from None
        if letter is not None and frame.node.meaning is not None:
            frame.node.meaning.sends_letter(frame.during)
        return letter


class PythonElement:
    """One generated function for tuples; punctuations, ends and loops go through the oracle's traversal."""

    form = "python"

    def __init__(self, part: Part, *, origins: bool, tracks_changes: bool) -> None:
        self.part = part
        self.metrics = {operator_id: OperatorMetrics() for operator_id in part.operators}
        graph = enclosed(part)
        figures = {operator.id: self.metrics.get(operator.id) or OperatorMetrics() for operator in graph.operators}
        self._traversal = _HotTraversal(graph, figures)
        self._traversal.element = self
        has_turns = origins and part.has_turns
        self.generator = Generator(
            self._traversal, has_origins=origins, has_turns=has_turns, tracks_changes=tracks_changes
        )
        self._exits = [self._exit(exit_of(stream)) for stream in part.outputs]
        for each in self._exits:
            each.clock, each.has_turns = self.generator.clock if origins else None, has_turns
        for operator_id, node in self._traversal.nodes.items():
            if isinstance(node.meaning, SlotWindows):
                node.meaning.close = partial(self._close, operator_id)
        self._run = self.generator.loop(part.inputs)
        self._generate_for_marks()
        self._counting = Counting(self.generator, figures)
        self._state = State(self.generator)
        self._begun = 0
        self._late = dict.fromkeys(part.operators, 0)  # how many are counted

    @property
    def notes(self) -> list[str]:
        return []

    @property
    def source(self) -> str:
        """The generated text."""
        return self.generator.source

    @property
    def state_names(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """What is saved of each operator, by name, and by whom it is kept."""
        return self._state.names

    def _generate_for_marks(self) -> None:
        """What may be needed at punctuations, ends and in loops, so that nothing is generated while tuples come."""
        for edge in self._traversal.graph.edges:
            source = self._traversal.nodes[edge.source].operator
            is_driven = source.kind != "entry" and not self.generator.is_hot(source.id)
            if self.generator.is_hot(edge.target) and (edge.is_feedback or is_driven or _works_at_marks(source)):
                self.generator.arrival(edge)
        for operator_id, node in self._traversal.nodes.items():
            if isinstance(node.meaning, SlotWindows):
                for during in node.meaning.closes:
                    self.generator.closing(operator_id, during)
        self.generator.is_complete = True

    def _exit(self, operator_id: str) -> ExitMeaning:
        meaning = self._traversal.nodes[operator_id].meaning
        assert isinstance(meaning, ExitMeaning)
        return meaning

    def meaning(self, operator_id: str) -> Meaning:
        """The state of an operator, for the engine that opens and closes sinks."""
        meaning = self._traversal.nodes[operator_id].meaning
        assert meaning is not None
        return meaning

    @property
    def at(self) -> int:
        """The number of the item that is worked on, where origins are asked for."""
        return self.generator.clock[0]

    def process(self, batch: Batch) -> list[Chunk]:
        next_of = readers(batch)
        done = 0  # tuples
        try:
            for each in cut_at_marks(batch):
                if isinstance(each, Mark):
                    self._mark(each)
                else:
                    self._tuples(each, batch, done, next_of)
                    done += each.count
        except Failed as failed:
            raise Stopped(failed.error, self._outputs(), self._begun) from None
        return self._outputs()

    def interrupted(self) -> tuple[int, list[Chunk]]:
        """How many items of a batch had been begun when a KeyboardInterrupt came, and what was emitted before."""
        return self._begun, self._outputs()

    def _mark(self, mark: Mark) -> None:
        self._begun = mark.start + 1
        self.generator.clock[:] = mark.start, 0  # turns there are the same in all channels
        stream = self.part.inputs[mark.input]
        self._traversal.enter(stream.operator, stream.port, mark.item)
        self._traversal.settle()

    def _tuples(self, tuples: Tuples, batch: Batch, done: int, next_of: list[Callable[[], Any]]) -> None:
        self.generator.clock[0] = tuples.start - 1
        turns: npt.NDArray[Any] | None = None
        items: Iterator[Any]
        if len(next_of) == 1:
            assert batch.chunks[0] is not None
            rows = batch.chunks[0].rows
            items = iter(rows if tuples.count == len(rows) else rows[done : done + tuples.count])
        else:
            turns = np.full(tuples.count, tuples.input) if tuples.turns is None else tuples.turns
            items = iter(turns.tolist())
        begun = tuples.count
        try:
            self._run(items, *(next_of if turns is not None else ()))
        except BaseException as problem:
            begun -= length_hint(items)
            self._begun = tuples.start + begun
            if isinstance(problem, Exception):
                raise self._failure(problem) from None
            raise
        finally:
            for number, stream in enumerate(self.part.inputs):
                count = begun if turns is None else int(np.count_nonzero(turns[:begun] == number))
                self._counting.entered(stream, count)

    def arrival(self, edge: Edge) -> Callable[[Any], Iterable[Any]] | None:
        """The step for a tuple that reaches generated code from the traversal; None where there is no such code."""
        if not self.generator.is_hot(edge.target):
            return None
        run, count = self.generator.arrival(edge), self._counting.arrived

        def arrive(item: Any) -> Iterable[Any]:
            count(edge.target)
            try:
                run(item)
            except Exception as problem:
                raise self._failure(problem) from None
            return ()

        return arrive

    def _close(self, operator_id: str, during: str) -> None:
        """Windows give what they hold, although no tuple arrived."""
        try:
            self.generator.closing(operator_id, during)(None)
        except Exception as problem:
            raise self._failure(problem) from None

    def _failure(self, problem: Exception) -> Failed:
        found = find(problem, self.generator.files, self.generator.items)
        self._counting.failed_at(found.places)
        return as_failed(problem, found, self._traversal.graph)

    def _outputs(self) -> list[Chunk]:
        self._counting.add_up()
        self.generator.clock[1] = 0
        for operator_id, metrics in self.metrics.items():
            late = self.meaning(operator_id).late  # others may count there too
            metrics.late += late - self._late[operator_id]
            self._late[operator_id] = late
        return [
            each.taken(self.part.schema(stream)) for stream, each in zip(self.part.outputs, self._exits, strict=True)
        ]

    def go_on(self, begun: Mapping[str, BegunOperator]) -> None:
        """From what another form has begun."""
        self._state.go_on(begun)

    def stores(self) -> dict[str, Store]:
        return {name: self._store(name) for name in self.part.operators}

    def _store(self, operator_id: str) -> Store:
        begun, operator = self._state.begun(operator_id), self.part.operator(operator_id)
        schema = lacking(schema_of(operator), begun.not_kept)
        loop = self._state.loop(operator_id) if isinstance(operator.definition, Feedback) else {}
        return with_marks(read(operator, begun.meaning, schema, begun.ended_inputs, **loop))

    def take_stores(self, stores: Mapping[str, Store]) -> None:
        begun = {}
        for name in self.part.operators:
            if name not in stores:
                continue
            store, operator = stores[name], self.part.operator(name)
            check_store(store, self.part)
            meaning = written(operator, without_marks(store)) if store.schema is not None else None
            begun[name] = BegunOperator(meaning, store.ended_inputs, not_kept_in(store))
            if isinstance(operator.definition, Feedback):
                self._state.begin_loop(name, **{each: store.values[each] for each in ("open_inputs", "is_closed")})
        self._state.go_on(begun)

    def save(self) -> bytes:
        return self._state.save()

    def save_changes(self) -> bytes:
        return self._state.save_changes()

    def restore(self, whole: bytes, changes: Iterable[bytes] = ()) -> None:
        self._state.apply((whole, *changes))

    def catch_up(self, changes: Iterable[bytes]) -> None:
        self._state.apply(changes)


def _works_at_marks(operator: Operator) -> bool:
    """Whether a punctuation or an end may change every instance of a user's class."""
    definition = operator.definition
    if not isinstance(definition, Process):
        return False
    factory = definition.factory
    return not isinstance(factory, type) or any(hasattr(factory, name) for name in ("punctuation", "finish"))
