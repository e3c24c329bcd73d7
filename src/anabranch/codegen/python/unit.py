"""One generated function: the depth-first traversal of what arrives on a stream, written out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from anabranch.codegen.python.items import Item
from anabranch.codegen.python.lines import Lines, Place
from anabranch.codegen.python.registers import Registers
from anabranch.codegen.python.visits import visit
from anabranch.codegen.python.window_visits import write_closing
from anabranch.graph.model import Edge

if TYPE_CHECKING:
    from anabranch.codegen.python.generator import Generator

_DEEPEST = 40  # blocks
_MOST_LOOPS = 12
_LONGEST_PATH = 30  # operators

_WITHOUT_REST = ("filter", "map", "union")  # whose work is done when their tuple goes on


class Unit:
    """Writes the code of one function.

    What is counted per tuple is kept in locals inside a loop (`has_loop`), and added up when it is left. A trial is
    only to see whether an operator can be written.
    """

    def __init__(self, generator: Generator, name: str, *, has_loop: bool, is_trial: bool = False) -> None:
        self.generator = generator
        self.names = generator.names
        self.name = name
        self.lines = Lines()
        self.has_loop = has_loop
        self.is_trial = is_trial
        self.counters: dict[int, str] = {}
        self.appends: dict[str, str] = {}
        self.registers: dict[str, Registers] = {}  # locals that hold state, by operator
        self.prologue: list[str] = []
        self._getters: dict[str, str] = {}
        self.epilogue: list[str] = []
        self._pending: tuple[Edge, ...] = ()
        self._path: list[str] = []
        self._during = "process"
        self.is_tail = False  # whether nothing follows in the loop: then `continue` is the end of a tuple

    @property
    def keeps_locals(self) -> bool:
        """Whether state may be kept in locals: nothing but this loop works on it while it runs."""
        return self.has_loop and self.generator.is_simple

    def deliver(self, operator_id: str, port: int, item: Item) -> None:
        """What an emission of an operator sets off: work at every consumer, in the order they were connected."""
        generator = self.generator
        if self.is_trial:
            return
        counter = generator.counter(operator_id, port)
        if counter is not None:
            self._count(counter)
        edges = generator.node(operator_id).consumers[port]
        copies = self._copies(operator_id, port, item, len(edges))
        outer, is_tail = self._pending, self.is_tail
        for number, edge in enumerate(edges):
            self._pending = (*outer, *edges[number + 1 :])
            self.is_tail = is_tail and edge is edges[-1]
            self.arrive(edge, copies[number])
        self._pending, self.is_tail = outer, is_tail

    def _count(self, counter: int) -> None:
        if self.has_loop:
            self.lines.add(f"{self.counters.setdefault(counter, self.names.new('n'))} += 1")
        else:
            self.lines.add(f"counts[{counter}] += 1")

    def _copies(self, operator_id: str, port: int, item: Item, count: int) -> list[Item]:
        """Lists are copied for every consumer, before the first of them gets to work."""
        if not item.schema.has_lists or count < 2:
            return [item] * count
        copy = self.names.constant(self.generator.node(operator_id).copy[port], "copy")
        copies = [item]
        for _ in range(count - 1):
            name = self.names.new(item.schema.name.lower())
            self.lines.add(f"{name} = {copy}({item.tuple(self.lines, self.names)})")
            copies.append(Item(item.schema, name))
        return copies

    def arrive(self, edge: Edge, item: Item) -> None:
        """A tuple reaches an operator."""
        generator = self.generator
        with self.at(edge.target, item):
            if edge.is_feedback:
                constant = self.names.constant(edge, "edge")
                self.lines.add(f"fed_back.append(({constant}, {item.tuple(self.lines, self.names)}))")
            elif not generator.is_hot(edge.target):
                drive = self.names.constant(generator.driver(edge), f"drive_{edge.target}")
                self.lines.add(f"{drive}({item.tuple(self.lines, self.names)})")
            elif generator.is_function(edge) or self._is_deep():
                self.lines.add(f"{generator.arrival_name(edge)}({item.tuple(self.lines, self.names)})")
            else:
                self.visit(edge, item)

    def _is_deep(self) -> bool:
        """Python limits how deep blocks, and above all loops, may be nested."""
        return self.lines.depth > _DEEPEST or self.lines.loops > _MOST_LOOPS or len(self._path) > _LONGEST_PATH

    def visit(self, edge: Edge, item: Item) -> None:
        """The work of an operator, in place."""
        operator = self.generator.node(edge.target).operator
        self._path.append(edge.target)
        outer, self._during = self._during, "process"
        is_tail, self.is_tail = self.is_tail, self.is_tail and operator.kind in _WITHOUT_REST
        if operator.kind != "exit":
            self.lines.comment(f"{operator.kind} '{operator.id}', {operator.location}")
        with self.at(edge.target, item):
            visit(self, edge, item)
        self._path.pop()
        self._during, self.is_tail = outer, is_tail

    def getter(self, held: str) -> str:
        """How to look into a dict: a loop has a local for that."""
        if not self.has_loop:
            return f"{held}.get"
        if held not in self._getters:
            self._getters[held] = self.names.new(f"get_{held.removeprefix('instances_of_')}")
            self.prologue.append(f"{self._getters[held]} = {held}.get")
        return self._getters[held]

    def close(self, operator_id: str, during: str) -> None:
        """What the windows of an operator hold goes on, although no tuple arrived."""
        self._during = during
        with self.at(operator_id, Item(self.generator.node(operator_id).operator.inputs[0].schema, "None")):
            write_closing(self, operator_id)

    @contextmanager
    def at(self, operator_id: str, item: Item, *, has_emitted: bool = False) -> Iterator[None]:
        """Lines for the work of an operator on a tuple."""
        place = Place(operator_id, item.made(self.names), self._during, self._pending, has_emitted)
        with self.lines.at(place):
            yield

    def attempt(self, write: Callable[[], None], refused: type[Exception]) -> bool:
        """Whether something could be written; nothing of it stays if not."""
        before = len(self.lines.lines), dict(self.counters), self._pending, list(self._path)
        depth, loops = self.lines.depth, self.lines.loops
        try:
            write()
        except refused:
            del self.lines.lines[before[0] :]
            self.counters, self._pending, self._path = before[1], before[2], before[3]
            self.lines.depth, self.lines.loops = depth, loops
            return False
        return True
