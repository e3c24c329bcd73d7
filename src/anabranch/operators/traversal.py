"""Depth-first order: how one item runs through a graph to completion (design, section 2).

The oracle is this, and the order in which sources are drawn from. Generated code does the same work faster, and leaves
to this what is rare: punctuations, ends, loops, and operators without generated code of their own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from anabranch.graph.model import Edge, Graph, Operator
from anabranch.graph.traverse import loops
from anabranch.graph.values import Converter, copier, normalizer
from anabranch.operators.base import FINAL, PUNCTUATION, Emissions, Meaning, OperatorDefinition, Step
from anabranch.operators.failures import after_failure
from anabranch.operators.feedback import FeedbackMeaning
from anabranch.operators.metrics import OperatorMetrics

_NO_MORE: Final = object()


@dataclass(eq=False)
class Node:
    """An operator in this run."""

    operator: Operator
    meaning: Meaning | None  # None for sources
    metrics: OperatorMetrics
    normalize: list[Converter]
    copy: list[Converter]
    consumers: list[list[Edge]]  # by output port, in the order they were connected
    ended_inputs: int = 0


@dataclass(eq=False)
class Frame:
    """Work of one operator that is under way: where its next emission comes from."""

    node: Node
    step: Step | Callable[[], Iterable[Frame]]
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
class Loop:
    """Operators that feedback ties together; it ends when what enters it has ended and nothing comes around."""

    members: frozenset[str]
    entries: list[Node]
    open_inputs: int
    closed: list[Node] = field(default_factory=list)
    held_ends: list[Edge] = field(default_factory=list)


class Traversal:
    """The operators of a graph with their state. `metrics` has an entry for each of them."""

    def __init__(self, graph: Graph, metrics: Mapping[str, OperatorMetrics]) -> None:
        self.graph = graph
        self.nodes = {operator.id: _node(operator, metrics[operator.id]) for operator in graph.operators}
        for edge in graph.edges:
            self.nodes[edge.source].consumers[edge.source_port].append(edge)
        self.fed_back: deque[tuple[Edge, Any]] = deque()
        self.loops = [self._loop(members) for members in loops(graph)]
        self.loop_of = {operator_id: loop for loop in self.loops for operator_id in sorted(loop.members)}

    def _loop(self, members: frozenset[str]) -> Loop:
        entries = [node for node in self.nodes.values() if _is_loop_entry(node) and node.operator.id in members]
        entering = [edge for edge in self.graph.edges if edge.target in members and edge.source not in members]
        return Loop(members, entries, open_inputs=len(entering))

    # Depth first ----------------------------------------------------------------------------------------------

    def traverse(self, first: Frame) -> None:
        """Run one item to completion. The stack is the path from the source to where we are."""
        self._run([first])

    def enter(self, operator_id: str, port: int, item: Any) -> None:
        """The same for an item that leaves an operator whose own work is not done here."""
        self._run(self._deliver(self.nodes[operator_id], port, item)[::-1])

    def arrive(self, edge: Edge, item: Any) -> None:
        """The same for a tuple that arrives at an operator."""
        self._run(self._arrival(edge, item))

    def _run(self, stack: list[Frame]) -> None:
        while stack:
            frame = stack[-1]
            try:
                emission = frame.next()
                if emission is _NO_MORE:
                    stack.pop()
                    continue
                if isinstance(emission, Frame):
                    stack.append(emission)
                    continue
                if callable(emission):
                    stack.append(Frame(frame.node, emission, frame.item, frame.during))
                    continue
                port, item = emission
                if item is not PUNCTUATION and item is not FINAL:
                    item = frame.node.normalize[port](item)
            except Exception as problem:
                stack.pop()
                letter = self._failed(frame, problem)
                if letter is None:
                    continue
                port, item = letter
            stack.extend(reversed(self._deliver(frame.node, port, item)))

    def _deliver(self, node: Node, port: int, item: Any) -> list[Frame]:
        """What an emission sets off: work at every consumer, in the order they were connected."""
        if item is PUNCTUATION and not node.operator.outputs[port].is_punctuated:
            return []
        is_tuple = item is not PUNCTUATION and item is not FINAL
        if is_tuple:
            node.metrics.emitted += 1
        frames: list[Frame] = []
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

    def _arrival(self, edge: Edge, item: Any) -> list[Frame]:
        node, port = self.nodes[edge.target], edge.target_port
        assert node.meaning is not None
        if item is FINAL:
            return [Frame(node, partial(self._end_of_input, node, edge), during="end")]
        if item is PUNCTUATION:
            return [Frame(node, partial(node.meaning.punctuation, port), during="punctuation")]
        return [self._tuple_arrival(node, edge, item)]

    def _tuple_arrival(self, node: Node, edge: Edge, item: Any) -> Frame:
        return Frame(node, partial(_process, node, edge.target_port, item), item)

    def _failed(self, frame: Frame, problem: Exception) -> tuple[int, Any] | None:
        return after_failure(frame.node.operator, frame.node.metrics, problem, frame.item, frame.during)

    # Ends -----------------------------------------------------------------------------------------------------

    def _end_of_input(self, node: Node, edge: Edge) -> Iterable[Frame]:
        """An input ended; with the last one the operator finishes, and its own streams end.

        That is when the end arrives, not when it is sent: where a stream goes to several consumers, the others come
        first, and another way may lead here from them.
        """
        assert node.meaning is not None
        loop = self.loop_of.get(edge.target)
        if loop is not None and edge.source not in loop.members:
            loop.open_inputs -= 1
        if _is_loop_entry(node):
            return []  # the loop ends later, when nothing comes around any more
        node.ended_inputs += 1
        ended = Frame(node, partial(node.meaning.end, edge.target_port), during="end")
        return [ended, *(self._finish(node) if node.ended_inputs == len(node.operator.inputs) else [])]

    def _finish(self, node: Node) -> list[Frame]:
        assert node.meaning is not None
        ends: Step = partial(_on_every_output, node, FINAL)
        return [Frame(node, node.meaning.finish, during="finish"), Frame(node, ends)]

    def _is_held(self, edge: Edge) -> bool:
        """The end of a stream that leaves a loop waits until what `finish` feeds back has been processed."""
        loop = self.loop_of.get(edge.source)
        if loop is None or edge.target in loop.members:
            return False
        loop.held_ends.append(edge)
        return True

    # Loops ----------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """What was fed back comes before the next source tuple, first in first out; then loops may end."""
        while True:
            if self.fed_back:
                edge, item = self.fed_back.popleft()
                for frame in self._arrival(edge, item):
                    self.traverse(frame)
            elif not any(self._end_loop(loop) for loop in self.loops):
                return

    def _end_loop(self, loop: Loop) -> bool:
        """One step towards the end of a loop that nothing enters any more; False if there is none to take."""
        if loop.open_inputs:
            return False
        for entry in loop.entries:
            assert isinstance(entry.meaning, FeedbackMeaning)
            if entry.meaning.has_open_round:
                self.traverse(Frame(entry, entry.meaning.close_round, during="punctuation"))
                return True
        for entry in loop.entries:
            if entry not in loop.closed:
                loop.closed.append(entry)
                self.traverse(Frame(entry, partial(_on_every_output, entry, FINAL)))
                return True
        ends, loop.held_ends = loop.held_ends, []
        for edge in ends:
            for frame in self._arrival(edge, FINAL):
                self.traverse(frame)
        return bool(ends)


def _node(operator: Operator, metrics: OperatorMetrics) -> Node:
    definition = operator.definition
    return Node(
        operator,
        definition.meaning(operator) if isinstance(definition, OperatorDefinition) else None,
        metrics,
        normalize=[normalizer(port.schema) for port in operator.outputs],
        copy=[copier(port.schema) for port in operator.outputs],
        consumers=[[] for _ in operator.outputs],
    )


def _process(node: Node, port: int, item: Any) -> Emissions:
    assert node.meaning is not None
    node.metrics.received += 1
    return node.meaning.process(port, item)


def _is_loop_entry(node: Node) -> bool:
    return isinstance(node.meaning, FeedbackMeaning)


def _on_every_output(node: Node, item: Any) -> Iterable[tuple[int, Any]]:
    return [(port, item) for port in range(len(node.operator.outputs))]
