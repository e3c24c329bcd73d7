"""Which regions are worth their channels: what channels save for each tuple, against what bringing it there costs.

Where little is done for a tuple, the splitter does more for it than the channels (paper 000, section 6.2). With n of
them, n tuples at a time are exchanged and worked on, and what leaves meets in one process; without, that process takes
what comes in, and does the work itself. So channels save (n-1)/n of the work, and taking what the region drops; and
they cost 1/n of the exchange. The same holds before any other place in which all of it meets. Where all comes from one
such place, it does the work itself instead of sending its tuples to channels. A region between others in channels is
not weighed: its tuples would be exchanged all the same, and by one process.

Only native code does so little: tuples that come as rows of Python cost more than any exchange.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from anabranch.codegen.costs import native_work
from anabranch.dataflow.layout import choose_forms
from anabranch.graph.degree import asked_channels
from anabranch.graph.places import PARTS, SOURCES, TAIL, Arrival, Layout, Phase, Place, Reading
from anabranch.graph.plan import Plan
from anabranch.graph.properties import Selectivity
from anabranch.graph.schema import Schema
from anabranch.operators.split import Split
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


_BETWEEN = "its tuples go on to other channels, and would be exchanged all the same if it were in one place"


def apply(plan: Plan) -> Plan:
    """Where channels were not asked for, what is not worth them is done with what is behind it, or before."""
    found = dict(_neighbours(plan))
    weights = {place: _weight(plan, place, other) for place, other in found.items() if other is not None}
    worth = {str(place.region): str(weight) for place, weight in weights.items() if weight.pays}
    unweighed = {str(place.region): _BETWEEN for place, other in found.items() if other is None}
    plan = replace(plan, worth=MappingProxyType(worth), unweighed=MappingProxyType(unweighed))
    light = {place: found[place] for place, weight in weights.items() if not weight.pays}
    at_the_end = {place: other for place, other in light.items() if other is not None and other.is_tail}
    for those in (light, at_the_end) if light != at_the_end else (light,):
        together = _in_one_place(plan, {place: weights[place] for place in those})
        if those and _is_better(plan, together, those):
            return together
    return plan


def _in_one_place(plan: Plan, weights: Mapping[Place, Weight]) -> Plan:
    """The plan without the channels of these places."""
    light = {
        each: f"{weight} (--channels {place.region}={weight.channels} asks for them)"
        for place, weight in weights.items()
        for inside in _places(plan.phases[0].layout, place)
        for each in inside.operators
        if each in plan.properties  # with what makes parts of windows it is otherwise once these are whole
    }
    return choose_forms.apply(fuse.apply(lay_out.apply(replace(plan, light=MappingProxyType(light)))))


def _is_better(plan: Plan, together: Plan, light: Mapping[Place, Place | None]) -> bool:
    """Whether each is where its neighbour is, and all that is done there in native code: no tuple becomes a row."""
    before, after = plan.phases[0].layout, together.phases[0].layout
    for place, other in light.items():
        assert other is not None
        one = after.place(TAIL) if other.is_tail else after.place_of(other.operators[0])
        inside = [each for member in _places(before, place) for each in member.operators if each in plan.properties]
        if any(after.place_of(each) != one for each in (*inside, *other.operators) if each in plan.properties):
            return False
        segments = [segment for pe in together.pes_at(together.phases[0].name, one.id) for segment in pe.segments]
        if any(segment.form != "native" for segment in segments):
            return False
    return len(after.levels) <= len(before.levels)


def _neighbours(plan: Plan) -> Iterator[tuple[Place, Place | None]]:
    """What is in channels that nobody asked for, and the one place that might do it; none where there is no such."""
    target = plan.settings.target
    if target.is_endless or not target.has_channels or len(plan.phases) != 1:
        return
    [phase] = plan.phases
    asked = asked_channels(plan, plan.settings.channels)
    for place in phase.layout.places:
        is_exchanged = place.region is not None and place.follows is None and place.level > 0
        if not is_exchanged or place.region in asked or phase.reading is Reading.HERE:
            continue
        if _is_native(plan, phase, place):
            yield place, _meeting(phase.layout, place) or _only_source(plan, phase.layout, place)


def _places(layout: Layout, place: Place) -> list[Place]:
    return [place, *layout.following(place)]


def _meeting(layout: Layout, place: Place) -> Place | None:
    """The place in which all that leaves its channels meets, if it is one."""
    inside = _places(layout, place)
    leaving = [arrival for each in inside for stream in each.outputs for arrival in layout.leaving(stream)]
    outside = [layout.place(each.place) for each in leaving if layout.place(each.place) not in inside]
    return _the_one(layout, outside or [layout.place(TAIL)])


def _only_source(plan: Plan, layout: Layout, place: Place) -> Place | None:
    """The place that all its tuples come from, if it is one; nor does it make many tuples of one, which would leave."""
    operators = [each for inside in _places(layout, place) for each in inside.operators]
    if any(each not in plan.properties for each in operators):
        return None
    if any(plan.properties[each].selectivity is Selectivity.UNBOUNDED for each in operators):
        return None
    return _the_one(layout, [layout.place_of(each.stream.operator) for each in layout.coming_to(place)])


def _the_one(layout: Layout, places: Sequence[Place]) -> Place | None:
    """The only one of these places, where that has no channels; a split is by itself for the order of its outputs."""
    [first, *others] = dict.fromkeys(each.id for each in places)
    place = next(each for each in places if each.id == first)
    definitions = [layout.graph.operator(each).definition for each in place.operators]
    is_by_itself = place.id in (SOURCES, PARTS) or any(isinstance(each, Split) for each in definitions)
    is_one = place.region is None and place.follows is None and not others
    return place if is_one and not is_by_itself else None


def _is_native(plan: Plan, phase: Phase, place: Place) -> bool:
    pes = [pe for each in _places(phase.layout, place) for pe in plan.pes_at(phase.name, each.id)]
    return bool(pes) and all(pe.segments and all(each.form == "native" for each in pe.segments) for pe in pes)


def _weight(plan: Plan, place: Place, other: Place) -> Weight:
    layout = plan.phases[0].layout
    operators = [each for inside in _places(layout, place) for each in inside.operators]
    work = sum(native_work(layout.graph.operator(each).definition) for each in operators)
    attributes = [each for arrival in layout.coming_to(place) for each in _schema(layout, arrival).attributes]
    texts = sum(each.type.kind == "str" for each in attributes)
    exchange = EXCHANGE + PER_ATTRIBUTE * (len(attributes) - texts) + PER_TEXT * texts
    # What is made of a tuple as a rule is known only where it is always one. Of many tuples few parts are made.
    is_kept = other.level < place.level or all(_gives_one(plan, each) for each in operators)
    return Weight(place.channels, work, exchange, 0 if is_kept else TAKING)


def _gives_one(plan: Plan, operator_id: str) -> bool:
    properties = plan.properties.get(operator_id)
    return properties is not None and properties.selectivity is Selectivity.EXACTLY_ONE


def _schema(layout: Layout, arrival: Arrival) -> Schema:
    return layout.graph.operator(arrival.stream.operator).outputs[arrival.stream.port].schema
