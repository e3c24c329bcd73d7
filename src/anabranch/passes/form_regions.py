"""Which operators run in parallel channels together (paper 000, sections 3.1, 3.3 and 5.3).

Regions are formed from left to right, as close to the sources as possible, and grow while every safety condition
holds. Every condition is an early exit that says why; the reasons become the explanation.

Beyond the paper's fan-out of 1, an operator with several outputs may be in a region: that goes on on the main output,
if one operator takes it, and the others are exits (design, section 3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from anabranch.graph.index import GraphIndex
from anabranch.graph.model import Operator
from anabranch.graph.plan import Plan, Region
from anabranch.graph.properties import Properties, Reason, Selectivity, State
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.distinct import Distinct
from anabranch.operators.join import Join
from anabranch.passes.loop_rounds import operators_tied_by_loops


def apply(plan: Plan) -> Plan:
    """Form regions; a fusion dependency that leaves its region puts its operators back, until all holds."""
    tied = operators_tied_by_loops(plan)
    while True:
        former = _Former(plan, tied)
        former.form()
        torn = _torn_fusions(plan, former.regions)
        if not torn:
            break
        tied = {**tied, **torn}
    return replace(plan, regions=tuple(former.regions), sequential=MappingProxyType(former.sequential))


def _torn_fusions(plan: Plan, regions: list[Region]) -> dict[str, Reason]:
    """Operators that must share a PE but not a region (3.1, "region-local fusion dependencies")."""
    home = {operator_id: region.id for region in regions for operator_id in region.operators}
    groups: dict[str, list[Operator]] = {}
    for operator in plan.graph.operators:
        if operator.hints.pe is not None:
            groups.setdefault(operator.hints.pe, []).append(operator)
    torn = {}
    for name, members in groups.items():
        if len({home.get(member.id) for member in members}) > 1:
            for member in members:
                if member.id in home:
                    others = ", ".join(f"'{other.id}'" for other in members if other is not member)
                    torn[member.id] = Reason(
                        "region",
                        f"it must be fused with {others} (pe={name!r}), which cannot be in the same region",
                        member.location,
                        hint="leave out pe=, or give the operators different ones",
                    )
    return torn


@dataclass(frozen=True)
class _Growing:
    """A region while it grows: its key so far, and which attributes still are what they were at the entry."""

    operators: tuple[str, ...]
    key: tuple[str, ...] | None  # None while every operator is stateless
    forwarded: Mapping[str, str]  # attribute now -> attribute at the entry
    selectivity: Selectivity
    clocks: tuple[str, ...]


class _Former:
    def __init__(self, plan: Plan, tied: Mapping[str, Reason]) -> None:
        self.plan = plan
        self.index = GraphIndex(plan.graph)
        self.tied = tied
        self.regions: list[Region] = []
        self.sequential: dict[str, tuple[Reason, ...]] = {}
        self._assigned: dict[str, str] = {}

    def form(self) -> None:
        for operator_id in self.index.topological:
            if operator_id in self._assigned:
                continue
            operator = self.plan.graph.operator(operator_id)
            reasons = self._not_parallel(operator)
            if reasons:
                self.sequential[operator_id] = reasons
                continue
            self._grow_from(operator)

    def _grow_from(self, entry: Operator) -> None:
        region = self._begin(entry)
        if isinstance(region, Reason):
            self.sequential[entry.id] = (region,)
            return
        while True:
            successor = self._next(region)
            if isinstance(successor, Operator):
                grown = self._add(region, successor)
                if isinstance(grown, _Growing):
                    region = grown
                    continue
                successor = grown
            break
        identity = f"R{len(self.regions) + 1}"
        self._assigned |= dict.fromkeys(region.operators, identity)
        reasons = (successor,) if isinstance(successor, Reason) else ()
        self.regions.append(
            Region(
                identity,
                region.operators,
                region.key or (),
                region.selectivity,
                clocks=region.clocks,
                reasons=reasons,
            )
        )

    # Conditions on one operator (3.1) ---------------------------------------------------------------------------

    def _not_parallel(self, operator: Operator) -> tuple[Reason, ...]:
        """Why this operator can be in no region at all; nothing if it can."""
        if operator.id in self.tied:
            return (self.tied[operator.id],)
        properties = self.plan.properties[operator.id]
        if properties.state is State.STATEFUL:
            return properties.about("state") or (Reason("state", "its state is not known", operator.location),)
        if operator.kind == "union":
            return (Reason("region", "streams meet here, and their tuples are put in order", operator.location),)
        if len(operator.inputs) > 1 and properties.state is not State.PARTITIONED:
            return (
                Reason(
                    "region",
                    f"it has {len(operator.inputs)} inputs, and no key by which to split them all",
                    operator.location,
                ),
            )
        return ()

    # Growing (3.1, 3.3) -----------------------------------------------------------------------------------------

    def _begin(self, entry: Operator) -> _Growing | Reason:
        schema = (entry.inputs or entry.outputs)[0].schema
        empty = _Growing((), None, {name: name for name in schema.names}, Selectivity.EXACTLY_ONE, ())
        return self._add(empty, entry)

    def _next(self, region: _Growing) -> Operator | Reason | None:
        """The operator behind the region, if there is exactly one and it may be added to any region."""
        last = self.plan.graph.operator(region.operators[-1])
        leaving = self.index.leaving(last.id)
        if not leaving:
            return None
        if len(last.outputs) > 1:
            # What an operator forwards is known of its main output; on the others tuples leave the region here.
            leaving = tuple(edge for edge in leaving if last.has_main_output and edge.source_port == 0)
            if not leaving:
                names = ", ".join(port.name for port in last.outputs)
                return Reason(
                    "region", f"it ends at '{last.id}', which has several output streams ({names})", last.location
                )
        if len(leaving) > 1:
            names = ", ".join(f"'{edge.target}'" for edge in leaving)
            return Reason("region", f"it ends at '{last.id}', whose stream goes to {names}", last.location)
        successor = self.plan.graph.operator(leaving[0].target)
        problem = self._not_parallel(successor)
        if problem:
            return Reason("region", f"it ends before '{successor.id}': {problem[0].text}", successor.location)
        if len(successor.inputs) > 1:
            return Reason("region", f"it ends before '{successor.id}', where streams meet", successor.location)
        if _has_stream_clock(successor):
            text = f"it ends before '{successor.id}', whose time is that of the whole stream before it"
            if self._has_key_of(region, successor):
                # Why not at the entry of the region is in ARCHITECTURE.md, with the departures.
                text += ": it has the key, but every channel has to be told that time, so tuples are exchanged again"
            return Reason("region", text, successor.location)
        return successor

    def _has_key_of(self, region: _Growing, operator: Operator) -> bool:
        """Whether tuples that an operator needs together are in one channel of a region."""
        own = [region.forwarded.get(name) for name in self.plan.properties[operator.id].key]
        return bool(region.key) and all(name in own for name in region.key or ())

    def _add(self, region: _Growing, operator: Operator) -> _Growing | Reason:
        properties = self.plan.properties[operator.id]
        key = region.key
        if properties.state is State.PARTITIONED:
            own = tuple(region.forwarded[name] for name in properties.key if name in region.forwarded)
            if not own:
                return _not_forwarded(operator, properties, region)
            if key is None:
                key = own
            else:
                common = tuple(name for name in key if name in own)
                if not common:
                    return _incompatible(operator, properties, key)
                key = common
        forwarded = {out: region.forwarded[into] for out, into in properties.forwards if into in region.forwarded}
        clocks = (*region.clocks, operator.id) if _has_stream_clock(operator) else region.clocks
        selectivity = region.selectivity.then(properties.selectivity)
        return _Growing((*region.operators, operator.id), key, forwarded, selectivity, clocks)


def _has_stream_clock(operator: Operator) -> bool:
    """Its time is read where the whole stream is seen, directly before it: so a region begins with it."""
    match operator.definition:
        case WindowAggregate(window=window):
            return window.is_by_time and window.clock == "stream"
        case Distinct(window=window):
            return window is not None and window.is_by_time
        case Join(left=left, right=right):
            return left.is_by_time or right.is_by_time
        case _:
            return False


def _not_forwarded(operator: Operator, properties: Properties, region: _Growing) -> Reason:
    before = f"'{region.operators[-1]}'" if region.operators else "its input"
    return Reason(
        "region",
        f"it ends before '{operator.id}', whose key ({', '.join(properties.key)}) does not come unchanged "
        f"through {before}",
        operator.location,
    )


def _incompatible(operator: Operator, properties: Properties, key: tuple[str, ...]) -> Reason:
    return Reason(
        "region",
        f"it ends before '{operator.id}', whose key ({', '.join(properties.key)}) has nothing in common with "
        f"{', '.join(key)}",
        operator.location,
    )
