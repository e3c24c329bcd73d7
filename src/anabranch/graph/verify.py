"""Checks that hold for every graph, run when it is built and after every pass of the compiler."""

from __future__ import annotations

from collections import Counter

from anabranch.errors import BuildError
from anabranch.graph.model import Graph, Operator
from anabranch.graph.plan import JointKind, Plan, Region
from anabranch.graph.properties import State
from anabranch.graph.traverse import find_cycle
from anabranch.graph.verify_layout import verify_layout, verify_loop, verify_pe


def verify(graph: Graph) -> None:
    """Raise a `BuildError` that names the operator where the graph is not well formed."""
    _verify_ids(graph)
    _verify_edges(graph)
    _verify_loops(graph)
    _verify_sinks(graph)
    _verify_dead_letters(graph)
    _verify_draw(graph)


def _verify_ids(graph: Graph) -> None:
    counts = Counter(operator.id for operator in graph.operators)
    for operator in graph.operators:
        if counts[operator.id] > 1:
            raise BuildError(f"two operators have the id '{operator.id}'", location=operator.location)


def _verify_edges(graph: Graph) -> None:
    """Every input port has exactly one stream, of the type it expects."""
    fed = Counter((edge.target, edge.target_port) for edge in graph.edges)
    for edge in graph.edges:
        source, target = graph.operator(edge.source), graph.operator(edge.target)
        leaving, entering = source.outputs[edge.source_port], target.inputs[edge.target_port]
        if leaving.schema != entering.schema:
            raise BuildError(
                f"'{target.id}' takes {entering.schema.name}, but '{source.id}' gives {leaving.schema.name}",
                location=target.location,
            )
    for operator in graph.operators:
        for port in range(len(operator.inputs)):
            if fed[operator.id, port] != 1:
                raise BuildError(
                    f"input '{operator.inputs[port].name}' of '{operator.id}' has {fed[operator.id, port]} streams; "
                    "it takes one",
                    location=operator.location,
                )


def _verify_loops(graph: Graph) -> None:
    cycle = find_cycle(graph, ignoring_feedback=True)
    if cycle:
        raise BuildError(
            f"the operators {' -> '.join((*cycle, cycle[0]))} form a cycle",
            location=graph.operator(cycle[0]).location,
            hint="close a loop with .feedback(body): only there is it defined when a tuple comes around",
        )
    for edge in graph.edges:
        if edge.is_feedback and graph.operator(edge.target).kind != "feedback":
            raise BuildError(
                f"'{edge.target}' is fed back to, but is no loop",
                location=graph.operator(edge.target).location,
            )


def _verify_sinks(graph: Graph) -> None:
    """Two sinks must not write to the same place: the second would replace the first."""
    targets: dict[str, Operator] = {}
    for operator in graph.sinks:
        target = getattr(operator.definition, "target", None)
        if target is None:
            continue
        if target in targets:
            raise BuildError(
                f"two sinks have the same target: {target}",
                location=operator.location,
                hint=f"give one of them another target; the other is at {targets[target].location}",
            )
        targets[target] = operator


def _verify_dead_letters(graph: Graph) -> None:
    consumed = {(edge.source, edge.source_port) for edge in graph.edges}
    for operator in graph.operators:
        if operator.on_error != "dead_letter":
            continue
        if (operator.id, operator.output("dead_letter")) not in consumed:
            raise BuildError(
                f"'{operator.id}' has on_error=\"dead_letter\", but nothing takes its dead letters",
                location=operator.location,
                hint='write them: stream.outputs.dead_letter.write_jsonl("failed.jsonl")',
            )


def _verify_draw(graph: Graph) -> None:
    """Sources that are drawn in the order of an attribute need attributes that can be compared."""
    ordered = [(source, getattr(source.definition, "order_by", None)) for source in graph.sources]
    if any(name is None for _, name in ordered):
        return
    kinds = {"int": "number", "float": "number", "bool": "number"}
    first: tuple[Operator, str] | None = None
    for source, name in ordered:
        kind = source.outputs[0].schema[str(name)].kind
        kind = kinds.get(kind, kind)
        if first is None:
            first = (source, kind)
        elif kind != first[1]:
            raise BuildError(
                f"'{source.id}' has order_by={name!r}, a {kind}, but '{first[0].id}' is ordered by a {first[1]}",
                location=source.location,
                hint="order all sources by attributes that can be compared, or leave order_by= out",
            )


def verify_plan(plan: Plan) -> None:
    """What must hold after every pass, as far as the passes have come."""
    verify(plan.graph)
    _verify_partition(plan)
    for region in plan.regions:
        _verify_region(plan, region)
    verify_loop(plan)
    for phase in plan.phases:
        verify_layout(plan, phase)
    for pe in plan.pes:
        verify_pe(plan, pe)


def _verify_partition(plan: Plan) -> None:
    """Every operator is in one region or has a reason not to be, and in one PE."""
    in_regions = Counter(operator_id for region in plan.regions for operator_id in region.operators)
    in_pes = Counter(operator_id for pe in plan.pes for operator_id in pe.operators)
    for operator in plan.graph.operators:
        if in_regions[operator.id] > 1:
            raise BuildError(f"'{operator.id}' is in several regions", location=operator.location)
        if (plan.regions or plan.sequential) and (in_regions[operator.id] == 1) == (operator.id in plan.sequential):
            raise BuildError(f"'{operator.id}' is neither parallel nor not", location=operator.location)
        if plan.pes and in_pes[operator.id] != 1:
            raise BuildError(f"'{operator.id}' is in {in_pes[operator.id]} PEs", location=operator.location)


def _verify_region(plan: Plan, region: Region) -> None:
    """A region is a path with one entry, of operators that may be parallel, under a key they share."""
    for one, other in zip(region.operators, region.operators[1:], strict=False):
        onward = [edge.source_port for edge in plan.graph.edges if (edge.source, edge.target) == (one, other)]
        if not onward:
            raise BuildError(f"{region.id} is no path: '{one}' does not feed '{other}'")
        if sum(edge.source == one and edge.source_port in onward for edge in plan.graph.edges) > 1:
            raise BuildError(f"{region.id} has an exit in its middle, on the stream from '{one}' to '{other}'")
    entry = plan.graph.operator(region.entry)
    names = (entry.inputs or entry.outputs)[0].schema.names
    for name in region.key:
        if name not in names:
            raise BuildError(f"the key of {region.id} is not at its entry: {name}", location=entry.location)
    for operator_id in region.operators:
        properties = plan.properties[operator_id]
        if properties.state is State.STATEFUL or (properties.state is State.PARTITIONED and not region.key):
            raise BuildError(f"'{operator_id}' cannot be parallel, but is in {region.id}")
    if region.last_joint is JointKind.SHUFFLE:
        inside = dict.fromkeys(region.operators)
        behind = [edge.target for edge in plan.graph.edges if edge.source in inside and edge.target not in inside]
        following = plan.region_of(behind[0]) if len(behind) == 1 else None
        if following is None or following.first_joint is not JointKind.SHUFFLE:
            raise BuildError(f"{region.id} ends with a shuffle into nothing")
