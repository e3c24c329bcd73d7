"""Where a program runs: its places, in levels one after the other, and the streams between them.

Decided here, and by no engine: who reads the sources, which regions cannot run in channels after all and why, what
every stream carries for its order, and whether there is one job or one for every round of a loop.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from anabranch.errors import SourceError
from anabranch.graph.degree import degree_of
from anabranch.graph.model import Graph
from anabranch.graph.places import TAIL, Layout, Loop, Phase, Reading
from anabranch.graph.plan import Plan
from anabranch.graph.properties import Reason
from anabranch.operators.process import Process
from anabranch.passes import choose_ordering
from anabranch.passes.effects import has_effects
from anabranch.passes.layout.assign_places import assign_places
from anabranch.passes.layout.expected_size import expected_tuples, form_for
from anabranch.passes.layout.lines_in_channels import with_lines
from anabranch.passes.layout.part_files import with_parts
from anabranch.passes.layout.rounds import Rounds, rounds_of
from anabranch.passes.layout.source_reading import (
    can_be_cut,
    can_be_dealt_out,
    can_be_read_apart,
    has_one_stream,
    must_stay,
    taking_of,
)
from anabranch.passes.layout.two_steps import Steps, all_whole, find_steps


def apply(plan: Plan) -> Plan:
    plan = choose_ordering.apply(_before_steps(replace(plan, phases=())))
    settings = plan.settings
    target = settings.target
    asked = degree_of(plan, settings.channels, target.usual_channels)
    expected = settings.expected if settings.expected is not None else expected_tuples(plan.graph)
    # What goes on for ever is worth compiling.
    form = settings.form if target.is_endless else form_for(plan.graph, settings.form, expected)
    plan = replace(plan, channels=MappingProxyType(asked), expected=expected, form=form)
    if not target.has_channels:
        return _in_process(plan, "")
    if target.is_endless:
        is_one = has_one_stream(plan.graph)
        layout = assign_places(plan, slices_sources=is_one)
        plan = _told_of_steps(plan, all_whole(plan, "it is in a stream, and only runs have two steps"))
        return _laid_out(plan, Phase("run", Reading.ENTRIES if is_one else Reading.ENTRIES_IN_TURN, layout))
    why = _why_here(plan.graph)
    if why is not None:
        return _read_here(plan, why)
    rounds = rounds_of(plan)
    if isinstance(rounds, Rounds):
        return _in_rounds(plan, rounds)
    return _in_one_job(plan, why=rounds)


def _in_process(plan: Plan, why: str) -> Plan:
    """All in one place, with the sinks."""
    layout = assign_places(replace(plan, regions=()), slices_sources=False)
    return _laid_out(plan, Phase("run", Reading.HERE, layout, why, taking_of(plan)))


def _read_here(plan: Plan, why: str) -> Plan:
    """A job for what has come, and then another; or nothing leaves this process."""
    if not can_be_dealt_out(plan):
        return _in_process(plan, why)
    layout = assign_places(plan, slices_sources=False)
    if not layout.levels:
        return _in_process(plan, why)
    plan = _told_of_steps(plan, all_whole(plan, "the sources are read by the process that runs the program"))
    return _laid_out(plan, Phase("run", Reading.HERE, layout, why))


def _in_rounds(plan: Plan, rounds: Rounds) -> Plan:
    before = _phase("before", rounds.before, assign_places(rounds.before, slices_sources=_is_cut(rounds.before)))
    layout = assign_places(rounds.round, slices_sources=False)
    plan = _laid_out(plan, before, Phase("round", Reading.ROUND, layout))
    return replace(plan, loop=Loop(rounds.entry.id, rounds.back))


def _in_one_job(plan: Plan, why: str) -> Plan:
    target = plan.settings.target
    is_cut = _is_cut(plan)
    layout = assign_places(plan, slices_sources=is_cut)
    steps = find_steps(plan, layout, slices_sources=is_cut)
    if steps.first:
        layout = assign_places(steps.plan, slices_sources=is_cut, first_steps=steps.first)
    if target.writes_parts:
        layout = with_parts(layout, target.cores, slices_sources=is_cut)
    return _laid_out(_told_of_steps(plan, steps), _phase("run", plan, layout, why))


def _is_cut(plan: Plan) -> bool:
    return plan.settings.target.reads_slices and can_be_cut(plan.graph)


def _phase(name: str, plan: Plan, layout: Layout, why: str = "") -> Phase:
    """A phase whose sources tasks read."""
    target, graph = plan.settings.target, plan.graph
    if _is_cut(plan):
        return Phase(name, Reading.SLICES, layout, why)
    # Else nobody waits for what is wrong with partitions.
    is_apart = target.reads_apart and can_be_read_apart(graph, partitions=layout.waits_for_all)
    return Phase(name, Reading.APART if is_apart else Reading.ONE_TASK, layout, why)


def _why_here(graph: Graph) -> str | None:
    """Why the sources have to be read in this process."""
    try:
        return must_stay(graph)
    except SourceError:
        return None  # the files are not there yet, which is no reason not to explain


def _laid_out(plan: Plan, *phases: Phase) -> Plan:
    if plan.settings.target.makes_lines:
        phases = tuple(map(with_lines, phases))
    phases = tuple(replace(phase, watched=_watched(phase)) for phase in phases)
    plan = choose_ordering.apply(replace(plan, phases=phases))
    return _told_of_slices(plan) if plan.in_slices else plan


def _watched(phase: Phase) -> tuple[str, ...]:
    graph = phase.layout.graph
    operators = [graph.operator(each) for each in phase.layout.place(TAIL).operators]
    return tuple(each.id for each in operators if not has_effects(each))


def _told_of_steps(plan: Plan, steps: Steps) -> Plan:
    """With what is done about operators in two steps: it is no key that they need, or not only."""
    sequential = dict(plan.sequential)
    for operator_id in steps.first:
        text = "its windows are put together in one place, of parts that are made where its tuples are"
        if isinstance(plan.graph.operator(operator_id).definition, Process):
            text = "it is in one place, but what is not the most of an epoch is left out where its tuples are"
        sequential[operator_id] = (Reason("parts", text, plan.graph.operator(operator_id).location),)
    for operator_id, why in steps.whole.items():
        reason = Reason("parts", f"it is not computed in two steps: {why}")
        sequential[operator_id] = (*sequential.get(operator_id, ()), reason)
    return replace(plan, sequential=MappingProxyType(sequential))


def _before_steps(plan: Plan) -> Plan:
    """A plan that was laid out for another target, as it was formed."""
    sequential = {
        each: plan.properties[each].about("state") if any(why.about == "parts" for why in reasons) else reasons
        for each, reasons in plan.sequential.items()
    }
    return replace(plan, sequential=MappingProxyType(sequential))


def _told_of_slices(plan: Plan) -> Plan:
    """Without the advice to partition a source that many tasks read as it is."""
    properties, sequential = dict(plan.properties), dict(plan.sequential)
    for source in plan.in_slices:
        location = plan.graph.operator(source).location
        why = Reason("state", "it is one stream, which many tasks read, a slice each", location)
        properties[source] = replace(properties[source], reasons=(why,))
        if source in sequential:
            sequential[source] = (why,)
    return replace(plan, properties=MappingProxyType(properties), sequential=MappingProxyType(sequential))
