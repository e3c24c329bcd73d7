"""Which regions are worth their channels: what channels save for each tuple, against what bringing it there costs.

Where little is done for a tuple, the splitter does more for it than the channels (paper 000, section 6.2). With n of
them, n tuples at a time are exchanged and worked on, and what leaves meets in one process; without, that process takes
what comes in, and does the work itself. So channels save (n-1)/n of the work, and taking what the region drops; and
they cost 1/n of the exchange.

Only native code does so little: tuples that come as rows of Python cost more than any exchange.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType

from anabranch.codegen.costs import native_work
from anabranch.dataflow.layout import choose_forms
from anabranch.graph.degree import asked_channels
from anabranch.graph.places import TAIL, Arrival, Layout, Phase, Place, Reading
from anabranch.graph.plan import Plan
from anabranch.graph.properties import Selectivity
from anabranch.graph.schema import Schema
from anabranch.passes import fuse, lay_out

# Nanoseconds for each tuple, from runs in two channels and without (`python -m benchmarks.channels --only light`).
EXCHANGE, PER_ATTRIBUTE, PER_TEXT = 260, 20, 30
TAKING = 50  # in the process in which all of it meets


@dataclass(frozen=True)
class Weight:
    """What channels save and cost for each tuple that comes to a region, in nanoseconds."""

    channels: int
    work: int
    exchange: int
    taking: int = 0  # what is dropped, where it need not be

    @property
    def pays(self) -> bool:
        return (self.channels - 1) * self.work + self.channels * self.taking > self.exchange

    def __str__(self) -> str:
        saved = round((self.channels - 1) * self.work / self.channels) + self.taking
        costs = round(self.exchange / self.channels)
        return f"for each tuple {_channels(self.channels)} save about {saved} ns and cost {costs} ns"


def _channels(number: int) -> str:
    return "1 channel" if number == 1 else f"{number} channels"


def apply(plan: Plan) -> Plan:
    """Where channels were not asked for, what is not worth them is done with what is behind it."""
    weights = dict(_weights(plan))
    worth = {str(place.region): str(weight) for place, weight in weights.items() if weight.pays}
    plan = replace(plan, worth=MappingProxyType(worth))
    light = {
        each: f"{weight} (--channels {place.region}={weight.channels} asks for them)"
        for place, weight in weights.items()
        if not weight.pays
        for inside in _places(plan.phases[0].layout, place)
        for each in inside.operators
        if each in plan.properties  # with what makes parts of windows it is otherwise once these are whole
    }
    if not light:
        return plan
    together = choose_forms.apply(fuse.apply(lay_out.apply(replace(plan, light=MappingProxyType(light)))))
    return together if _is_native_behind(together) else plan


def _weights(plan: Plan) -> Iterator[tuple[Place, Weight]]:
    """Of what is in channels that nobody asked for, behind which nothing else is."""
    target = plan.settings.target
    if target.is_endless or not target.has_channels or len(plan.phases) != 1:
        return
    [phase] = plan.phases
    asked = asked_channels(plan, plan.settings.channels)
    for place in phase.layout.places:
        is_exchanged = place.region is not None and place.follows is None and place.level > 0
        if not is_exchanged or place.region in asked or phase.reading is Reading.HERE:
            continue
        if _is_last(phase, place) and _is_native(plan, phase, place):
            yield place, _weight(plan, phase.layout, place)


def _places(layout: Layout, place: Place) -> list[Place]:
    return [place, *layout.following(place)]


def _is_last(phase: Phase, place: Place) -> bool:
    """Whether all that leaves its channels goes to the process in which all of it meets."""
    layout, inside = phase.layout, _places(phase.layout, place)
    leaving = [arrival for each in inside for stream in each.outputs for arrival in layout.leaving(stream)]
    outside = [layout.place(each.place) for each in leaving if layout.place(each.place) not in inside]
    return all(each.is_tail for each in outside)


def _is_native(plan: Plan, phase: Phase, place: Place) -> bool:
    pes = [pe for each in _places(phase.layout, place) for pe in plan.pes_at(phase.name, each.id)]
    return bool(pes) and all(pe.segments and all(each.form == "native" for each in pe.segments) for pe in pes)


def _is_native_behind(plan: Plan) -> bool:
    """Whether all that is done in one place has native code, so that no tuple becomes a row on its way there."""
    pes = plan.pes_at(plan.phases[0].name, TAIL)
    return all(segment.form == "native" for pe in pes for segment in pe.segments)


def _weight(plan: Plan, layout: Layout, place: Place) -> Weight:
    operators = [each for inside in _places(layout, place) for each in inside.operators]
    work = sum(native_work(layout.graph.operator(each).definition) for each in operators)
    attributes = [each for arrival in layout.coming_to(place) for each in _schema(layout, arrival).attributes]
    texts = sum(each.type.kind == "str" for each in attributes)
    exchange = EXCHANGE + PER_ATTRIBUTE * (len(attributes) - texts) + PER_TEXT * texts
    # What is made of a tuple as a rule is known only where it is always one. Of many tuples few parts are made.
    is_kept = all(_gives_one(plan, each) for each in operators)
    return Weight(place.channels, work, exchange, 0 if is_kept else TAKING)


def _gives_one(plan: Plan, operator_id: str) -> bool:
    properties = plan.properties.get(operator_id)
    return properties is not None and properties.selectivity is Selectivity.EXACTLY_ONE


def _schema(layout: Layout, arrival: Arrival) -> Schema:
    return layout.graph.operator(arrival.stream.operator).outputs[arrival.stream.port].schema
