"""From the operators of a part to generated functions, made when they are first needed."""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections.abc import Callable
from functools import cached_property, partial
from types import CodeType
from typing import Any, TypeVar

from anabranch.codegen.python.failures import line_of_user
from anabranch.codegen.python.inlines import NotInline
from anabranch.codegen.python.items import Item, is_plain
from anabranch.codegen.python.lines import Line, unpack, unpack_in_header
from anabranch.codegen.python.names import Names
from anabranch.codegen.python.slots import SlotWindows, has_slots, slot_windows
from anabranch.codegen.python.unboxed import Fields, UnboxedInstances, fields_of
from anabranch.codegen.python.unit import Unit
from anabranch.codegen.python.visits import VISITS, inlined_methods, write_unboxed
from anabranch.codegen.python.window_visits import prepare
from anabranch.graph.model import Edge, Operator, StreamId
from anabranch.graph.schema import Schema
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.base import SinkMeaning
from anabranch.operators.failures import GENERATED
from anabranch.operators.process import Process
from anabranch.operators.traversal import Node, Traversal

_ONE_TO_ONE = ("map", "union", "punctuate")  # emissions need no counting: there are as many as tuples
_SMALL = 2  # operators that may be written out twice

_numbers = itertools.count(1)
T = TypeVar("T")
Write = Callable[[Unit, Item], None]


