"""Where the operators of a place may be cut in two: one stream leads from the first to the second, and nothing else.

Beyond a cut tuples are handed over a chunk at a time, so between branches there is none: there the order would be lost.
Nor is there one before a loop where several items may be made of a source tuple: what comes around waits for them all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from anabranch.graph.model import Edge, Graph, Operator
from anabranch.graph.properties import Reason
from anabranch.graph.turns import mistimed_loop
from anabranch.passes.effects import effects_of

Separates = Callable[[Operator, Operator], bool]


@dataclass(frozen=True)
class Group:
    """Operators that share a PE; where some of them should not, `why` they do."""

    operators: tuple[str, ...]
    why: tuple[Reason, ...] = ()


def cut_up(graph: Graph, operators: Sequence[str], separates: Separates) -> list[Group]:
    """The operators of a place in groups, one behind the other, as far as they may be cut apart."""
    wanted = [
        edge
        for edge in _inside(graph, operators)
        if separates(graph.operator(edge.source), graph.operator(edge.target))
    ]
    if not wanted:
        return [Group(tuple(operators))] if operators else []
    sharing = _sharing(graph, operators)
    if sharing is not None:
        return [Group(tuple(operators), (sharing,))]
    found: list[Group] = []
    rest = list(operators)
    for first in _firsts(graph, operators):
        second = [each for each in operators if each not in first]
        is_wanted = any(edge.source in first and edge.target in second for edge in wanted)
        if is_wanted and not _have_a_name_in_common(graph, first, second):
            found.append(_group(graph, [each for each in rest if each in first], wanted))
            rest = second
    return [*found, _group(graph, rest, wanted)]


def _inside(graph: Graph, operators: Sequence[str]) -> list[Edge]:
    known = dict.fromkeys(operators)
    return [edge for edge in graph.edges if edge.source in known and edge.target in known]


def _sharing(graph: Graph, operators: Sequence[str]) -> Reason | None:
    """Who shares something with others sees what they have done so far: no tuple may be ahead of another."""
    for operator in map(graph.operator, operators):
        effects = effects_of(operator) if not operator.is_source else ()
        if effects:
            why = effects[0]
            return Reason("pe", f"all that runs with '{operator.id}' takes turns with it: {why.text}", why.location)
    return None


def _firsts(graph: Graph, operators: Sequence[str]) -> Iterator[dict[str, None]]:
    """What may be cut off the rest, the least first: an operator with the only stream across, and all before it."""
    feeding = _feeding(graph, operators)
    # Those of a loop have all of it before them, so it is there once.
    found = {frozenset(_before(each, feeding)): None for each in operators}
    for first in sorted(found, key=len):
        if _is_clean(graph, operators, first):
            yield dict.fromkeys(each for each in operators if each in first)


def _feeding(graph: Graph, operators: Sequence[str]) -> dict[str, list[str]]:
    feeding: dict[str, list[str]] = {each: [] for each in operators}
    for edge in _inside(graph, operators):
        feeding[edge.target].append(edge.source)
    return feeding


def _before(operator_id: str, feeding: Mapping[str, Sequence[str]]) -> dict[str, None]:
    """An operator, and those that it can be reached from."""
    reached, waiting = {operator_id: None}, [operator_id]
    while waiting:
        for each in feeding[waiting.pop()]:
            if each not in reached:
                reached[each] = None
                waiting.append(each)
    return reached


def _is_clean(graph: Graph, operators: Sequence[str], first: Collection[str]) -> bool:
    second = dict.fromkeys(each for each in operators if each not in first)
    if mistimed_loop(graph, first, second) is not None:
        return False
    across: dict[tuple[str, int], None] = {}
    for edge in graph.edges:
        if edge.source in first and edge.target in second:
            across[edge.source, edge.source_port] = None
        elif edge.source in first and edge.target not in first:
            return False  # it leaves the place from here
        elif edge.target in second and edge.source not in second:
            return False  # it comes into the place from elsewhere
        elif edge.target in first and edge.source in second:
            return False  # a loop
    return len(across) == 1 and not any(graph.operator(each).is_sink for each in operators if each in first)


def _have_a_name_in_common(graph: Graph, first: Collection[str], second: Sequence[str]) -> bool:
    """Whether `.place(pe=…)` asks for operators of both to be together."""
    names = [graph.operator(each).hints.pe for each in first]
    return any(name is not None and name in names for name in (graph.operator(each).hints.pe for each in second))


def _group(graph: Graph, operators: Sequence[str], wanted: Sequence[Edge]) -> Group:
    left = next((edge for edge in wanted if edge.source in operators and edge.target in operators), None)
    if left is None:
        return Group(tuple(operators))
    one, other = graph.operator(left.source), graph.operator(left.target)
    if one.hints.pe is not None and one.hints.pe == other.hints.pe:
        return Group(tuple(operators))
    together = f"'{one.id}' and '{other.id}' run together"
    first = _before(one.id, _feeding(graph, operators))
    loop = mistimed_loop(graph, first, [each for each in operators if each not in first])
    text = f"{together}: other streams would cross where they would be cut apart"
    if loop is not None:
        text = f"{together}: what comes around to '{loop}' waits for all that is made of a tuple before it"
    return Group(tuple(operators), (Reason("pe", text, other.location),))
