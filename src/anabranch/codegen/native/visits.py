"""What each operator does with a tuple, written into a kernel; its consumers follow in place, depth first."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from anabranch.codegen.functions import Refusal, UserFunction, user_function
from anabranch.codegen.inference import Typed, type_class, type_function
from anabranch.codegen.native import expressions, statements, window_visits
from anabranch.codegen.native.bodies import Body, Instance
from anabranch.codegen.native.kernel import Kernel
from anabranch.codegen.native.keyed import find_slot, keep, stored_as_new
from anabranch.codegen.native.records import Record, variables_of
from anabranch.codegen.native.values import ALWAYS, STORABLE, NotNative, Value, none
from anabranch.codegen.types import Type, type_of_attribute, type_of_schema
from anabranch.graph.model import Edge, Operator, StreamId
from anabranch.graph.schema import Schema
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.distinct import Distinct
from anabranch.operators.emissions import output_names
from anabranch.operators.filter import Filter
from anabranch.operators.flat_map import FlatMap
from anabranch.operators.map import Map
from anabranch.operators.process import Process
from anabranch.operators.split import Split
from anabranch.operators.union import Union

_MOST_VISITS = 200  # of operators in one kernel; beyond, compiling it would take longer than it saves


class Visits:
    """Writes the traversal of a part."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.part = kernel.part
        self.records = kernel.records
        self.count = 0
        self.current: Operator | None = None
        self.window_codes: dict[str, window_visits.WindowCode] = {}
        self._fields: dict[str, tuple[Record, dict[str, Value]]] = {}

    # Streams ----------------------------------------------------------------------------------------------------

    def deliver(self, stream: StreamId, value: Value) -> None:
        """A tuple on a stream: to the outside, and to the operators in here in the order they were connected."""
        edges = self.part.consumers(stream)
        before = self.part.consumers_before_leaving(stream)
        for edge in edges[:before]:
            self.visit(edge, value)
        if stream in self.part.outputs:
            self.kernel.write_output(self.part.outputs.index(stream), self.part.schema(stream), value)
        for edge in edges[before:]:
            self.visit(edge, value)

    def emit(self, operator: Operator, port: int, value: Value, node: ast.AST | None = None) -> None:
        """A tuple that an operator gives: as its type says, counted, and on its way."""
        self.current = operator
        normal = self.normal(operator.outputs[port].schema, value)
        self.kernel.read_by(normal)
        stream = StreamId(operator.id, port)
        if self.part.consumers(stream) or stream not in self.part.outputs:  # what only leaves is counted there
            self.kernel.tally(f"emitted_{self.part.operators.index(operator.id)}_{port}")
        self.deliver(stream, normal)
        self.current = operator

    def normal(self, schema: Schema, value: Value) -> Value:
        """As `graph/values.py` normalizes: an int in a float attribute becomes a float, None only where allowed."""
        if value.members is None or value.type.named is not schema.type:
            raise NotNative(f"emits {value.type} where {schema.name} is expected")
        members = {each.name: self._attribute(each.name, type_of_attribute(each.type), value.members[each.name])
                   for each in schema.attributes}  # fmt: skip
        return Value(type_of_schema(schema), members=members, is_stable=value.is_stable)

    def _attribute(self, name: str, wanted: Type, value: Value) -> Value:
        if value.type.kind == "none":
            if not wanted.optional:
                raise NotNative(f"emits None as `{name}`")
            zero = {"float": "0.0", "bool": "False", "str": "-1"}.get(wanted.kind, "0")
            return replace(none(), type=wanted, code=zero)
        if value.has != ALWAYS and not wanted.optional:
            self.kernel.check(expressions.negated(value.has))
            value = value.present()
        if value.type.kind == wanted.kind:
            if wanted.kind == "tuple" and value.column is None:
                raise NotNative(f"makes the nested tuple `{name}`")
            return replace(value, type=wanted)
        if (wanted.kind, value.type.kind) in (("float", "int"), ("float", "bool"), ("int", "bool")):
            function = "np.float64" if wanted.kind == "float" else "np.int64"
            return replace(value, type=wanted, code=f"{function}({value.code})")
        raise NotNative(f"emits {value.type} as `{name}`, which is {wanted}")

    def visit(self, edge: Edge, value: Value) -> None:
        operator = self.part.operator(edge.target)
        self.current = operator
        self.count += 1
        if self.count > _MOST_VISITS:
            raise NotNative("is part of a graph too large to be compiled at once", operator.location)
        self.kernel.writer.line(f"# {operator.id} ({operator.location})")
        definition = operator.definition
        if edge.is_feedback:
            raise NotNative("is fed back", operator.location)
        match definition:
            case Filter(predicate=predicate):
                self.filter(operator, predicate, value)
            case Map(fn=fn):
                self.map(operator, fn, value)
            case FlatMap(fn=fn):
                self.flat_map(operator, fn, value)
            case Process():
                self.process(operator, definition, edge.target_port, value)
            case Split():
                self.split(operator, definition, value)
            case Union():
                self.emit(operator, 0, value)
            case Distinct(window=None):
                self.distinct(operator, definition, value)
            case WindowAggregate():
                window_visits.visit(self, operator, definition, value, edge.target_port)
            case _:
                raise NotNative(f"is a {operator.kind}, which has no native form", operator.location)

    # Functions --------------------------------------------------------------------------------------------------

    def body(self, operator: Operator, fn: Any, value: Value, emit: Any = None) -> Body:
        """The body of a function that is given a tuple."""
        typed = typed_function(operator, fn, (value.type,))
        names = typed.function.parameters
        if typed.function.bound is not None:
            instance = Instance(names[0], {}, is_read_only="assigns attributes of an object that all tuples share")
            return Body(self.kernel, typed, {names[1]: value}, emit, instance)
        return Body(self.kernel, typed, {names[0]: value}, emit)

    def condition(self, operator: Operator, predicate: Any, value: Value) -> str:
        body = self.body(operator, predicate, value)
        return expressions.truth(body, statements.result_of(body), body.node)

    def filter(self, operator: Operator, predicate: Any, value: Value) -> None:
        with self.kernel.writer.block(f"if {self.condition(operator, predicate, value)}:"):
            self.emit(operator, 0, value)

    def map(self, operator: Operator, fn: Any, value: Value) -> None:
        body = self.body(operator, fn, value)
        result = statements.result_of(body)
        if result.has != ALWAYS or result.type.kind == "none":
            raise NotNative("may give None", operator.location)
        self.emit(operator, 0, result)

    def flat_map(self, operator: Operator, fn: Any, value: Value) -> None:
        body = self.body(operator, fn, value, self._emitter(operator))
        statements.emissions_of(body, is_many=True)

    def _emitter(self, operator: Operator) -> Callable[[str | None, Value, ast.AST], None]:
        def emit(output: str | None, value: Value, node: ast.AST) -> None:
            if output is None and operator.outputs[0].name != "out":
                raise NotNative("emits without saying to which output", operator.location)
            if output is not None and output not in output_names(operator):
                raise NotNative(f"emits to '{output}', which is none of its outputs", operator.location)
            self.emit(operator, 0 if output is None else operator.output(output), value, node)

        return emit

    def split(self, operator: Operator, definition: Split, value: Value) -> None:
        if definition.choose is not None:
            raise NotNative("splits by a function that gives a name", operator.location)
        depth = self.kernel.writer.depth
        for port, predicate in enumerate(definition.predicates):
            with_lines = self.condition(operator, predicate, value)
            self.kernel.writer.line(f"if {with_lines}:")
            self.kernel.writer.depth += 1
            self.emit(operator, port, value)
            self.kernel.writer.line("pass")
            self.kernel.writer.depth -= 1
            if port + 1 < len(definition.predicates):
                self.kernel.writer.line("else:")
                self.kernel.writer.depth += 1
        self.kernel.writer.depth = depth

    # State ------------------------------------------------------------------------------------------------------

    def visits_state(self, operator: Operator) -> None:
        """Stores wait until the end of a tuple, so a tuple may reach an operator's state once only."""
        times = self.kernel.visited.get(operator.id, 0)
        if times or self.kernel.loops:
            raise NotNative("may be reached several times by one tuple", operator.location)
        self.kernel.visited[operator.id] = 1

    def process(self, operator: Operator, definition: Process, port: int, value: Value) -> None:
        if definition.factory is None or not definition.methods:
            raise NotNative("has no methods", operator.location)
        self.visits_state(operator)
        for name in ("punctuation", "finish"):
            if hasattr(_class_of(definition.factory), name):
                raise NotNative(f"has a method `{name}`", operator.location)
        typed_cls = typed_operator(operator, definition)
        method = definition.methods[port]
        typed = typed_cls.methods[method]
        names = typed.function.parameters
        record, fields = self.state_of(operator, definition, typed_cls)
        keys = definition.keys[port]
        new = self._initial(fields, typed_cls, typed)
        slot, words = find_slot(self.kernel, record, [_key_value(value, name) for name in keys], new)
        since = self.kernel.writer.position
        instance = Instance(names[0], fields, _class_of(definition.factory))
        body = Body(self.kernel, typed, {names[1]: value}, self._emitter(operator), instance)
        statements.emissions_of(body, is_many=True)
        keep(self.kernel, record, slot, words, since)

    def state_of(self, operator: Operator, definition: Process, typed_cls: Any) -> tuple[Record, dict[str, Value]]:
        known = self._fields.get(operator.id)
        if known is not None:
            return known
        prefix = self.kernel.writer.fresh(operator.id)
        kinds = tuple(_key_kind(operator, port, name) for port in (0,) for name in definition.keys[port])
        record = Record(
            operator.id, prefix, _key_words(kinds), fields=dict(typed_cls.fields), initial=dict(typed_cls.initial)
        )
        fields = {
            name: variables_of(self.kernel, record, kind, f"{prefix}_{name}", (name,))
            for name, kind in typed_cls.fields.items()
        }
        self.records[operator.id] = record
        self._fields[operator.id] = record, fields
        return record, fields

    def _initial(self, fields: dict[str, Value], typed_cls: Any, typed: Typed) -> list[str]:
        """Lines that give a new instance's fields their first values."""
        body = Body(self.kernel, typed, {})
        start = self.kernel.writer.position
        depth, self.kernel.writer.depth = self.kernel.writer.depth, 0
        for name, target in fields.items():
            initial = body.constant(typed_cls.initial[name], body.node) if name in typed_cls.initial else none()
            body.store(target, initial, body.node)
        lines = self.kernel.writer.lines[start:]
        del self.kernel.writer.lines[start:]
        self.kernel.writer.depth = depth
        return lines

    def distinct(self, operator: Operator, definition: Distinct, value: Value) -> None:
        self.visits_state(operator)
        record = self.records.get(operator.id)
        if record is None:
            kinds = tuple(_key_kind(operator, 0, name) for name in definition.key_names)
            record = Record(operator.id, self.kernel.writer.fresh(operator.id), _key_words(kinds), shape="distinct")
            self.records[operator.id] = record
        slot, words = find_slot(self.kernel, record, [_key_value(value, n) for n in definition.key_names], [])
        with self.kernel.writer.block(f"if {slot} < 0:"):
            self.emit(operator, 0, value)
            self.kernel.commit(stored_as_new(self.kernel, record, slot, words))


