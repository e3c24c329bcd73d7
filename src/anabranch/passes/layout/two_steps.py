"""Which operators without a key are computed in two steps, and why windows are not.

The first step of a window aggregate makes parts of the windows where the tuples are, a stretch at a time; the second,
in one place, puts them together (`operators/parts.py`). It needs whole stretches (slices of the only source, or
channels without a key), or a stream whose panes never go back. That of a running maximum passes on what may be one
(`operators/candidates.py`), in any.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from anabranch.analysis.program import look_at_program
from anabranch.analysis.running_extremes import is_running_extreme, keeps_an_extreme
from anabranch.graph.laid_out import of_first_step
from anabranch.graph.model import Edge, Operator
from anabranch.graph.places import SOURCES, Layout, Place
from anabranch.graph.plan import Plan
from anabranch.graph.traverse import loops
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.candidates import candidates_for
from anabranch.operators.parts import MakeParts, TwoSteps, in_two_steps
from anabranch.operators.process import Process
from anabranch.passes.effects import has_effects
from anabranch.passes.layout.ascending_panes import has_ascending_panes


@dataclass(frozen=True)
class Steps:
    """The first steps, by the operators that they are for, and why others are whole."""

    plan: Plan
    first: Mapping[str, str] = field(default_factory=dict)
    whole: Mapping[str, str] = field(default_factory=dict)


def find_steps(plan: Plan, layout: Layout, *, slices_sources: bool) -> Steps:
    """The plan with two operators for each that can be, by where its tuples are in a layout without."""
    found: dict[str, TwoSteps] = {}
    whole: dict[str, str] = {}
    in_loops = frozenset().union(*loops(plan.graph))
    for operator in plan.graph.operators:
        if operator.id in in_loops:
            continue
        steps = _steps_of(plan, operator)
        if isinstance(steps, str):
            whole[operator.id] = steps
        elif steps is None:
            continue
        elif why := _why_not_there(plan, layout, steps, slices_sources):
            whole[operator.id] = why
        else:
            found[operator.id] = steps
    return Steps(_with(plan, found) if found else plan, {each: found[each].parts.id for each in found}, whole)


def all_whole(plan: Plan, why: str) -> Steps:
    """No first steps, and why not for each operator that might have had one."""
    in_loops = frozenset().union(*loops(plan.graph))
    found = {each.id: _steps_of(plan, each) for each in plan.graph.operators if each.id not in in_loops}
    whole = {each: steps if isinstance(steps, str) else why for each, steps in found.items() if steps is not None}
    return Steps(plan, whole=whole)


def _steps_of(plan: Plan, operator: Operator) -> TwoSteps | str | None:
    """The steps that an operator may have, why it has none, or nothing where nobody would expect any."""
    match operator.definition:
        case WindowAggregate(key_names=()) as windows:
            return in_two_steps(operator, windows, is_native=plan.form != "python")
        case Process(factory=factory, methods=("process",), keys=((),)):
            return _steps_of_extreme(plan, operator, factory)
    return None


def _steps_of_extreme(plan: Plan, operator: Operator, factory: Any) -> TwoSteps | str | None:
    """Of an operator of the user's own, without a key."""
    [into] = operator.inputs
    with look_at_program(plan.graph, thoroughly=False):
        if not is_running_extreme(factory, into.schema, operator.outputs[0].schema):
            kept = keeps_an_extreme(factory)
            if kept is None:
                return None
            # A scan would: each epoch's extreme first, then each once more, from that of those before.
            seems = f"it keeps the largest or smallest so far (`self.{kept}`), but it is not plain to see that"
            return f"{seems} it does nothing for other tuples"
        if has_effects(operator):
            return "it shares something"
    if into.is_punctuated:
        return "there are punctuations between the tuples"
    if len(operator.outputs) > 1:
        return "it has several outputs"
    if operator.on_error != "stop":
        return f'with on_error="{operator.on_error}" tuples that fail have to be passed over one by one'
    return TwoSteps(candidates_for(operator), operator)


def _why_not_there(plan: Plan, layout: Layout, steps: TwoSteps, slices_sources: bool) -> str | None:
    """Why there is no first step where its tuples are."""
    [edge] = [each for each in plan.graph.edges if each.target == steps.whole.id]
    before = _first(layout, layout.place_of(edge.source))
    if before.id == SOURCES:
        return None if slices_sources else "all its tuples are read by one task"
    if before.region is None:
        return "all its tuples come from one place"
    is_by_key = any(arrival.key for arrival in layout.arriving(before.id))
    match steps.parts.definition:
        case MakeParts(windows=panes) if is_by_key and not has_ascending_panes(plan, edge, panes.window):
            return "its tuples are in channels by key, where the time of the whole stream is not known"
    return None


def _first(layout: Layout, place: Place) -> Place:
    """The one whose channels it is in."""
    while place.follows is not None:
        place = layout.place(place.follows)
    return place


def _with(plan: Plan, found: Mapping[str, TwoSteps]) -> Plan:
    operators: list[Operator] = []
    properties = dict(plan.properties)
    for operator in plan.graph.operators:
        steps = found.get(operator.id)
        if steps is None:
            operators.append(operator)
            continue
        operators += [steps.parts, steps.whole]
        properties[steps.parts.id] = of_first_step(steps.parts)
    edges: list[Edge] = []
    for edge in plan.graph.edges:
        steps = found.get(edge.target)
        if steps is None:
            edges.append(edge)
        else:
            edges += [replace(edge, target=steps.parts.id), replace(edge, source=steps.parts.id, source_port=0)]
    graph = replace(plan.graph, operators=tuple(operators), edges=tuple(edges), program=plan.graph.whole)
    return replace(plan, graph=graph, properties=MappingProxyType(properties))
