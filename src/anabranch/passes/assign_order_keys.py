"""What every stream carries so that its order can be restored: the components of its path that can differ.

The names of components (design, section 2, "the order key"), outermost first:
  #X            the number a tuple was given at X: a region's splitter, a fan-out, or the draw of the sources
  round@S, partition@S, time@S   where a tuple of the parallel source S stands among the partitions
  branch@X      which of the streams that leave X it took
  index@X       which of the tuples of one number it is, behind the prolific region or operator X
  end@X, first@X  for what X emits when windows close or the stream ends: the window's end, the group's first arrival
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from anabranch.graph.index import GraphIndex
from anabranch.graph.model import Edge, Operator
from anabranch.graph.plan import JointKind, Ordering, Plan, Region
from anabranch.graph.properties import Selectivity
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.base import SourceDefinition
from anabranch.passes.meetings import DRAW, Meeting, numbered_meetings

Key = tuple[str, ...]


def apply(plan: Plan) -> Plan:
    assigner = _Assigner(plan)
    for operator_id in assigner.index.topological:
        assigner.visit(plan.graph.operator(operator_id))
    return replace(plan, order_keys=MappingProxyType(assigner.keys))


class _Assigner:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.index = GraphIndex(plan.graph)
        self.meetings = numbered_meetings(plan)
        self.keys: dict[Edge, Key] = {}
        self.emitted: dict[str, Key] = {DRAW: ()}  # by operator: the key before it is told which branch was taken

    def visit(self, operator: Operator) -> None:
        """Give every stream that leaves an operator its key."""
        region = self.plan.region_of(operator.id)
        key = self._behind(operator, region, self._before(operator, region))
        leaving = self.index.leaving(operator.id)
        spanning = [meeting for edge in leaving for meeting in self._spanning(edge)]
        if spanning and not key:
            outermost = min(spanning, key=self.meetings.index)
            key = (f"#{DRAW}",) if outermost.parting == DRAW else (f"#{operator.id}",)
        self.emitted[operator.id] = key
        for edge in leaving:
            self.keys[edge] = self._on(edge, key, fans_out=len(leaving) > 1, region=region)

    def _before(self, operator: Operator, region: Region | None) -> Key:
        """The key of what the operator processes, numbered by the region's splitter where it needs one."""
        entering = [edge for edge in self.index.entering(operator.id) if not edge.is_feedback]
        if len(entering) > 1:
            return self._at_a_meeting(operator, region, entering)
        carried = self.keys[entering[0]] if entering else ()
        if region is not None and operator.id == region.entry and not operator.is_source:
            before = self.plan.region_of(entering[0].source)
            is_fresh = before is None or before.last_joint is not JointKind.SHUFFLE
            if is_fresh and not self._spanning(entering[0]):
                carried = () if region.ordering in (Ordering.ROUND_ROBIN, Ordering.NONE) else (f"#{region.id}",)
                self.keys[entering[0]] = carried
        return carried

    def _at_a_meeting(self, operator: Operator, region: Region | None, entering: list[Edge]) -> Key:
        if region is not None:
            return self._at_a_parallel_meeting(region, entering)
        # In one place tuples are numbered afresh; only what a meeting further out needs stays before that.
        if not any(operator.id in meeting.between for meeting in self.meetings):
            return ()
        parted = next((meeting.parting for meeting in self.meetings if meeting.meeting == operator.id), None)
        outer = self.emitted[parted] if parted is not None else _shared_prefix([self.keys[edge] for edge in entering])
        return (*outer, f"#{operator.id}")

    def _at_a_parallel_meeting(self, region: Region, entering: list[Edge]) -> Key:
        """A join has its inputs numbered together by one splitter, or they come with numbers from where they parted."""
        if not any(self.keys[edge] for edge in entering):
            for edge in entering:
                self.keys[edge] = (f"#{region.id}",)
        return max((self.keys[edge] for edge in entering), key=len)

    def _behind(self, operator: Operator, region: Region | None, key: Key) -> Key:
        """What the operator adds to the key of what it processes."""
        definition = operator.definition
        if isinstance(definition, SourceDefinition):
            return _source_key(operator, definition, region)
        if not key:
            return ()
        key = (*key, *self._at_the_end(operator))
        if region is None and self.plan.properties[operator.id].selectivity is Selectivity.UNBOUNDED:
            return (*key, f"index@{operator.id}")
        return key

    def _at_the_end(self, operator: Operator) -> Key:
        """What is emitted at a punctuation or the end comes from all channels at one place."""
        properties = self.plan.properties[operator.id]
        if not properties.key or not (properties.emits_at_end or properties.emits_at_punctuation):
            return ()
        definition = operator.definition
        if isinstance(definition, WindowAggregate) and definition.window.is_by_time:
            return (f"end@{operator.id}", f"first@{operator.id}")
        return (f"first@{operator.id}",)

    def _on(self, edge: Edge, key: Key, *, fans_out: bool, region: Region | None) -> Key:
        """The key on one stream, given the key of what the operator emits."""
        spanning = self._spanning(edge)
        leaves_region = region is not None and edge.source == region.exit
        if leaves_region and region is not None:
            if region.ordering is Ordering.NONE:
                return ()
            is_prolific = region.selectivity is Selectivity.UNBOUNDED
            if key and is_prolific and (region.last_joint is JointKind.SHUFFLE or spanning):
                key = (*key, f"index@{region.id}")
        if not spanning:
            return key if region is not None else ()
        if fans_out and any(meeting.parting == edge.source for meeting in spanning):
            return (*key, f"branch@{edge.source}")
        return key

    def _spanning(self, edge: Edge) -> list[Meeting]:
        return [meeting for meeting in self.meetings if meeting.spans(edge)]


def _source_key(operator: Operator, source: SourceDefinition, region: Region | None) -> Key:
    if region is None or region.ordering is Ordering.NONE:
        return ()
    if source.order_by is not None:
        return (f"time@{operator.id}", f"partition@{operator.id}", f"round@{operator.id}")
    return (f"round@{operator.id}", f"partition@{operator.id}")


def _shared_prefix(keys: list[Key]) -> Key:
    prefix: list[str] = []
    for components in zip(*keys, strict=False):
        if any(component != components[0] for component in components):
            break
        prefix.append(components[0])
    return tuple(prefix)
