"""The work of each kind of operator on a tuple, written into the traversal."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from anabranch.codegen.python.bodies import Body
from anabranch.codegen.python.emitting import Emitter
from anabranch.codegen.python.functions import inline_function, inline_methods
from anabranch.codegen.python.inlines import Inline, NotInline
from anabranch.codegen.python.items import Item
from anabranch.codegen.python.lines import Code, joined
from anabranch.codegen.python.slots import SlotWindows
from anabranch.codegen.python.unboxed import Fields
from anabranch.codegen.python.values import key_of
from anabranch.codegen.python.window_visits import visit_windows
from anabranch.errors import PlainProblem
from anabranch.graph.model import Edge, Operator
from anabranch.operators.base import PUNCTUATION
from anabranch.operators.filter import Filter
from anabranch.operators.flat_map import FlatMap
from anabranch.operators.map import Map
from anabranch.operators.process import Process
from anabranch.operators.punctuate import Punctuate
from anabranch.operators.split import Split

if TYPE_CHECKING:
    from anabranch.codegen.python.generator import Generator
    from anabranch.codegen.python.unit import Unit

Visit = Callable[["Unit", Edge, Item], None]


def visit(unit: Unit, edge: Edge, item: Item) -> None:
    """The code for a tuple that reaches an operator."""
    node = unit.generator.node(edge.target)
    if isinstance(node.meaning, SlotWindows):
        visit_windows(unit, edge, item)
    else:
        VISITS.get(node.operator.kind, _sink)(unit, edge, item)


def _operator(unit: Unit, edge: Edge) -> Operator:
    return unit.generator.node(edge.target).operator


def _emitter(unit: Unit, operator: Operator, *, is_routed: bool = True) -> Emitter:
    return Emitter(operator, unit.lines, unit.names, partial(unit.deliver, operator.id), is_routed=is_routed)


# Stateless ------------------------------------------------------------------------------------------------------


def condition(unit: Unit, fn: Any, item: Item) -> Code:
    """An expression for what a predicate says."""
    code = unit.generator.inlined(fn, lambda: inline_function(fn, item.schema))
    found: list[Code] = []

    def write() -> None:
        assert code is not None
        body = Body(code, [item], unit.lines, unit.names)
        match code.body:
            case [ast.Return(value=ast.expr() as value)]:
                found.append(body.expression(value))
                return
        name = unit.names.new("holds")
        body.write(
            emit=_never,
            at_return=lambda inner, value: unit.lines.add(joined(f"{name} = ", inner.expression(value))),
            at_end=lambda: unit.lines.add(f"{name} = None"),
        )
        found.append(Code(name))

    known = item.whole, dict(item.fields)
    if code is not None and not code.is_generator and unit.attempt(write, NotInline):
        return found[0]
    item.whole, item.fields = known
    return Code(f"{unit.names.constant(fn, _name(fn))}({item.tuple(unit.lines, unit.names)})")


def _never(body: Body, value: ast.expr) -> None:
    raise NotInline


def _name(fn: Any) -> str:
    name = getattr(fn, "__name__", type(fn).__name__)
    return "function" if name == "<lambda>" else name


def _filter(unit: Unit, edge: Edge, item: Item) -> None:
    operator = _operator(unit, edge)
    test = condition(unit, cast(Filter, operator.definition).predicate, item)
    if unit.is_tail:
        with unit.lines.block("if not (", test, "):"):
            unit.lines.add("continue")
        _emitter(unit, operator).again(item)
        return
    with unit.lines.block("if ", test, ":"):
        _emitter(unit, operator).again(item.fork())


def _split(unit: Unit, edge: Edge, item: Item) -> None:
    operator = _operator(unit, edge)
    definition = cast(Split, operator.definition)
    if definition.choose is None:
        _first_that_holds(unit, operator, item, 0)
        return
    name = unit.names.new("name")
    choose = unit.names.constant(definition.choose, _name(definition.choose))
    unit.lines.add(f"{name} = {choose}({item.tuple(unit.lines, unit.names)})")
    with unit.lines.block(f"if {name} is not None:"):
        for port, each in enumerate(definition.names):
            with unit.lines.block(f"{'if' if port == 0 else 'elif'} {name} == {each!r}:"):
                _emitter(unit, operator).again(item.fork(), port)
        with unit.lines.block("else:"):
            problem = unit.names.constant(partial(_no_stream, definition.names), "no_stream")
            unit.lines.add(f"raise {problem}({name})")


def _no_stream(names: tuple[str, ...], name: Any) -> PlainProblem:
    return PlainProblem(f"it has no stream {name!r}; its streams are {', '.join(names)}")


def _first_that_holds(unit: Unit, operator: Operator, item: Item, port: int) -> None:
    predicates = cast(Split, operator.definition).predicates
    test = condition(unit, predicates[port], item)
    with unit.lines.block("if ", test, ":"):
        _emitter(unit, operator).again(item.fork(), port)
    if port + 1 < len(predicates):
        with unit.lines.block("else:"):
            _first_that_holds(unit, operator, item.fork(), port + 1)


def _union(unit: Unit, edge: Edge, item: Item) -> None:
    _emitter(unit, _operator(unit, edge)).again(item)


def _map(unit: Unit, edge: Edge, item: Item) -> None:
    operator = _operator(unit, edge)
    fn = cast(Map, operator.definition).fn
    code = unit.generator.inlined(fn, lambda: inline_function(fn, item.schema))
    emitter = _emitter(unit, operator, is_routed=False)

    def write() -> None:
        assert code is not None
        body = Body(code, [item.fork()], unit.lines, unit.names)
        if _returns(code) == 1:
            body.write(_never, emitter.emit, at_end=_refuse)
            return
        out = unit.names.new("out")
        body.write(
            emit=_never,
            at_return=lambda inner, value: unit.lines.add(joined(f"{out} = ", inner.expression(value))),
            at_end=lambda: unit.lines.add(f"{out} = None"),
        )
        emitter.checked(out)

    if code is None or code.is_generator or not unit.attempt(write, NotInline):
        out = unit.names.new("out")
        unit.lines.add(f"{out} = {unit.names.constant(fn, _name(fn))}({item.tuple(unit.lines, unit.names)})")
        emitter.checked(out)


def _refuse() -> None:
    raise NotInline


def _returns(code: Inline) -> int:
    return sum(isinstance(node, ast.Return) for statement in code.body for node in ast.walk(statement))


# User-defined ---------------------------------------------------------------------------------------------------


def _flat_map(unit: Unit, edge: Edge, item: Item) -> None:
    operator = _operator(unit, edge)
    fn = cast(FlatMap, operator.definition).fn
    code = unit.generator.inlined(fn, lambda: inline_function(fn, item.schema))
    call = f"{unit.names.constant(fn, _name(fn))}"
    _user_code(unit, operator, code, item, None, call)


def _process(unit: Unit, edge: Edge, item: Item) -> None:
    operator = _operator(unit, edge)
    definition = cast(Process, operator.definition)
    names, lines = unit.names, unit.lines
    keys = definition.keys[edge.target_port]
    values = [item.attribute(item.schema.names.index(name), lines, names) for name in keys]
    key = key_of(item.schema, keys, values, names) if keys else "None"
    if not key.isidentifier():
        local = names.new("key")
        lines.add(f"{local} = {key}")
        key = local
    if unit.generator.tracks_changes:
        lines.add(f"{names.constant(unit.generator.touched(operator.id), 'touched')}[{key}] = None")
    method = definition.methods[edge.target_port]
    code = inlined_methods(unit.generator, operator).get(method)
    fields = unit.generator.fields.get(operator.id)
    if fields is not None:
        assert code is not None
        write_unboxed(unit, operator, code, item, key, fields)
        return
    held = _instances(unit, operator)
    instance = names.new("instance")
    lines.add(f"{instance} = {unit.getter(held)}({key})")
    with lines.block(f"if {instance} is None:"):
        factory = names.constant(definition.factory, _name(definition.factory))
        lines.add(f"{instance} = {held}[{key}] = {factory}()")
    _user_code(unit, operator, code, item, instance, f"{instance}.{method}")


def _instances(unit: Unit, operator: Operator) -> str:
    meaning: Any = unit.generator.node(operator.id).meaning
    return unit.names.constant(meaning.instances, f"instances_of_{operator.id}")


def inlined_methods(generator: Generator, operator: Operator) -> dict[str, Inline]:
    definition = cast(Process, operator.definition)
    schemas = {method: port.schema for method, port in zip(definition.methods, operator.inputs, strict=True)}
    return generator.inlined(definition.factory, lambda: inline_methods(definition.factory, schemas))


def write_unboxed(unit: Unit, operator: Operator, code: Inline, item: Item, key: str, fields: Fields) -> None:
    """A method on an instance of which only the attributes exist."""
    names, lines = unit.names, unit.lines
    held = _instances(unit, operator)
    first = [names.constant(value, name) for name, value in fields.initial.items()]
    keep = None
    if fields.is_single:
        [name] = fields.names
        local = names.new(name)
        places = {name: local}
        keep = f"{held}[{key}] = {local}"
        lines.add(f"{local} = {unit.getter(held)}({key}{'' if first[0] == 'None' else f', {first[0]}'})")
    else:
        local = names.new("fields")
        places = {name: f"{local}[{at}]" for at, name in enumerate(fields.names)}
        lines.add(f"{local} = {unit.getter(held)}({key})")
        with lines.block(f"if {local} is None:"):
            lines.add(f"{local} = {held}[{key}] = [{', '.join(first)}]")
    emitter = _emitter_of_sites(unit, operator, code)
    body = Body(code, [item.fork()], lines, names, "None", fields=places, keep=keep)
    body.write(emitter.emit, partial(_returned, unit, emitter))


def _emitter_of_sites(unit: Unit, operator: Operator, code: Inline) -> Emitter:
    """Where a method emits at several places, the code behind it is written once."""
    emitter = _emitter(unit, operator)
    if _sites(code) > 1 and unit.generator.is_large_behind(operator.id):
        emitter.deliver = partial(_through_function, unit, operator.id)
    return emitter


def _user_code(
    unit: Unit, operator: Operator, code: Inline | None, item: Item, instance: str | None, call: str
) -> None:
    """Inlined, or called: a function that emits nothing, a tuple, or several."""

    def write() -> None:
        assert code is not None
        emitter = _emitter_of_sites(unit, operator, code)
        body = Body(code, [item.fork()], unit.lines, unit.names, instance)
        body.write(emitter.emit, partial(_returned, unit, emitter))

    if code is None or not unit.attempt(write, NotInline):
        emitter = _emitter(unit, operator)
        result = unit.names.new("result")
        unit.lines.add(f"{result} = {call}({item.tuple(unit.lines, unit.names)})")
        emitter.all_of(result)


def _sites(code: Inline) -> int:
    kinds = (ast.Yield, ast.YieldFrom) if code.is_generator else (ast.Return,)
    return sum(isinstance(node, kinds) for statement in code.body for node in ast.walk(statement))


def _through_function(unit: Unit, operator_id: str, port: int, item: Item) -> None:
    stream = unit.generator.stream_name(operator_id, port)
    unit.lines.add(f"{stream}({item.tuple(unit.lines, unit.names)})")


def _returned(unit: Unit, emitter: Emitter, body: Body, value: ast.expr) -> None:
    match value:
        case ast.Constant(value=None):
            return
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            held = []
            for element in elements:
                body.is_calm = True
                held.append(unit.names.new("out"))
                unit.lines.add(joined(f"{held[-1]} = ", body.expression(element)))
            for name in held:
                emitter.routed(name)
        case _ if body.made(value) is not None or body.item(value) is not None:
            emitter.emit(body, value)
        case _:
            result = unit.names.new("result")
            unit.lines.add(joined(f"{result} = ", body.expression(value)))
            emitter.all_of(result)


# Punctuations and sinks -----------------------------------------------------------------------------------------


def _punctuate(unit: Unit, edge: Edge, item: Item) -> None:
    operator = _operator(unit, edge)
    definition = cast(Punctuate, operator.definition)
    meaning = unit.names.constant(unit.generator.node(operator.id).meaning, operator.id)
    unit.lines.add(f"{meaning}.seen += 1")
    _emitter(unit, operator).again(item)
    with unit.at(operator.id, item, has_emitted=True):
        if definition.when is not None:
            test = condition(unit, definition.when, item)
        else:
            test = Code(f"{meaning}.seen % {definition.count} == 0")
        with unit.lines.block("if ", test, ":"):
            enter = unit.names.constant(unit.generator.enter, "enter")
            mark = unit.names.constant(PUNCTUATION, "PUNCTUATION")
            unit.lines.add(f"{enter}({operator.id!r}, 0, {mark})")


def _exit(unit: Unit, edge: Edge, item: Item) -> None:
    append = unit.appends.setdefault(edge.target, unit.names.new("append"))
    unit.lines.add(f"{append}({item.made(unit.names)})")
    if unit.generator.has_origins:
        exit_ = unit.names.constant(unit.generator.node(edge.target).meaning, "exit")
        unit.lines.add(f"{exit_}.left.origins.append(clock[0])")
        if unit.generator.has_turns:
            unit.lines.add(f"{exit_}.left.turns.append(clock[1])")
            unit.lines.add("clock[1] += 1")


def _sink(unit: Unit, edge: Edge, item: Item) -> None:
    meaning = unit.generator.node(edge.target).meaning
    assert meaning is not None
    unit.lines.add(f"{unit.names.constant(meaning.process, edge.target)}(0, {item.tuple(unit.lines, unit.names)})")


VISITS: dict[str, Visit] = {
    "filter": _filter,
    "split": _split,
    "union": _union,
    "map": _map,
    "flat_map": _flat_map,
    "process": _process,
    "connect": _process,
    "punctuate": _punctuate,
    "exit": _exit,
}