class Generator:
    """The functions of one processing element. They share the state of the operators with the traversal.

    `counts` has the tuples emitted on streams for which that cannot be told otherwise, since it was last emptied.
    """

    def __init__(self, traversal: Traversal, *, has_origins: bool, has_turns: bool, tracks_changes: bool) -> None:
        self.traversal = traversal
        self.has_origins = has_origins
        self.has_turns = has_turns
        self.tracks_changes = tracks_changes
        self.names = Names()
        self.counts: list[int] = []
        self.touched_all = False  # whether any key may have changed since the state was last saved
        self.clock = [0, 0]  # the number of the item that is worked on, where origins are asked for, and of what left
        self.is_complete = False  # whether all is generated that tuples may need
        self.files: dict[str, list[Line]] = {}  # the lines of each generated file
        self.items: dict[str, CodeType] = {}  # the expressions for the tuples that lines are about
        self.fields: dict[str, Fields] = {}  # of operators whose instances are no objects
        self._counters: dict[tuple[str, int], int] = {}
        self._inlined: dict[int, tuple[Any, Any]] = {}
        self._touched: dict[str, dict[Any, None]] = {}
        self._drivers: dict[Edge, Callable[[Any], None]] = {}
        self._functions: dict[Edge | StreamId, str] = {}
        self._waiting: list[tuple[str, Schema, Write]] = []
        shared = {
            "counts": self.counts,
            "clock": self.clock,
            "fed_back": traversal.fed_back,
            "settle": traversal.settle,
        }
        self.names.objects.update(shared)
        for operator in traversal.graph.operators:
            if isinstance(operator.definition, WindowAggregate):
                self._prepare_windows(operator, operator.definition)
            if isinstance(operator.definition, Process):
                self._prepare_instances(operator, operator.definition)
            for port in range(len(operator.outputs)):
                if operator.kind not in ("entry", *_ONE_TO_ONE):
                    self._counters[operator.id, port] = len(self.counts)
                    self.counts.append(0)

    def _prepare_windows(self, operator: Operator, definition: WindowAggregate) -> None:
        if operator.on_error == "stop" and has_slots(definition):
            self.node(operator.id).meaning = slot_windows(operator, definition)
            prepare(self, operator, definition)

    def _prepare_instances(self, operator: Operator, definition: Process) -> None:
        """Do without objects where that makes no difference."""
        methods = inlined_methods(self, operator)
        if operator.on_error != "stop" or not all(method in methods for method in definition.methods):
            return
        schemas = {method: port.schema for method, port in zip(definition.methods, operator.inputs, strict=True)}
        fields = fields_of(definition, schemas)
        if fields is None:
            return
        try:
            for method, schema in schemas.items():
                trial = Unit(self, "trial", has_loop=False, is_trial=True)
                write_unboxed(trial, operator, methods[method], Item(schema, "item"), "key", fields)
        except NotInline:
            return
        self.node(operator.id).meaning = UnboxedInstances(operator, fields)
        self.fields[operator.id] = fields

    @property
    def source(self) -> str:
        """The text of everything generated so far."""
        return "\n\n".join("".join(line.text + "\n" for line in lines) for lines in self.files.values())

    # What units ask for -------------------------------------------------------------------------------------------

    def node(self, operator_id: str) -> Node:
        return self.traversal.nodes[operator_id]

    @property
    def enter(self) -> Callable[[str, int, Any], None]:
        return self.traversal.enter

    def is_hot(self, operator_id: str) -> bool:
        """Whether there is generated code for an operator."""
        node = self.node(operator_id)
        return node.operator.on_error == "stop" and (
            node.operator.kind in VISITS or isinstance(node.meaning, SinkMeaning | SlotWindows)
        )

    @cached_property
    def is_simple(self) -> bool:
        """Whether all work on tuples is in one function: no operator is driven, reached in two ways, or in a loop."""
        graph = self.traversal.graph
        inside = [operator for operator in graph.operators if operator.kind != "entry"]
        targets = [edge.target for edge in graph.edges]
        return (
            not self.traversal.loops
            and len(targets) == len(set(targets))
            and all(self.is_hot(operator.id) and operator.kind != "punctuate" for operator in inside)
        )

    def counter(self, operator_id: str, port: int) -> int | None:
        return self._counters.get((operator_id, port))

    def touched(self, operator_id: str) -> dict[Any, None]:
        """The keys whose state changed since it was last saved."""
        return self._touched.setdefault(operator_id, {})

    def inlined(self, of: Any, make: Callable[[], T]) -> T:
        """What was found out about a function, once."""
        if id(of) not in self._inlined:
            self._inlined[id(of)] = of, make()
        found: T = self._inlined[id(of)][1]
        return found

    def driver(self, edge: Edge) -> Callable[[Any], None]:
        """A function that has an operator without generated code work on a tuple."""
        if edge not in self._drivers:
            self._drivers[edge] = lambda item: self.traversal.arrive(edge, item)
        return self._drivers[edge]

    def is_function(self, edge: Edge) -> bool:
        """Operators that are reached in several ways are not written out several times."""
        into = [each for each in self.traversal.graph.edges if each.target == edge.target]
        return len(into) > 1 and self._size(edge.target) > _SMALL

    def is_large_behind(self, operator_id: str) -> bool:
        return self._size(operator_id) > 1 + _SMALL

    def _size(self, operator_id: str) -> int:
        """How many operators a tuple meets from here on, exits not counted; more than a few are not counted further."""
        waiting, count = [operator_id], 0
        while waiting and count <= 1 + _SMALL:
            node = self.node(waiting.pop())
            count += node.operator.kind != "exit"
            waiting += [edge.target for port in node.consumers for edge in port if not edge.is_feedback]
        return count

    # Functions ----------------------------------------------------------------------------------------------------

    def arrival(self, edge: Edge) -> Callable[[Any], None]:
        """The function for tuples that arrive at an operator from outside of generated code."""
        name = self.arrival_name(edge)
        self._write_waiting()
        function: Callable[[Any], None] = self.names.objects[name]
        return function

    def arrival_name(self, edge: Edge) -> str:
        schema = self.node(edge.target).operator.inputs[edge.target_port].schema
        return self._function(edge, f"arrive_{edge.target}", schema, lambda unit, item: unit.visit(edge, item))

    def stream_name(self, operator_id: str, port: int) -> str:
        """The name of the function for tuples that an operator emits."""
        schema = self.node(operator_id).operator.outputs[port].schema
        write: Write = lambda unit, item: unit.deliver(operator_id, port, item)  # noqa: E731
        return self._function(StreamId(operator_id, port), f"emit_{operator_id}", schema, write)

    def closing(self, operator_id: str, during: str) -> Callable[[Any], None]:
        """The function that emits what the windows of an operator hold; its argument means nothing."""
        schema = self.node(operator_id).operator.inputs[0].schema
        key = StreamId(f"{operator_id}, {during}")
        name = self._function(key, f"close_{operator_id}", schema, lambda unit, _: unit.close(operator_id, during))
        self._write_waiting()
        function: Callable[[Any], None] = self.names.objects[name]
        return function

    def _function(self, key: Edge | StreamId, hint: str, schema: Schema, write: Write) -> str:
        if key not in self._functions:
            self._functions[key] = self.names.new(hint)
            self._waiting.append((self._functions[key], schema, write))
        return self._functions[key]

    def _write_waiting(self) -> None:
        while self._waiting:
            name, schema, write = self._waiting.pop(0)
            unit = Unit(self, name, has_loop=False)
            unit.lines.depth = 1
            write(unit, Item(schema, "item"))
            self._compile(unit, f"def {name}(item):", [])

    def loop(self, inputs: tuple[StreamId, ...]) -> Callable[..., None]:
        """The function for the tuples of all inputs: of one, or in turns."""
        name = self.names.new("run")
        unit = Unit(self, name, has_loop=True)
        unit.is_tail = not self.traversal.loops
        lines = unit.lines
        lines.depth = 1
        lines.add("try:")
        lines.depth = 2
        readers = [self.names.new("next") for _ in inputs]
        with lines.block("for row in rows:" if len(inputs) == 1 else "for turn in turns:"):
            if self.has_origins:
                lines.add("clock[0] += 1")
            for number, stream in enumerate(inputs):
                if len(inputs) == 1:
                    self._entry(unit, stream)
                    continue
                test = f"{'if' if number == 0 else 'elif'} turn == {number}:" if number + 1 < len(inputs) else "else:"
                with lines.block(test):
                    lines.add(f"row = {readers[number]}()")
                    self._entry(unit, stream)
            if self.traversal.loops:
                with lines.block("if fed_back:"):
                    lines.add("settle()")
        lines.depth = 1
        with lines.block("finally:"):
            for line in unit.epilogue:
                lines.add(line)
            for counter, local in unit.counters.items():
                lines.add(f"counts[{counter}] += {local}")
        parameters = ["rows"] if len(inputs) == 1 else ["turns", *readers]
        self._write_waiting()
        start = [f"{local} = 0" for local in unit.counters.values()]
        self._compile(unit, f"def {name}({', '.join(parameters)}):", start)
        function: Callable[..., None] = self.names.objects[name]
        return function

    def _entry(self, unit: Unit, stream: StreamId) -> None:
        schema, begin = self._schema(stream), len(unit.lines.lines)
        unit.deliver(stream.operator, stream.port, Item(schema, "row"))
        if len(unit.lines.lines) == begin:
            unit.lines.add("pass")  # nobody takes them
        elif is_plain(schema.type):
            unpack(unit.lines, begin, "row", len(schema.names))
            unpack_in_header(unit.lines, begin, "row", lambda parts: _made(schema, parts, self.names))

    def _schema(self, stream: StreamId) -> Schema:
        return self.node(stream.operator).operator.outputs[stream.port].schema

    def _compile(self, unit: Unit, header: str, start: list[str]) -> None:
        for operator_id, local in unit.appends.items():
            exit_ = self.names.constant(self.node(operator_id).meaning, "exit")
            start.append(f"{local} = {exit_}.left.rows.append")
        lines = [Line(header), *[Line(f"    {text}") for text in [*start, *unit.prologue]], *unit.lines.lines]
        self.define(unit.name, lines if len(lines) > 1 else [*lines, Line("    pass")])

    def define(self, name: str, lines: list[Line]) -> None:
        """Compile a function, which then is among the objects that generated code can name."""
        assert not self.is_complete, f"{name} is generated while tuples come"
        text = "".join(line.text + "\n" for line in lines)
        file = f"<anabranch: {self.traversal.graph.name}, {name}, {next(_numbers)}>"
        self.files[file] = lines
        for item in dict.fromkeys(line.place.item for line in lines if line.place is not None):
            if item not in self.items:
                self.items[item] = compile(item, file, "eval", dont_inherit=True)
        exec(compile(text, file, "exec"), self.names.objects)
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
        GENERATED[file] = partial(line_of_user, lines)
        weakref.finalize(self, _forget, file)


def _made(schema: Schema, parts: list[str], names: Names) -> str:
    return Item(schema, None, dict(enumerate(parts))).made(names)


def _forget(file: str) -> None:
    GENERATED.pop(file, None)
    linecache.cache.pop(file, None)
