"""From a plan to its layout: places, in levels one after the other, and the streams between them.

A *place* is a part of the program that runs as one processing element in each of its channels. Places of one level run
at the same time; between two levels tuples are exchanged. What has no parallel region behind it runs in the
driver, with the sinks: the *tail*.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from anabranch.graph.index import GraphIndex
from anabranch.graph.model import Edge, Operator, StreamId
from anabranch.graph.places import SOURCES, TAIL, Arrival, Clock, Layout, Place
from anabranch.graph.plan import Ordering, Plan, Region
from anabranch.graph.properties import Selectivity, State
from anabranch.graph.traverse import loops
from anabranch.graph.windows import Window
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.distinct import Distinct
from anabranch.operators.join import Join
from anabranch.operators.process import Process
from anabranch.operators.split import Split
from anabranch.passes.layout.lineages import with_lineages
from anabranch.passes.layout.ranks import is_ranked
from anabranch.passes.layout.refuse_regions import refused_in, why_not
from anabranch.passes.layout.routing import Routing


def assign_places(plan: Plan, *, slices_sources: bool, first_steps: Mapping[str, str] = MappingProxyType({})) -> Layout:
    """Lay a plan out; `slices_sources` says that tasks read the only source in parallel.

    `first_steps` are the operators that make parts of what others put together: they run where their tuples are.

    A region whose streams meet others in a way that cannot be put in order is not parallel here: it joins what runs in
    one place, until all meetings can be put in order.
    """
    refused = {region.id: why for region in plan.regions if (why := why_not(plan, region))}
    while True:
        builder = _Builder(plan, refused, slices_sources, first_steps)
        layout = builder.layout()
        problem = builder.torn or refused_in(replace(plan, regions=tuple(builder.regions)), layout)
        if not problem:
            return replace(layout, refused=tuple(refused.items()), first_steps=tuple(first_steps.items()))
        refused |= problem


def _is_plain_split(operator: Operator) -> bool:
    """Whether a tuple goes to one of its outputs, whose order is theirs."""
    return isinstance(operator.definition, Split) and operator.on_error == "stop"


def _names_of_key(operator: Operator) -> tuple[tuple[str, ...], ...]:
    """The attributes of the key in each input, pairwise."""
    match operator.definition:
        case Join(left_on=left, right_on=right):
            return left, right
        case Process(keys=keys):
            return keys
    raise AssertionError(f"{operator.id} has several inputs and a key")


class _Builder:
    def __init__(
        self, plan: Plan, refused: Mapping[str, str], slices_sources: bool, first_steps: Mapping[str, str]
    ) -> None:
        self.plan = plan
        self.graph = plan.graph
        self.index = GraphIndex(plan.graph)
        self.channels = plan.channels
        self.slices_sources = slices_sources
        self.makers = tuple(first_steps.values())
        self.regions = [region for region in plan.regions if region.id not in refused]
        self.home: dict[str, str] = {}  # operator -> place
        self.members: dict[str, list[str]] = {SOURCES: [], TAIL: []}
        self.level: dict[str, int] = {SOURCES: 0}
        self.region: dict[str, str] = {}  # place -> the region it belongs to
        self.keys: dict[str, dict[StreamId, tuple[str, ...]]] = {}  # place -> the attributes its tuples are routed by
        self.follows: dict[str, str] = {}  # place -> the one in whose channels it runs
        self.routing = Routing(plan, self.home, self.follows, self.keys)
        self.splits: list[str] = []  # places with nothing but a split
        self.torn: dict[str, str] = {}  # regions that cannot be routed, and why

    def layout(self) -> Layout:
        self._assign()
        places = self._places()
        layout = Layout(self.graph, places, (), is_ordered=bool(self.members[TAIL]) or self._needs_order())
        return with_lineages(replace(layout, arrivals=tuple(self._arrivals(layout))))

    def _needs_order(self) -> bool:
        """Whether the order that the only sink of a program would see has been chosen for its region, or before it."""
        [sink, *others] = self.graph.sinks
        [edge] = self.index.entering(sink.id)
        before, region = self.plan.region_of(edge.source), self.plan.region_of(sink.id)
        if others or region is None or region.ordering is not Ordering.NONE:
            return True
        return before is not None and before.ordering is not Ordering.NONE

    # Which operator is where --------------------------------------------------------------------------------------

    def _assign(self) -> None:
        light = self.plan.light
        region_of = {each: region for region in self.regions for each in region.operators if each not in light}
        feeds_a_region = self._before_regions(region_of)
        for operator_id in self.index.topological:
            operator = self.graph.operator(operator_id)
            if operator.is_source:
                self._put(operator_id, SOURCES)
            elif operator.is_sink:
                continue
            elif operator_id in self.makers:
                self._put_where_tuples_are(operator)
            elif operator_id in region_of:
                self._put_in_region(operator, region_of[operator_id])
            elif operator_id in feeds_a_region:
                self._put_in_one_place(operator)
            else:
                self._put(operator_id, TAIL)

    def _put(self, operator_id: str, place: str) -> None:
        self.home[operator_id] = place
        self.members.setdefault(place, []).append(operator_id)

    def _before_regions(self, region_of: Mapping[str, Region]) -> set[str]:
        """Operators in no region from which a region can be reached, perhaps around a loop."""
        found: set[str] = set()
        # A sink that needs no order may be in a region, but is in the tail all the same.
        pending = [each for each in region_of if not self.graph.operator(each).is_sink]
        while pending:
            for edge in self.index.entering(pending.pop()):
                if edge.source not in found and edge.source not in region_of:
                    found.add(edge.source)
                    pending.append(edge.source)
        return found

    def _before(self, operator: Operator) -> list[Edge]:
        return [edge for edge in self.index.entering(operator.id) if not edge.is_feedback]

    def _put_in_region(self, operator: Operator, region: Region) -> None:
        entering = self._before(operator)
        if len(entering) > 1:
            if not self._put_by_the_same_key(operator, region, entering):
                self._put_where_streams_meet(operator, region, entering)
            return
        [edge] = entering
        before = self.home[edge.source]
        leaving, outputs = self.index.leaving(edge.source), self.graph.operator(edge.source).outputs
        is_only = edge.source in region.operators or (len(leaving) == 1 and len(outputs) == 1)
        needs_key = self.plan.properties[operator.id].state is State.PARTITIONED
        if self.region.get(before) == region.id and not (needs_key and not self._has_key(before)):
            self._put_into(operator, before)
            return
        # Stateless operators stay in the channels that their tuples are in already.
        is_read_in_channels = self.routing.leading(before) == SOURCES and self.slices_sources
        is_parallel_before = before in self.region or is_read_in_channels
        if not needs_key and is_parallel_before:
            if is_only:
                self._put_into(operator, before)
            else:
                self._put_behind(operator, before)
            return
        if needs_key and self._put_by_the_same_key(operator, region, entering):
            return
        self.level[region.id] = self.level[before] + 1
        self.region[region.id] = region.id
        key = self._key_at(operator, region)
        assert key or not needs_key, f"the key of {region.id} reaches the operators that need it"
        self.keys[region.id] = {StreamId(edge.source, edge.source_port): key}
        self._put(operator.id, region.id)

    def _put_into(self, operator: Operator, place: str) -> None:
        """Into a place, or one that follows it: an operator whose outputs are put in order is by itself.

        So is what begins with one of several outputs where slices are read: these are not numbered over all outputs.
        """
        is_by_itself = place in self.region and self._is_ranked_operator(operator.id)
        if self._is_ranked(place) or is_by_itself or (place == SOURCES and len(operator.outputs) > 1):
            self._put_behind(operator, place)
        else:
            self._put(operator.id, place)

    def _put_by_the_same_key(self, operator: Operator, region: Region, entering: list[Edge]) -> bool:
        """Into the channels where one of its streams is by its key already; the others are brought there."""
        if operator.id in region.clocks or self._asks_for_ranges(region):
            return False  # all channels are told the time of the whole stream, which none of them has
        keys = self._keys_at(operator, region, entering)
        for edge in entering:
            found = self.routing.same_key(edge, entering, keys)
            leading = self.routing.leading(self.home[edge.source])
            before = self.region.get(leading)
            if found is None or before is None or self.channels[before] != self.channels[region.id]:
                continue
            if self._asks_for_ranges(next(each for each in self.regions if each.id == before)):
                continue
            # At a later level the region would wait, and what comes to it would pass through the exchanges between.
            late = [stream for stream in found if self.level[self.home[stream.operator]] >= self.level[leading]]
            if not all(self._is_beside(stream, found[stream], leading) for stream in late):
                continue
            for stream in late:
                self._share_channels(leading, self.routing.leading(self.home[stream.operator]))
            self._put_behind(operator, self.home[edge.source])
            self.keys[self.home[operator.id]] = {each: key for each, key in found.items() if each not in late}
            self.region[self.home[operator.id]] = region.id
            return True
        return False

    def _is_beside(self, stream: StreamId, key: tuple[str, ...], leading: str) -> bool:
        """Whether a stream is in other channels of the same level by this key: these can be the same channels."""
        other = self.routing.leading(self.home[stream.operator])
        region, before = self.region.get(other), self.region[leading]
        if region is None or self.channels[region] != self.channels[before] or self.level[other] != self.level[leading]:
            return False
        asks = self._asks_for_ranges(next(each for each in self.regions if each.id == region))
        return not asks and self.routing.key_of(stream.operator) == key

    def _share_channels(self, one: str, other: str) -> None:
        """Two places of one level, in the same channels: what came to be later follows. Else it is so already."""
        leading = self.routing.leading(one), self.routing.leading(other)
        first, *later = sorted(dict.fromkeys(leading), key=list(self.members).index)
        self.follows.update(dict.fromkeys(later, first))

    def _keys_at(self, operator: Operator, region: Region, entering: list[Edge]) -> list[tuple[str, ...]]:
        """The region's key in the attributes of each of its inputs."""
        if len(entering) == 1:
            return [self._key_at(operator, region)]
        names = _names_of_key(operator)
        at = [names[0].index(name) for name in region.key]
        return [tuple(of_input[number] for number in at) for of_input in names]

    def _asks_for_ranges(self, region: Region) -> bool:
        definitions = [self.graph.operator(each).definition for each in region.operators]
        return any(isinstance(each, Process) and each.ranges is not None for each in definitions)

    def _put_behind(self, operator: Operator, before: str) -> None:
        """Into a place of its own in the same channels."""
        place = f"{before}, {operator.id}"
        self.follows[place] = before
        self.level[place] = self.level[before]
        if before in self.region:
            self.region[place] = self.region[before]
        self._put(operator.id, place)

    def _put_where_tuples_are(self, operator: Operator) -> None:
        """By itself, behind the place that its tuples leave."""
        [edge] = self._before(operator)
        self._put_behind(operator, self.home[edge.source])

    def _is_ranked(self, place: str) -> bool:
        return place in self.region and any(map(self._is_ranked_operator, self.members[place]))

    def _is_ranked_operator(self, operator_id: str) -> bool:
        operator = self.graph.operator(operator_id)
        return operator_id not in self.makers and is_ranked(operator, self.plan.properties[operator_id])

    def _put_where_streams_meet(self, operator: Operator, region: Region, entering: list[Edge]) -> None:
        """A region that begins with an operator of several inputs, which all have the key, under names of their own."""
        self.level[region.id] = 1 + max(self.level[self.home[edge.source]] for edge in entering)
        self.region[region.id] = region.id
        keys = self._keys_at(operator, region, entering)
        self.keys[region.id] = {}
        for edge in entering:
            stream = StreamId(edge.source, edge.source_port)
            key = keys[edge.target_port]
            if self.keys[region.id].setdefault(stream, key) != key:
                self.torn[region.id] = f"'{operator.id}' takes one stream twice, by different keys"
        self._put(operator.id, region.id)

    def _has_key(self, place: str) -> bool:
        return any(self.keys.get(self.routing.leading(place), {}).values())

    def _key_at(self, operator: Operator, region: Region) -> tuple[str, ...]:
        """The region's key in the attributes of what this operator takes."""
        names = {name: name for name in region.key}  # at the entry -> here
        for operator_id in region.operators:
            if operator_id == operator.id:
                break
            if self.graph.operator(operator_id).is_source:
                continue  # a region that begins with a source has its key in what the source gives
            out_of = {into: out for out, into in self.plan.properties[operator_id].forwards}
            names = {entry: out_of[now] for entry, now in names.items() if now in out_of}
        return tuple(names[name] for name in region.key if name in names)

    def _put_in_one_place(self, operator: Operator) -> None:
        """Operators of one level that are not parallel share a place, but for a split, whose outputs keep an order."""
        alone = _is_plain_split(operator) and not self._is_in_loop(operator)
        level = 1
        for edge in self._before(operator):
            before = self.home[edge.source]
            is_parallel = before == SOURCES or before in self.region or before in self.follows
            is_shared = not is_parallel and before not in self.splits
            level = max(level, self.level[before] + (0 if is_shared and not alone else 1))
        place = f"S{level}.{operator.id}" if alone else f"S{level}"
        self.level[place] = level
        if alone:
            self.splits.append(place)
        self._put(operator.id, place)

    def _is_in_loop(self, operator: Operator) -> bool:
        return any(operator.id in loop for loop in loops(self.graph))

    # Places and streams -----------------------------------------------------------------------------------------

    def _places(self) -> tuple[Place, ...]:
        last = max(self.level.values())
        self.level[TAIL] = last + 1
        # What follows a place comes behind it, when all that it is made of there has: as it was put there.
        order = sorted(self.members, key=lambda place: (self.level[place], self.routing.leading(place)))
        return tuple(self._place(place) for place in order)

    def _place(self, place: str) -> Place:
        operators = self.members[place]
        inside = dict.fromkeys(operators)
        if place == TAIL:
            inside |= dict.fromkeys(sink.id for sink in self.graph.sinks)
        inputs: dict[StreamId, None] = {}
        outputs: dict[StreamId, None] = {}
        for edge in self.graph.edges:
            if edge.target in inside and edge.source not in inside:
                inputs[StreamId(edge.source, edge.source_port)] = None
            elif edge.source in inside and edge.target not in inside:
                outputs[StreamId(edge.source, edge.source_port)] = None
        region = self.region.get(place)
        return Place(
            place,
            tuple(operators),
            self.level[place],
            self.channels[region] if region else 1,
            tuple(inputs),
            tuple(outputs),
            self._is_prolific(place, len(outputs)),
            region,
            self._is_ranked(place),
            self.follows.get(place),
        )

    def _is_prolific(self, place: str, outputs: int) -> bool:
        """Whether one item may become several, or it has to be known on which of several outputs it left first."""
        operators = self.members[place]
        if self._is_ranked(place):
            return False
        selectivity = Selectivity.EXACTLY_ONE
        for operator_id in operators if self.plan.properties else ():  # in one process nobody has asked for them
            selectivity = selectivity.then(self.plan.properties[operator_id].selectivity)
        if selectivity is Selectivity.UNBOUNDED:
            return True
        if place not in self.region and place not in self.follows:
            return place not in (SOURCES, *self.splits)
        return outputs > 1 and not (len(operators) == 1 and _is_plain_split(self.graph.operator(operators[0])))

    def _arrivals(self, layout: Layout) -> Iterator[Arrival]:
        for place in layout.places:
            for stream in place.inputs:
                arrival = Arrival(stream, place.id, self._key_of(place, stream), self._bounds(place))
                visits = [edges for way, edges in layout.ways(stream) if way == place.id]
                for again, edges in enumerate(visits):
                    yield replace(arrival, again=again)
                    yield from self._clocks_of_join(place, stream, edges, again)
                yield from self._clock(place, stream)

    def _key_of(self, place: Place, stream: StreamId) -> tuple[str, ...]:
        return self.keys.get(place.id, {}).get(stream, ())

    def _bounds(self, place: Place) -> tuple[Any, ...]:
        """Of `ab.ranges`, where that is the key of a region: who asks for it first has it."""
        region = next((each for each in self.regions if each.id == place.region), None)
        if region is None or len(region.key) != 1 or place.follows is not None:
            return ()
        definitions = [self.graph.operator(each).definition for each in region.operators]
        asked = [each.ranges for each in definitions if isinstance(each, Process) and each.ranges is not None]
        return asked[0].bounds if asked else ()

    def _clock(self, place: Place, stream: StreamId) -> Iterator[Arrival]:
        """The time of a stream that its windows close by, where it is in many channels."""
        for definition in [self.graph.operator(each).definition for each in place.operators if place.is_ranked]:
            clocked = Arrival(stream, place.id, self._key_of(place, stream), self._bounds(place))
            match definition:
                case WindowAggregate(window=window) if window.is_by_time and window.clock == "stream":
                    yield replace(clocked, clock=Clock(window, has_boundaries=True))
                case Distinct(window=Window() as window) if window.is_by_time:
                    is_tumbling = window.shape == "tumbling"
                    yield replace(clocked, clock=Clock(window, has_boundaries=is_tumbling))

    def _clocks_of_join(self, place: Place, stream: StreamId, taken: tuple[Edge, ...], again: int) -> Iterator[Arrival]:
        """The time that a join asks for, where it is in many channels. One stream may come into both of its inputs."""
        first = self.graph.operator(place.operators[0]) if place.operators else None
        if place.region is None or place.channels == 1 or first is None or not isinstance(first.definition, Join):
            return
        windows = (first.definition.left, first.definition.right)
        for window in dict.fromkeys(windows[edge.target_port] for edge in taken if edge.target == first.id):
            if window.is_by_time:
                clock = Clock(window, has_boundaries=False, is_bare=True)
                yield Arrival(stream, place.id, clock=clock, again=again)
