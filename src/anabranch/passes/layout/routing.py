"""By which attributes a stream is in its channels, as far as they come unchanged: who needs that key can stay there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anabranch.graph.index import GraphIndex
from anabranch.graph.model import Edge, StreamId
from anabranch.graph.plan import Plan

Keys = Mapping[StreamId, tuple[str, ...]]


class Routing:
    """What is known while operators are put into places, one after the other, in the order of their streams."""

    def __init__(
        self,
        plan: Plan,
        home: Mapping[str, str],  # operator -> place
        follows: Mapping[str, str],  # place -> the one in whose channels it runs
        keys: Mapping[str, Keys],  # place -> the attributes by which streams are brought to it
    ) -> None:
        self.plan = plan
        self.index = GraphIndex(plan.graph)
        self.home, self.follows, self.keys = home, follows, keys

    def leading(self, place: str) -> str:
        """The place in whose tasks one runs."""
        while place in self.follows:
            place = self.follows[place]
        return place

    def same_key(
        self, edge: Edge, entering: Sequence[Edge], keys: Sequence[tuple[str, ...]]
    ) -> dict[StreamId, tuple[str, ...]] | None:
        """Whether who takes these streams by these keys, one for each input, can be where one of them comes from.

        By which attributes the others are brought there; a part of the key will do, if it is the same part of each.
        """
        leading = self.leading(self.home[edge.source])
        routed = self.key_of(edge.source)
        if not routed or any(name not in keys[edge.target_port] for name in routed):
            return None
        at = [keys[edge.target_port].index(name) for name in routed]
        found: dict[StreamId, tuple[str, ...]] = {}
        for each in entering:
            key = tuple(keys[each.target_port][number] for number in at)
            if self.leading(self.home[each.source]) == leading:
                if self.key_of(each.source) != key:
                    return None  # it would have to be exchanged among the channels that it comes from
                continue
            if found.setdefault(StreamId(each.source, each.source_port), key) != key:
                return None
        return found

    def key_of(self, operator_id: str) -> tuple[str, ...]:
        """The attributes of what an operator gives that its channels are by; none where one of them was changed."""
        way: list[str] = []  # back to where the channels begin
        while True:
            way.append(operator_id)
            place = self.home[operator_id]
            first = next((edge for edge in self._before(operator_id) if edge.target_port == 0), None)
            if first is None or len(self.plan.graph.operator(operator_id).outputs) != 1:
                return ()
            if self.leading(self.home[first.source]) != self.leading(place):
                break
            operator_id = first.source
        names = self.keys.get(place, {}).get(StreamId(first.source, first.source_port), ())
        for each in reversed(way):
            operator = self.plan.graph.operator(each)
            taken, given = operator.inputs[0].schema, operator.outputs[0].schema
            # Of several inputs, keys are named as they are in the first.
            same = [(out, into) for out, into in self.plan.properties[each].forwards if into in taken]
            out_of = {into: out for out, into in same if given[out].kind == taken[into].kind}
            if any(name not in out_of for name in names):
                return ()
            names = tuple(out_of[name] for name in names)
        return names

    def _before(self, operator_id: str) -> list[Edge]:
        return [edge for edge in self.index.entering(operator_id) if not edge.is_feedback]
