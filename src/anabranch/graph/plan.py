"""A program as the compiler sees it: the graph, and what each pass has found out or decided so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any

from anabranch.graph.model import Edge, Graph
from anabranch.graph.properties import Properties, Reason, Selectivity


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
    """Operators fused into one processing element: one generated function. It never spans a region's boundary.

    `segments` are the functions it is cut into where not all of it can be native; sources and sinks are in none.
    """

    id: str
    operators: tuple[str, ...]
    region: str | None = None
    segments: tuple[Segment, ...] = ()


def _empty() -> Mapping[Any, Any]:
    return MappingProxyType({})


@dataclass(frozen=True)
class Plan:
    """Everything the compiler knows; a pass takes one and gives a new one."""

    graph: Graph
    wanted_form: str = "auto"  # of generated code: auto | native | python
    properties: Mapping[str, Properties] = field(default_factory=_empty)  # by operator
    regions: tuple[Region, ...] = ()
    sequential: Mapping[str, tuple[Reason, ...]] = field(default_factory=_empty)  # why an operator is in no region
    order_keys: Mapping[Edge, tuple[str, ...]] = field(default_factory=_empty)  # components, outermost first
    pes: tuple[PE, ...] = ()

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
