"""The oracle: section 2 of the design, one tuple at a time, and nothing else.

Take the next source tuple, run it depth-first through the graph to completion, take the next. Every other engine is
right exactly if it gives what this one gives.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, cast

from anabranch.engines.base import Metrics, OperatorMetrics, Result
from anabranch.engines.drawing import Failed, draw
from anabranch.engines.failures import operator_error, unreadable_error
from anabranch.engines.interrupts import Shield, shielded
from anabranch.errors import RunError, in_words
from anabranch.graph.model import Edge, Graph, Operator
from anabranch.graph.traverse import loops
from anabranch.graph.values import Converter, copier, normalizer
from anabranch.operators.base import (
    FINAL,
    PUNCTUATION,
    Emissions,
    Meaning,
    OperatorDefinition,
    SinkMeaning,
    SourceDefinition,
    Step,
    Unreadable,
)
from anabranch.operators.feedback import FeedbackMeaning
from anabranch.operators.sinks.collect import CollectMeaning


def run(graph: Graph, metrics: Metrics | None = None) -> Result:
    """Run a program sequentially; an error or interrupt that stops it carries the result so far."""
    execution = _Execution(graph, metrics or Metrics())
    try:
        execution.run()
    except (RunError, KeyboardInterrupt) as stop:
        stop.result = execution.result()  # type: ignore[union-attr]  # any exception can carry an attribute
        raise
    return execution.result()


_NO_MORE: Final = object()


@dataclass(eq=False)
class _Node:
    """An operator in this run."""

    operator: Operator
    meaning: Meaning | None  # None for sources
    metrics: OperatorMetrics
    normalize: list[Converter]
    copy: list[Converter]
    consumers: list[list[Edge]]  # by output port, in the order they were connected
    ended_inputs: int = 0


@dataclass(eq=False)
class _Frame:
    """Work of one operator that is under way: where its next emission comes from."""

    node: _Node
    step: Step
    item: Any = None
    during: str = "process"
    emissions: Iterator[Any] | None = None

    def next(self) -> Any:
        if self.emissions is None:
            try:
                self.emissions = iter(self.step())
            except StopIteration as problem:  # the user's: for us it would mean that there are no more emissions
                raise RuntimeError("StopIteration") from problem
        return next(self.emissions, _NO_MORE)


@dataclass(eq=False)
class _Loop:
    """Operators that feedback ties together; it ends when what enters it has ended and nothing comes around."""

    members: frozenset[str]
    entries: list[_Node]
    open_inputs: int
    closed: list[_Node] = field(default_factory=list)
    held_ends: list[Edge] = field(default_factory=list)

    @property
    def is_closed(self) -> bool:
        return len(self.closed) == len(self.entries)


class _Execution:
    def __init__(self, graph: Graph, metrics: Metrics) -> None:
        self.graph = graph
        self.metrics = metrics
        self.nodes = {operator.id: self._node(operator) for operator in graph.operators}
        for edge in graph.edges:
            self.nodes[edge.source].consumers[edge.source_port].append(edge)
        self.fed_back: deque[tuple[Edge, Any]] = deque()
        self.loops = [self._loop(members) for members in loops(graph)]
        self.loop_of = {operator_id: loop for loop in self.loops for operator_id in sorted(loop.members)}

    def _node(self, operator: Operator) -> _Node:
        definition = operator.definition
        return _Node(
            operator,
            definition.meaning(operator) if isinstance(definition, OperatorDefinition) else None,
            self.metrics.operators.setdefault(operator.id, OperatorMetrics()),
            normalize=[normalizer(port.schema) for port in operator.outputs],
            copy=[copier(port.schema) for port in operator.outputs],
            consumers=[[] for _ in operator.outputs],
        )

    def _loop(self, members: frozenset[str]) -> _Loop:
        entries = [node for node in self.nodes.values() if _is_loop_entry(node) and node.operator.id in members]
        entering = [edge for edge in self.graph.edges if edge.target in members and edge.source not in members]
        return _Loop(members, entries, open_inputs=len(entering))

    # A run ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        for operator in self.graph.sources:
            cast(SourceDefinition, operator.definition).check(operator)
        sinks = [node.meaning for node in self.nodes.values() if isinstance(node.meaning, SinkMeaning)]
        with shielded() as shield:
            _open(sinks, shield)
            try:
                self._draw_all(shield)
            finally:
                self.metrics.stop()
                with shield:
                    _close(sinks)

    def _draw_all(self, shield: Shield) -> None:
        for operator, item in draw(self.graph.sources):
            with shield:
                node = self.nodes[operator.id]
                if isinstance(item, Failed):
                    raise operator_error(operator, item.cause, None, "reading")
                if item is not FINAL:
                    self.metrics.tuples_in += 1
                self._traverse(_Frame(node, partial(self._source_emissions, node, item), item))
                self._settle()

    def _source_emissions(self, node: _Node, item: Any) -> Emissions:
        if isinstance(item, Unreadable):
            raise unreadable_error(node.operator, item)
        yield 0, item
        if item is FINAL and node.operator.on_error == "dead_letter":
            yield 1, FINAL

    def result(self) -> Result:
        for node in self.nodes.values():
            if node.meaning is not None:
                node.metrics.late = node.meaning.late
        collected = {
            node.operator.definition.name: node.meaning.items  # type: ignore[attr-defined]  # a Collect has a name
            for node in self.nodes.values()
            if isinstance(node.meaning, CollectMeaning)
        }
        return Result(self.graph, self.metrics, collected)

    # Depth first ----------------------------------------------------------------------------------------------

    def _traverse(self, first: _Frame) -> None:
        """Run one item to completion. The stack is the path from the source to where we are."""
        stack = [first]
        while stack:
            frame = stack[-1]
            try:
                emission = frame.next()
                if emission is _NO_MORE:
                    stack.pop()
                    continue
                if callable(emission):
                    stack.append(_Frame(frame.node, emission, frame.item, frame.during))
                    continue
                port, item = emission
                if item is not PUNCTUATION and item is not FINAL:
                    item = frame.node.normalize[port](item)
            except Exception as problem:
                stack.pop()
                port, item = self._failed(frame, problem)
                if item is None:
                    continue
            stack.extend(reversed(self._deliver(frame.node, port, item)))

    def _deliver(self, node: _Node, port: int, item: Any) -> list[_Frame]:
        """What an emission sets off: work at every consumer, in the order they were connected."""
        if item is PUNCTUATION and not node.operator.outputs[port].is_punctuated:
            return []
        is_tuple = item is not PUNCTUATION and item is not FINAL
        if is_tuple:
            node.metrics.emitted += 1
        frames: list[_Frame] = []
        for edge in node.consumers[port]:
            delivered = node.copy[port](item) if is_tuple else item
            if edge.is_feedback:
                if item is not FINAL:
                    self.fed_back.append((edge, delivered))
            elif item is FINAL and self._is_held(edge):
                continue
            else:
                frames += self._arrival(edge, delivered)
        return frames

    def _arrival(self, edge: Edge, item: Any) -> list[_Frame]:
        node, port = self.nodes[edge.target], edge.target_port
        assert node.meaning is not None
        if item is FINAL:
            return self._end_of_input(node, edge)
        if item is PUNCTUATION:
            return [_Frame(node, partial(node.meaning.punctuation, port), during="punctuation")]
        return [_Frame(node, partial(self._process, node, port, item), item)]

    def _process(self, node: _Node, port: int, item: Any) -> Emissions:
        assert node.meaning is not None
        node.metrics.received += 1
        if node.operator.is_sink:
            self.metrics.tuples_out += 1
        return node.meaning.process(port, item)

    def _failed(self, frame: _Frame, problem: Exception) -> tuple[int, Any]:
        """Stop the run, or do what `on_error` of the operator says; then perhaps a dead letter goes out."""
        operator, metrics = frame.node.operator, frame.node.metrics
        error = operator_error(operator, problem, None if operator.is_source else frame.item, frame.during)
        if operator.on_error == "stop":
            raise error
        if operator.on_error == "skip":
            metrics.skipped += 1
            return 0, None
        metrics.dead_letters += 1
        port = operator.output("dead_letter")
        return port, _dead_letter(operator, error, problem, frame.item)

    # Ends -----------------------------------------------------------------------------------------------------

    def _end_of_input(self, node: _Node, edge: Edge) -> list[_Frame]:
        """An input ended; with the last one the operator finishes, and its own streams end."""
        assert node.meaning is not None
        loop = self.loop_of.get(edge.target)
        if loop is not None and edge.source not in loop.members:
            loop.open_inputs -= 1
        if _is_loop_entry(node):
            return []  # the loop ends later, when nothing comes around any more
        node.ended_inputs += 1
        frames = [_Frame(node, partial(node.meaning.end, edge.target_port), during="end")]
        if node.ended_inputs == len(node.operator.inputs):
            frames += self._finish(node)
        return frames

    def _finish(self, node: _Node) -> list[_Frame]:
        assert node.meaning is not None
        ends: Step = partial(_on_every_output, node, FINAL)
        return [_Frame(node, node.meaning.finish, during="finish"), _Frame(node, ends)]

    def _is_held(self, edge: Edge) -> bool:
        """The end of a stream that leaves a loop waits until what `finish` feeds back has been processed."""
        loop = self.loop_of.get(edge.source)
        if loop is None or edge.target in loop.members:
            return False
        loop.held_ends.append(edge)
        return True

    # Loops ----------------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """What was fed back comes before the next source tuple, first in first out; then loops may end."""
        while True:
            if self.fed_back:
                edge, item = self.fed_back.popleft()
                for frame in self._arrival(edge, item):
                    self._traverse(frame)
            elif not any(self._end_loop(loop) for loop in self.loops):
                return

    def _end_loop(self, loop: _Loop) -> bool:
        """One step towards the end of a loop that nothing enters any more; False if there is none to take."""
        if loop.open_inputs:
            return False
        for entry in loop.entries:
            assert isinstance(entry.meaning, FeedbackMeaning)
            if entry.meaning.has_open_round:
                self._traverse(_Frame(entry, entry.meaning.close_round, during="punctuation"))
                return True
        for entry in loop.entries:
            if entry not in loop.closed:
                loop.closed.append(entry)
                self._traverse(_Frame(entry, partial(_on_every_output, entry, FINAL)))
                return True
        ends, loop.held_ends = loop.held_ends, []
        for edge in ends:
            for frame in self._arrival(edge, FINAL):
                self._traverse(frame)
        return bool(ends)


def _is_loop_entry(node: _Node) -> bool:
    return isinstance(node.meaning, FeedbackMeaning)


def _on_every_output(node: _Node, item: Any) -> Iterable[tuple[int, Any]]:
    return [(port, item) for port in range(len(node.operator.outputs))]


def _dead_letter(operator: Operator, error: RunError, problem: Exception, item: Any) -> Any:
    make = operator.outputs[operator.output("dead_letter")].schema.type
    where = getattr(error, "where", None) or str(operator.location)
    if isinstance(item, Unreadable):
        return make(operator.id, where, item.message, item.raw or "")  # type: ignore[call-arg]  # DeadLetter
    return make(operator.id, where, in_words(problem), repr(item))  # type: ignore[call-arg]  # DeadLetter


def _open(sinks: list[SinkMeaning], shield: Shield) -> None:
    """Open all sinks, or none: what stood at a path before stays there if a run never begins."""
    begun: list[SinkMeaning] = []
    try:
        with shield:
            for sink in sinks:
                begun.append(sink)
                sink.open()
    except BaseException:
        for sink in begun:
            sink.discard()
        raise


def _close(sinks: list[SinkMeaning]) -> None:
    """Close every sink, whatever happens; the first problem is the one reported."""
    problems: list[BaseException] = []
    for sink in sinks:
        try:
            sink.close()
        except BaseException as problem:
            problems.append(problem)
    if problems:
        raise problems[0]
