"""How a program is laid out: its places, in levels, and the streams between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, ClassVar

from anabranch.graph.model import Definition, Edge, Graph, Operator, Record, StreamId
from anabranch.graph.order_keys import Lineage, merge_lineages, merge_paths
from anabranch.graph.windows import Window

SOURCES, PARTS, TAIL = "sources", "parts", "tail"


@dataclass(frozen=True)
class Clock:
    """What the time of a stream is needed for: to close windows at their ends, or else with every tuple.

    Of a join it `is_bare`: only numbers, each at the place of the tuple that it is of, and behind it.
    """

    window: Window
    has_boundaries: bool
    is_bare: bool = False


@dataclass(frozen=True)
class Lines:
    """Tuples go to a sink as the lines that it writes to its file: they are made in the channels they come from."""

    sink: str
    format: str
    options: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Arrival:
    """A stream that comes into a place: by key, or else whole stretches in turn, and what it carries for its order.

    With `bounds`, channels have ranges of the key instead of hashes. Where streams have met before, its tuples have
    come on one of several `paths`. With a `clock`, it is only the tuples that move the time, for those channels that
    they are not in. A stream that has come `again` has come so many times before, for other operators of the place, and
    has been elsewhere since. What comes as `lines` is only put in order and written.
    """

    stream: StreamId
    place: str
    key: tuple[str, ...] = ()
    bounds: tuple[Any, ...] = ()
    lineage: Lineage = ()
    clock: Clock | None = None
    paths: tuple[Lineage, ...] = ()
    again: int = 0
    lines: Lines | None = None


@dataclass(frozen=True)
class Place:
    """Operators that run together. `operators` are in the order of the program; those of the tail are without sinks.

    Numbers of outputs get a column more where one item may become several. One operator by itself may be `ranked`: what
    it gives for many keys at one moment is put in order by columns of its own (`ranks`: the end of a window, then the
    first tuple of a window or key; groups of a window come behind one another, by their own first tuples), or it needs
    the stream's time. A place that `follows` another runs in the same channels, in the same task.
    """

    id: str
    operators: tuple[str, ...]
    level: int
    channels: int
    inputs: tuple[StreamId, ...] = ()
    outputs: tuple[StreamId, ...] = ()
    is_prolific: bool = False
    region: str | None = None
    is_ranked: bool = False
    follows: str | None = None
    ranks: Lineage = ()

    @property
    def is_tail(self) -> bool:
        return self.id == TAIL

    @property
    def has_turns(self) -> bool:
        """Whether what it gives is numbered over all of its outputs: of an item that is done in one channel."""
        return self.is_prolific and len(self.outputs) > 1


@dataclass(frozen=True)
class Elsewhere(Definition):
    """In place of the definition of an operator of which only the streams are known."""

    record: ClassVar[Record] = Record(kind="elsewhere")


@dataclass(frozen=True)
class Layout:
    """All places, the tail last, and for each stream that leaves one where it arrives.

    What comes to the tail `is_ordered`, but for the only sink of a program, where that does without. Of several sinks
    each may refuse a tuple, and in the order it shows which does so first.

    Its graph is that of the program, but for operators in two steps: `first_steps` names for each the one before it,
    which makes parts where the tuples are.
    """

    graph: Graph
    places: tuple[Place, ...]
    arrivals: tuple[Arrival, ...]
    is_ordered: bool = True
    refused: tuple[tuple[str, str], ...] = ()  # regions that are in one place after all, and why
    first_steps: tuple[tuple[str, str], ...] = ()
    _by_id: Mapping[str, Place] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_id", {place.id: place for place in self.places})

    def for_tasks(self, *, read_sources: bool = True) -> Layout:
        """The same without what the driver does, which may hold things that exist only there: the tail, for one."""
        needed = [each for place in self.places if not place.is_tail for each in place.operators]
        if not read_sources:
            needed = [each for each in needed if not self.graph.operator(each).is_source]
        operators = tuple(
            each if each.id in needed else replace(each, definition=Elsewhere()) for each in self.graph.operators
        )
        return replace(self, graph=replace(self.graph, operators=operators))

    def place(self, place_id: str) -> Place:
        return self._by_id[place_id]

    def place_of(self, operator_id: str) -> Place:
        """Sinks are in the tail, but for those that tasks write."""
        return next((place for place in self.places if operator_id in place.operators), self._by_id[TAIL])

    def made_for(self, operator_id: str) -> str | None:
        """The operator that is put together of the parts that this one makes, if it does."""
        return next((whole for whole, first in self.first_steps if first == operator_id), None)

    @property
    def has_parts(self) -> bool:
        """Whether tasks write the output."""
        return PARTS in self._by_id

    @property
    def waits_for_all(self) -> bool:
        """Whether nothing is taken for good before it is known what else has come: tasks write what they have."""
        return self.is_ordered and not self.has_parts

    @property
    def levels(self) -> tuple[tuple[Place, ...], ...]:
        """The places between the sources and the tail, by level; without those that follow one of them."""
        last = max((place.level for place in self.places if not place.is_tail), default=0)
        between = [place for place in self.places if not place.is_tail and place.follows is None]
        return tuple(tuple(place for place in between if place.level == level) for level in range(1, last + 1))

    def arriving(self, place_id: str) -> list[Arrival]:
        return [arrival for arrival in self.arrivals if arrival.place == place_id]

    def items(self, place_id: str) -> list[Arrival]:
        """The same without bare times, which are no items."""
        return [each for each in self.arriving(place_id) if each.clock is None or not each.clock.is_bare]

    def leaving(self, stream: StreamId) -> list[Arrival]:
        return [arrival for arrival in self.arrivals if arrival.stream == stream]

    def ways(self, stream: StreamId) -> list[tuple[str, tuple[Edge, ...]]]:
        """The places that a stream goes to, in the order of its consumers there; one may be come back to."""
        found: list[tuple[str, tuple[Edge, ...]]] = []
        for edge in self.graph.edges:
            if (edge.source, edge.source_port) == (stream.operator, stream.port) and not edge.is_feedback:
                place = self.place_of(edge.target).id
                before = found.pop()[1] if found and found[-1][0] == place else ()
                found.append((place, (*before, edge)))
        source = self.place_of(stream.operator).id
        return [way for way in found if way[0] != source]

    def only_sink_of(self, arrival: Arrival) -> Operator | None:
        """The sink that alone takes what comes to the tail, if there is one."""
        stream = arrival.stream
        taken = [edge for way, edges in self.ways(stream) if way == TAIL for edge in edges]
        if arrival.place != TAIL or len(taken) != 1:
            return None
        target = self.graph.operator(taken[0].target)
        return target if target.is_sink else None

    def first_channel(self, place: Place) -> int:
        """Where its channels begin among those of its level; if it follows another, they are those of that one."""
        place = self.leading(place)
        level = [other for other in self.places if other.level == place.level and not other.is_tail]
        before = [other for other in level[: level.index(place)] if other.follows is None]
        return sum(other.channels for other in before)

    def leading(self, place: Place) -> Place:
        """The one in whose tasks it runs: itself, unless it follows another."""
        return place if place.follows is None else self.leading(self.place(place.follows))

    def following(self, place: Place) -> list[Place]:
        """Those that run in its tasks, behind it, in the order in which tuples come to them."""
        return [other for other in self.places if other.follows is not None and self.leading(other) == place]

    def stays(self, arrival: Arrival) -> bool:
        """Whether what comes to a place that follows is in its channels already."""
        before, place = self.place_of(arrival.stream.operator), self.place(arrival.place)
        return place.follows is not None and self.leading(before) == self.leading(place)

    def coming_to(self, place: Place) -> list[Arrival]:
        """What comes to a place, and to those that follow it, from elsewhere."""
        inside = [place, *self.following(place)]
        return [each for one in inside for each in self.arriving(one.id) if not self.stays(each)]

    def lineage_of_items(self, place: Place) -> Lineage:
        """What the items of a place are ordered by, once its streams have met."""
        return merge_lineages([arrival.lineage for arrival in self.items(place.id)], place.id)

    def paths_of_items(self, place: Place) -> tuple[Lineage, ...]:
        """How they may have come there."""
        return merge_paths([path for arrival in self.items(place.id) for path in arrival.paths], place.id)


class Reading(Enum):
    """Who reads the sources of a phase."""

    SLICES = "slices"  # many tasks, a slice of the only source each
    APART = "a task each"  # for each source, or file of a partitioned one, which are drawn in turn
    ONE_TASK = "one task"  # which draws from all of them
    HERE = "here"  # the process that runs the program
    ENTRIES = "entries"  # tasks, what has arrived since: slices of the only stream
    ENTRIES_IN_TURN = "entries in turn"  # the same of several streams: items are numbered as they are drawn
    ROUND = "round"  # nobody: what enters is what came around


class Taking(Enum):
    """How the process of the program takes what it reads."""

    COLUMNS = "columns"  # of the only source, a slice after the other
    TOGETHER = "together"  # tuples, as many as take a moment
    ONE_BY_ONE = "one by one"  # each is processed before the next is drawn


@dataclass(frozen=True)
class Phase:
    """What is laid out by itself: a whole run; or of a loop that runs in rounds what is before it, and each round.

    Of the operators in the tail, `watched` are those that share nothing, as far as is known: what is built into their
    code has to be as it was when the phase has ended.
    """

    name: str  # run | before | round
    reading: Reading
    layout: Layout
    why: str = ""  # sources are read here, or a loop runs as a whole
    taking: Taking | None = None  # where all of it is in this process
    watched: tuple[str, ...] = ()

    @property
    def is_in_process(self) -> bool:
        """Whether all of it is in the process that runs the program."""
        return self.reading is Reading.HERE and not self.layout.levels


@dataclass(frozen=True)
class Loop:
    """A loop that runs in rounds. The entry is the sink of the first phase and the source of the second."""

    entry: str
    back: str  # the sink of the second phase for what comes around
