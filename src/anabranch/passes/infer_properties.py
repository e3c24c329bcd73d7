"""What each operator keeps, emits and forwards: from its record, and from the user's code (paper 000, section 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from anabranch.analysis import Findings, analyze_function, analyze_operator, cached_functions
from anabranch.analysis.program import look_at_program, widen
from anabranch.graph.model import Operator
from anabranch.graph.plan import Plan
from anabranch.graph.properties import Properties, Reason, Selectivity, State
from anabranch.graph.schema import Schema
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.aggregates import Aggregate, UserAggregate
from anabranch.operators.barrier import Barrier
from anabranch.operators.base import SourceDefinition
from anabranch.operators.distinct import Distinct
from anabranch.operators.filter import Filter
from anabranch.operators.flat_map import FlatMap
from anabranch.operators.join import Join
from anabranch.operators.map import Map
from anabranch.operators.process import Process
from anabranch.operators.sinks import SinkDefinition
from anabranch.operators.sources import Beacon, FromItems, Generate
from anabranch.operators.split import Split
from anabranch.passes.effects import has_effects

_MOST_ROUNDS = 5


def apply(plan: Plan) -> Plan:
    with look_at_program(plan.graph, thoroughly=True):
        found = _infer_all(plan)
        if any(map(_may_lead_anywhere, plan.graph.operators)) and widen():
            found = _infer_all(plan)
    return replace(plan, properties=MappingProxyType(found))


def _infer_all(plan: Plan) -> dict[str, Properties]:
    for attempt in range(_MOST_ROUNDS):  # what is known of a cache depends on all operators that use it
        seen = cached_functions.version()
        found = {operator.id: infer(operator) for operator in plan.graph.operators}
        if seen == cached_functions.version():
            break
        if attempt == _MOST_ROUNDS - 2:
            cached_functions.give_up()
    return found


def _may_lead_anywhere(operator: Operator) -> bool:
    """Whether it may call what is not known."""
    match operator.definition:
        case Generate(fn=function, schema=schema) | Beacon(fn=function, schema=schema):
            return bool(analyze_function(function, input=schema, output=None, emits="many").shared)
        case FromItems(items=items):
            return type(items) not in (tuple, range, dict, set, frozenset)  # others may run code of their own
        case SourceDefinition():
            return False
        case _:
            return has_effects(operator)


def infer(operator: Operator) -> Properties:
    """The properties of one operator; `on_error` may drop a tuple, so it is no longer 1:1."""
    properties = _infer(operator)
    if operator.on_error != "stop" and properties.selectivity is Selectivity.EXACTLY_ONE:
        reason = Reason("selectivity", f'on_error="{operator.on_error}" drops what fails', operator.location)
        reasons = (*(r for r in properties.reasons if r.about != "selectivity"), reason)
        properties = replace(properties, selectivity=Selectivity.AT_MOST_ONE, reasons=reasons)
    return replace(
        properties,
        punctuation_in=operator.definition.punctuation_in,
        punctuation_out=operator.definition.punctuation_out,
    )


def _infer(operator: Operator) -> Properties:
    match operator.definition:
        case SourceDefinition() as source:
            return _source(operator, source)
        case SinkDefinition() as sink:
            return _sink(operator, sink)
        case Map(fn):
            return _function(operator, fn, "one", None)
        case Filter(predicate):
            return _function(operator, predicate, "predicate", Selectivity.AT_MOST_ONE)
        case FlatMap(fn):
            return _function(operator, fn, "many", None)
        case Process() as process:
            return _process(operator, process)
        case Split() as split:
            return _split(operator, split)
        case WindowAggregate() as aggregate:
            return _aggregate(operator, aggregate)
        case Distinct() as distinct:
            return _distinct(operator, distinct)
        case Join() as join:
            return _join(operator, join)
        case Barrier():
            return _recorded(operator, "it holds tuples back until all inputs have one")
        case _:
            return _recorded(operator, _RECORDED[operator.kind])


_RECORDED = {
    "union": "it only passes tuples on",
    "merge_by": "it holds tuples back until every input has one",
    "sort": "its buffer goes over the whole stream",
    "punctuate": "where a punctuation falls depends on the whole stream, so it stays before the split",
    "feedback": "it is where a loop begins",
}


def _recorded(operator: Operator, why: str) -> Properties:
    """An operator whose record says it all."""
    record = operator.definition.record
    forwards = _identity(operator.outputs[0].schema) if record.forwards == "all" and operator.outputs else ()
    return Properties(
        state=State(record.state),
        selectivity=Selectivity(record.selectivity),
        forwards=forwards,
        reasons=(Reason("state", why, operator.location),),
    )


def _source(operator: Operator, source: SourceDefinition) -> Properties:
    reasons: tuple[Reason, ...]
    if not source.partition_by:
        reasons = (
            Reason(
                "state",
                "a source is read in one place unless it is partitioned",
                operator.location,
                hint='partition_by="attribute", where every file or partition has its own values of it',
            ),
        )
        return Properties(State.STATEFUL, reasons=reasons)
    key = source.partition_by
    if isinstance(source, Generate):
        findings = analyze_function(source.fn, input=source.schema, output=None, emits="value")
        if findings.shared:
            return Properties(State.STATEFUL, reasons=findings.shared)
    reasons = (Reason("state", f"it is partitioned by {', '.join(key)}", operator.location),)
    return Properties(
        State.PARTITIONED, key, Selectivity.EXACTLY_ONE, _identity(operator.outputs[0].schema), reasons=reasons
    )


def _sink(operator: Operator, sink: SinkDefinition) -> Properties:
    if sink.ordered:
        reason = Reason(
            "state",
            "an ordered sink is written in one place",
            operator.location,
            hint="ordered=False, if the order of what it writes does not matter",
        )
        return Properties(State.STATEFUL, selectivity=Selectivity.EXACTLY_ONE, reasons=(reason,))
    reason = Reason("state", "ordered=False: every channel may write its own part", operator.location)
    return Properties(State.STATELESS, selectivity=Selectivity.EXACTLY_ONE, reasons=(reason,))


def _function(operator: Operator, fn: Callable[..., Any], emits: Any, selectivity: Selectivity | None) -> Properties:
    output = operator.outputs[0].schema
    findings = analyze_function(fn, input=operator.inputs[0].schema, output=output, emits=emits)
    state = State.STATEFUL if findings.shared or findings.own else State.STATELESS
    forwards = _identity(output) if emits == "predicate" else findings.forwards
    return Properties(state, (), selectivity or findings.selectivity, tuple(sorted(forwards)), reasons=findings.reasons)


def _process(operator: Operator, process: Process) -> Properties:
    inputs = {method: port.schema for method, port in zip(process.methods, operator.inputs, strict=True)}
    output = operator.outputs[0].schema if operator.outputs[0].name == "out" else None
    findings = analyze_operator(process.factory, inputs=inputs, output=output)
    state, reasons = _state_of_process(operator, process, findings)
    forwards = dict(findings.forwards)
    forwards |= {out: into for out, into in findings.forwards_if_key if into in process.key}
    selectivity = Selectivity.UNBOUNDED if findings.emits_at_punctuation else findings.selectivity
    return Properties(
        state,
        process.key if state is State.PARTITIONED else (),
        selectivity,
        tuple(sorted(forwards.items())),
        emits_at_end=findings.emits_at_end,
        emits_at_punctuation=findings.emits_at_punctuation,
        is_silent_between=findings.is_silent,
        reasons=reasons,
    )


def _state_of_process(operator: Operator, process: Process, findings: Findings) -> tuple[State, tuple[Reason, ...]]:
    if findings.shared:
        # What a keyed operator keeps for itself would not be in the way.
        in_the_way = tuple(r for r in findings.reasons if not (process.key and r in findings.own))
        return State.STATEFUL, in_the_way
    others = tuple(reason for reason in findings.reasons if reason.about != "state")
    if process.key:
        why = Reason("state", f"one instance per {', '.join(process.key)}, which shares nothing", operator.location)
        return State.PARTITIONED, (why, *others)
    if findings.own:
        hint = 'key="attribute", if every value of it can keep its own'
        return State.STATEFUL, (*(replace(own, hint=own.hint or hint) for own in findings.own), *others)
    if findings.emits_at_end or findings.emits_at_punctuation:
        what = "the end" if findings.emits_at_end else "punctuations"
        text = f"without a key, what it emits at {what} must come once, not from every channel"
        return State.STATEFUL, (Reason("state", text, operator.location), *others)
    return State.STATELESS, findings.reasons


def _split(operator: Operator, split: Split) -> Properties:
    functions = [split.choose] if split.choose is not None else list(split.predicates)
    shared = _shared(functions, operator.inputs[0].schema)
    reasons = shared or (Reason("state", "its conditions keep nothing", operator.location),)
    state = State.STATEFUL if shared else State.STATELESS
    return Properties(state, (), Selectivity.AT_MOST_ONE, _identity(operator.inputs[0].schema), reasons=reasons)


def _shared(functions: Iterable[Any], schema: Schema) -> tuple[Reason, ...]:
    """What any of these functions keeps or touches outside its call."""
    found: list[Reason] = []
    for fn in functions:
        if fn is not None and not _is_ours(fn):
            findings = analyze_function(fn, input=schema, output=None, emits="value")
            found += [*findings.shared, *findings.own]
    return tuple(found)


def _is_ours(fn: Any) -> bool:
    return type(fn).__module__.startswith("anabranch.")


def _aggregate(operator: Operator, aggregate: WindowAggregate) -> Properties:
    window = aggregate.window
    is_punctuated = window.shape == "punctuated"
    selectivity, why = _window_selectivity(aggregate)
    base = Properties(
        State.STATEFUL,
        (),
        selectivity,
        emits_at_end=True,
        emits_at_punctuation=is_punctuated,
        is_silent_between=is_punctuated,
        reasons=(Reason("selectivity", why, operator.location),),
    )
    shared = _shared_by_aggregates(operator, aggregate)
    if shared:
        return replace(base, reasons=(*shared, *base.reasons))
    if not aggregate.key_names:
        hint = "key=, for one window per key"
        if aggregate.group_by and window.is_by_time and window.clock == "stream":
            hint = f"key={aggregate.group_by!r} on the window instead of group_by=: it gives the same, in parallel"
        why_state = "a window without a key has one state for the whole stream"
        return replace(base, reasons=(Reason("state", why_state, operator.location, hint), *base.reasons))
    # Attributes of the key are the same in the whole window, so any of the choosing aggregates forwards them.
    forwards = [
        (name, column.attribute)
        for name, column in aggregate.columns
        if isinstance(column, Aggregate) and column.is_any and column.attribute in aggregate.key_names
    ]
    state_reason = Reason("state", f"one window per {', '.join(aggregate.key_names)}", operator.location)
    return replace(
        base,
        state=State.PARTITIONED,
        key=aggregate.key_names,
        forwards=tuple(sorted((out, into) for out, into in forwards if into is not None)),
        reasons=(state_reason, *base.reasons),
    )


def _shared_by_aggregates(operator: Operator, aggregate: WindowAggregate) -> tuple[Reason, ...]:
    schema = operator.inputs[0].schema
    found: list[Reason] = []
    for _, column in aggregate.columns:
        if isinstance(column, UserAggregate):
            found += analyze_operator(column.factory, inputs={"add": schema, "result": None}, output=None).shared
    return tuple(found)


def _window_selectivity(aggregate: WindowAggregate) -> tuple[Selectivity, str]:
    window = aggregate.window
    if aggregate.group_by:
        return Selectivity.UNBOUNDED, "group_by gives an output per group"
    if not window.is_by_time and window.shape != "punctuated":
        return Selectivity.AT_MOST_ONE, "a tuple closes at most one window by count"
    if window.shape == "tumbling" and window.clock == "key":
        return Selectivity.AT_MOST_ONE, "by its own clock, a key has at most one window open"
    return Selectivity.UNBOUNDED, "one moment may close many windows"


def _distinct(operator: Operator, distinct: Distinct) -> Properties:
    identity = _identity(operator.inputs[0].schema)
    window = distinct.window
    if window is not None and window.measure == "count":
        reason = Reason(
            "state",
            "its window counts the tuples of the whole stream",
            operator.location,
            hint="a window by time, which every key can follow by itself",
        )
        return Properties(State.STATEFUL, (), Selectivity.AT_MOST_ONE, identity, reasons=(reason,))
    reason = Reason("state", f"what it has seen is kept per {', '.join(distinct.key)}", operator.location)
    return Properties(State.PARTITIONED, distinct.key, Selectivity.AT_MOST_ONE, identity, reasons=(reason,))


def _join(operator: Operator, join: Join) -> Properties:
    selectivity = Reason("selectivity", "a tuple may meet many", operator.location)
    shared = _shared([join.match, join.combine], operator.inputs[0].schema)
    if shared:
        return Properties(State.STATEFUL, reasons=(*shared, selectivity))
    if not join.left_on:
        why = Reason(
            "state", "without on= any two tuples may meet, so all must be in one place", operator.location, "on="
        )
        return Properties(State.STATEFUL, reasons=(why, selectivity))
    for window in (join.left, join.right):
        if window.measure == "count" and not window.per_key and window.length > 0:
            why = Reason(
                "state",
                f"its window of the last {int(window.length)} tuples goes over all keys",
                operator.location,
                hint="per_key=True, for the last tuples of every key, or a window by time",
            )
            return Properties(State.STATEFUL, reasons=(why, selectivity))
    forwards = _forwarded_by_join(operator, join)
    why = Reason("state", f"tuples meet only where {', '.join(join.left_on)} is equal", operator.location)
    return Properties(State.PARTITIONED, join.left_on, Selectivity.UNBOUNDED, forwards, reasons=(why, selectivity))


def _forwarded_by_join(operator: Operator, join: Join) -> tuple[tuple[str, str], ...]:
    """Which attributes of the left input come out unchanged."""
    left, output = operator.inputs[0].schema, operator.outputs[0].schema
    if not _is_ours(join.combine):
        return analyze_function(join.combine, input=left, output=output, emits="one").forwards
    places = getattr(join.combine, "places", ())
    pairs = zip(output.names, places, strict=False)
    return tuple(sorted((name, left.names[position]) for name, (which, position) in pairs if which == 0))


def _identity(schema: Schema) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, name) for name in schema.names))
