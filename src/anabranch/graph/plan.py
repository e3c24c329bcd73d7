"""A program as the compiler sees it: the graph, and what each pass has found out or decided so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any

from anabranch.errors import BuildError
from anabranch.graph.forms import Form
from anabranch.graph.model import Graph
from anabranch.graph.places import Loop, Phase, Reading
from anabranch.graph.properties import Properties, Reason, Selectivity
from anabranch.graph.settings import IN_PROCESS, Settings


class JointKind(Enum):
    """How tuples enter or leave a parallel region (paper 000, section 3.4)."""

    SOURCE = "source"
    SPLIT = "split"
    SHUFFLE = "shuffle"
    MERGE = "merge"
    SINK = "sink"


class Ordering(Enum):
    """How the order is restored behind a region (paper 000, Table 1)."""

    NONE = "none"
    ROUND_ROBIN = "round-robin"
    SEQNO = "seqno"
    STRICT = "strict-seqno-pulse"
    RELAXED = "relaxed-seqno-pulse"


@dataclass(frozen=True)
class Region:
    """Operators that run in parallel channels, from the first joint to the last.

    `key` is expressed in attributes at the region's entry (of the first input, for a join); empty when every
    operator is stateless, so that any tuple may go to any channel. `selectivity` is that of the whole region.
    `clocks` are operators of the region whose time is the stream's: the first joint carries it into every channel.
    """

    id: str
    operators: tuple[str, ...]
    key: tuple[str, ...]
    selectivity: Selectivity
    first_joint: JointKind | None = None
    last_joint: JointKind | None = None
    ordering: Ordering | None = None
    clocks: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = field(default=(), compare=False)

    @property
    def entry(self) -> str:
        return self.operators[0]

    @property
    def exit(self) -> str:
        return self.operators[-1]


@dataclass(frozen=True)
class Segment:
    """Operators of a PE that are one generated function. `form` is None where the one asked for cannot be had."""

    operators: tuple[str, ...]
    form: str | None  # native | python
    why_not_native: Reason | None = field(default=None, compare=False)


@dataclass(frozen=True)
class PE:
    """Operators fused into one processing element. It never spans a place.

    `segments` are the functions it is cut into where not all of it can be native; sources are in none, and sinks only
    where they take turns with others. `why_together` says why operators are in it that should have been by themselves,
    and `why_apart` why others are not that should have been.
    """

    id: str
    operators: tuple[str, ...]
    phase: str
    place: str
    segments: tuple[Segment, ...] = ()
    why_together: tuple[Reason, ...] = field(default=(), compare=False)
    why_apart: tuple[Reason, ...] = field(default=(), compare=False)


def _empty() -> Mapping[Any, Any]:
    return MappingProxyType({})


@dataclass(frozen=True)
class Plan:
    """Everything the compiler knows; a pass takes one and gives a new one."""

    graph: Graph
    settings: Settings = field(default_factory=lambda: Settings(IN_PROCESS))
    properties: Mapping[str, Properties] = field(default_factory=_empty)  # by operator
    regions: tuple[Region, ...] = ()
    sequential: Mapping[str, tuple[Reason, ...]] = field(default_factory=_empty)  # why an operator is in no region
    channels: Mapping[str, int] = field(default_factory=_empty)  # of every region
    expected: int | None = None  # tuples, at least about so many; None where that cannot be told
    form: Form = "auto"  # what is asked for, or "python" where compiling would not pay
    phases: tuple[Phase, ...] = ()
    loop: Loop | None = None
    pes: tuple[PE, ...] = ()
    light: Mapping[str, str] = field(default_factory=_empty)  # operators that are not worth channels, and why
    worth: Mapping[str, str] = field(default_factory=_empty)  # regions that are, where that was weighed
    unweighed: Mapping[str, str] = field(default_factory=_empty)  # regions of which it is not known, and why

    def region_of(self, operator_id: str) -> Region | None:
        return self._regions_by_operator.get(operator_id)

    @property
    def _regions_by_operator(self) -> dict[str, Region]:
        found: dict[str, Region] | None = self.__dict__.get("_index")
        if found is None:
            found = {operator_id: region for region in self.regions for operator_id in region.operators}
            object.__setattr__(self, "_index", found)
        return found

    def pe_of(self, operator_id: str) -> PE | None:
        return next((pe for pe in self.pes if operator_id in pe.operators), None)

    def pes_at(self, phase: str, place: str) -> tuple[PE, ...]:
        return tuple(pe for pe in self.pes if (pe.phase, pe.place) == (phase, place))

    def phase(self, name: str) -> Phase:
        for phase in self.phases:
            if phase.name == name:
                return phase
        raise BuildError(f"the plan has no phase '{name}'")

    @property
    def is_in_process(self) -> bool:
        """Whether all of it runs in the process of the program."""
        return all(phase.is_in_process for phase in self.phases)

    @property
    def in_one_place(self) -> Mapping[str, str]:
        """The regions that are laid out, but not in channels, and why; a target without channels has no such."""
        if not self.settings.target.has_channels:
            return _empty()
        found: dict[str, str] = {}
        for phase in self.phases:
            regions = [each for each in self.regions if phase.is_in_process]
            found |= {each.id: f"all of it runs in the driver: {phase.why}" for each in regions}
            found |= dict(phase.layout.refused)
        return found

    @property
    def read_in_one_place(self) -> Mapping[str, str]:
        """The sources that are not read in parallel, though a region may begin with them, and who reads them."""
        if not self.settings.target.has_channels:
            return _empty()
        readers = {Reading.ONE_TASK: "one task reads it", Reading.HERE: "the driver reads it"}
        return {
            source.id: readers[phase.reading] + (f": {phase.why}" if phase.why else "")
            for phase in self.phases
            if phase.reading in readers
            for source in phase.layout.graph.sources
        }

    @property
    def in_slices(self) -> tuple[str, ...]:
        """The sources that many tasks read."""
        return tuple(
            source.id
            for phase in self.phases
            if phase.reading is Reading.SLICES
            for source in phase.layout.graph.sources
        )
