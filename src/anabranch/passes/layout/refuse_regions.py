"""Which regions of a plan run in one place after all, and why."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.analysis.program import look_at_program
from anabranch.graph.model import Operator
from anabranch.graph.order_keys import Branch, Number, can_meet
from anabranch.graph.places import SOURCES, Arrival, Layout, Place
from anabranch.graph.plan import Plan, Region
from anabranch.graph.properties import Selectivity
from anabranch.graph.traverse import downstream, loops
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.join import Join
from anabranch.passes.effects import effects_of
from anabranch.passes.layout.ranks import is_ranked


def why_not(plan: Plan, region: Region) -> str | None:
    """Why a region cannot be in channels, whatever is around it."""
    operators = [plan.graph.operator(operator_id) for operator_id in region.operators]
    in_loops = frozenset().union(*loops(plan.graph))
    for operator in operators:
        properties = plan.properties[operator.id]
        if operator.id in in_loops:
            return f"'{operator.id}' is in a loop, which runs as a whole"
        if is_ranked(operator, properties):
            if _fails_unseen(plan, operator):
                return f"nothing takes the groups of '{operator.id}', and in their order it may fail"
            continue
        if operator.id in region.clocks and not _has_one_kind_of_time(operator):
            return f"the time of '{operator.id}' is that of the whole stream"
        if properties.emits_at_end or properties.emits_at_punctuation:
            return f"'{operator.id}' emits when the stream ends or is punctuated"
    return None


def refused_in(plan: Plan, layout: Layout) -> dict[str, str] | None:
    """Those of the regions that must not be parallel: a meeting cannot be put in order, or something is shared."""
    for edge in layout.graph.edges:
        if edge.is_feedback and layout.place_of(edge.source) != layout.place_of(edge.target):
            return _all_regions(layout, f"'{edge.target}' is in a loop that other places would be part of")
    for place in layout.places:
        arriving = layout.items(place.id)
        for at, one in enumerate(arriving):
            for other in arriving[at + 1 :]:
                if not can_meet(one.paths, other.paths):
                    why = f"its tuples meet others at {place.id} in an order that is not known"
                    found = {place.region: why} if place.region else _regions_before(plan, layout, place, why)
                    # Of streams that came on too many ways to follow, no region need be the cause.
                    found = found or _regions_behind(plan, layout, place, why) or _all_regions(layout, why)
                    assert found, "streams from one place can always be put in order there"
                    return found
        if _has_loop(layout, place) and not (_is_one_item_per_tuple(arriving) and _counts_source_tuples(plan, layout)):
            # What goes around waits until all that was made of a source tuple has come through.
            why = f"there is a loop at {place.id}, where one source tuple would be several items"
            found = _regions_before(plan, layout, place, why) or _regions_behind(plan, layout, place, why)
            return found or _all_regions(layout, why)  # one beside it
        if _has_loop(layout, place) and not place.is_tail and not _is_chain(layout):
            # What went around comes after all ways of its source tuple, which numbers and branches do not say.
            why = f"there is a loop at {place.id} before it, in a program that is no chain"
            return _regions_behind(plan, layout, place, why)
        if place.level > 0 and not place.is_tail and place.region is None:
            with look_at_program(plan.graph, thoroughly=False):
                effects = [(each, why) for each in place.operators for why in effects_of(plan.graph.operator(each))]
            if effects:
                sharing, effect = effects[0]
                why = f"'{sharing}' before it runs in the driver, since it shares something: {effect.text}"
                return _regions_behind(plan, layout, place, why)
    return None


def _is_chain(layout: Layout) -> bool:
    return sum(arrival.clock is None for arrival in layout.arrivals) <= len(layout.places) - 1


def _has_loop(layout: Layout, place: Place) -> bool:
    return any(edge.is_feedback and edge.target in place.operators for edge in layout.graph.edges)


def _is_one_item_per_tuple(arriving: Sequence[Arrival]) -> bool:
    """Whether no source tuple comes into a place in several pieces."""
    sources = [next((step for step in each.lineage if step in _draws(each)), None) for each in arriving]
    numbers = [step for each in arriving for step in each.lineage if isinstance(step, Number)]
    return len(numbers) == len(arriving) and len(dict.fromkeys(sources)) == len(arriving)


def _counts_source_tuples(plan: Plan, layout: Layout) -> bool:
    """Whether numbers of the draw are those of source tuples, not of what tasks made of them where they read them."""
    behind = [each for each in layout.place(SOURCES).operators if not layout.graph.operator(each).is_source]
    return all(plan.properties[each].selectivity is not Selectivity.UNBOUNDED for each in behind)


def _draws(arrival: Arrival) -> list[Branch]:
    return [step for step in arrival.lineage if isinstance(step, Branch) and step.at == "draw"]


def _regions_before(plan: Plan, layout: Layout, place: Place, why: str) -> dict[str, str]:
    """The nearest regions on the ways into a place."""
    found: dict[str, str] = {}
    pending = [place]
    while pending:
        for arrival in layout.arriving(pending.pop().id):
            source = layout.place_of(arrival.stream.operator)
            inside = [region.id for region in plan.regions if set(region.operators) & set(source.operators)]
            if inside:
                found |= dict.fromkeys(inside, why)
            else:
                pending.append(source)
    return found


def _all_regions(layout: Layout, why: str) -> dict[str, str]:
    return {place.region: why for place in layout.places if place.region}


def _regions_behind(plan: Plan, layout: Layout, place: Place, why: str) -> dict[str, str]:
    behind = downstream(plan.graph, place.operators)
    parallel = [operator_id for other in layout.places if other.region for operator_id in other.operators]
    return {
        region.id: why
        for region in plan.regions
        if any(operator_id in behind and operator_id in parallel for operator_id in region.operators)
    }


def _fails_unseen(plan: Plan, operator: Operator) -> bool:
    """Whether it has groups that nobody takes: their order is known from what was given before one failed."""
    definition = operator.definition
    if not isinstance(definition, WindowAggregate) or not definition.group_by:
        return False
    return not any((edge.source, edge.source_port) == (operator.id, 0) for edge in plan.graph.edges)


def _has_one_kind_of_time(operator: Operator) -> bool:
    """Whether it is a join that channels can be told the time of: ints and floats are not compared by columns."""
    match operator.definition:
        case Join(left=left, right=right):
            windows = zip(operator.inputs, (left, right), strict=True)
            kinds = [port.schema[window.on].kind for port, window in windows if window.on is not None]
            return len({kind == "float" for kind in kinds}) == 1
    return False