def _class_of(factory: Any) -> Any:
    while isinstance(factory, functools.partial):
        factory = factory.func
    return factory


def _key_value(value: Value, name: str) -> Value:
    assert value.members is not None
    return value.members[name]


def _key_kind(operator: Operator, port: int, name: str) -> tuple[str, bool]:
    kind = operator.inputs[port].schema[name]
    if kind.kind not in STORABLE:
        raise NotNative(f"has a {kind.kind} as its key", operator.location)
    return kind.kind, kind.optional


def _key_words(kinds: tuple[tuple[str, bool], ...]) -> tuple[str, ...]:
    """The words of a key: one for each attribute, and before an optional one a flag."""
    return tuple(word for kind, optional in kinds for word in (("has", kind) if optional else (kind,)))


# Typing ---------------------------------------------------------------------------------------------------------


def typed_function(operator: Operator, fn: Any, parameters: tuple[Type, ...]) -> Typed:
    found = user_function(fn)
    if isinstance(found, Refusal):
        raise NotNative(found.reason, found.location)
    assert isinstance(found, UserFunction)
    typed = type_function(found, parameters)
    _accept(typed.problems)
    return typed


def typed_operator(operator: Operator, definition: Process) -> Any:
    methods: dict[str, tuple[Type, ...]] = {
        method: (type_of_schema(port.schema),) for method, port in zip(definition.methods, operator.inputs, strict=True)
    }
    found = type_class(definition.factory, methods)
    if isinstance(found, Refusal):
        raise NotNative(found.reason, found.location)
    _accept(found.problems)
    for name in found.fields:
        if not found.fields[name].is_known:
            raise NotNative(f"keeps something unknown in `self.{name}`", operator.location)
    return found


def _accept(problems: tuple[Refusal, ...]) -> None:
    if problems:
        raise NotNative(problems[0].reason, problems[0].location)
