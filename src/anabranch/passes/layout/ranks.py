"""Operators that give something for many keys at one moment: how channels put that in order."""

from __future__ import annotations

from anabranch.graph.model import Operator
from anabranch.graph.order_keys import Lineage, Number, width
from anabranch.graph.places import Layout, Place
from anabranch.graph.properties import Properties
from anabranch.operators.aggregate import WindowAggregate
from anabranch.operators.aggregates import INDEX
from anabranch.operators.distinct import Distinct
from anabranch.operators.process import Process


def is_ranked(operator: Operator, properties: Properties) -> bool:
    """Whether an operator is by itself: it gives something for many keys at one moment, or needs the stream's time.

    Of windows with a key and groups it is the order of the keys that counts, which is known by the first group: no
    error may have taken that away.
    """
    match operator.definition:
        case WindowAggregate(group_by=groups):
            return not groups or operator.on_error == "stop"
        case Distinct(window=window):
            return window is not None and window.is_by_time
        case Process():
            return properties.emits_at_end or properties.emits_at_punctuation
        case _:
            return False


def ranks_of(layout: Layout, place: Place) -> Lineage:
    """The columns that a ranked place adds; what arrives there is known by now."""
    if not place.is_ranked:
        return ()
    [operator] = place.operators
    definition = layout.graph.operator(operator).definition
    if isinstance(definition, Distinct):
        return ()
    if not isinstance(definition, WindowAggregate):
        first = width(layout.lineage_of_items(place)) + 1  # the stretch, and the order there
        return (*(Number(f"first@{operator}") for _ in range(first)), Number(f"index@{operator}"))
    first = width(layout.arriving(place.id)[0].lineage) + 1
    ends = [Number(f"end@{operator}")] * len(INDEX) if definition.window.has_many_ends else []
    firsts = [Number(f"first@{operator}")] * first
    return (*ends, *firsts, *([Number(f"group@{operator}")] * first if definition.group_by else []))
