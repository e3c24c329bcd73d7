"""Small operators and streams the tests of the passes are built from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import anabranch as ab
from anabranch.compiler import compile
from anabranch.graph.plan import Plan, Region
from anabranch.run import as_program


class Item(NamedTuple):
    k: int
    l: int  # noqa: E741  # the key the paper calls l
    value: float
    ts: float


class Total(NamedTuple):
    k: int
    l: int  # noqa: E741
    total: float
    ts: float


class Running:
    """Partitioned state, exactly one tuple for each."""

    def __init__(self) -> None:
        self.total = 0.0

    def process(self, item: Item) -> Item:
        self.total += item.value
        return item._replace(value=self.total)


class Repeat:
    """Partitioned state, prolific."""

    def __init__(self) -> None:
        self.seen = 0

    def process(self, item: Item) -> Iterator[Item]:
        self.seen += 1
        for _ in range(self.seen):
            yield item


class Last:
    """Partitioned state, says something only at the end."""

    def __init__(self) -> None:
        self.item: Item | None = None

    def process(self, item: Item) -> Iterator[Item]:
        self.item = item
        yield from ()

    def finish(self) -> Iterator[Item]:
        if self.item is not None:
            yield self.item


COUNTER = [0]


def unsafe(item: Item) -> Item:
    """Not parallelizable: it counts in a global."""
    COUNTER[0] += 1
    return item


def double(item: Item) -> Item:
    return item._replace(value=item.value * 2)


def is_positive(item: Item) -> bool:
    return item.value > 0


def twice(item: Item) -> Iterator[Item]:
    for _ in range(2):
        yield item


def items(*rows: tuple[int, int], **options: Any) -> ab.Stream[Item]:
    """A source of (k, l) pairs, with a value and a time that count up."""
    return ab.from_items(Item, [Item(*row, float(n), float(n)) for n, row in enumerate(rows)], **options)


def plan_of(*sinks: Any, until: str | None = None) -> Plan:
    return compile(as_program(*sinks).graph, until=until)


def shape(plan: Plan) -> list[tuple[str, ...]]:
    """The operators of each region."""
    return [region.operators for region in plan.regions]


def region_with(plan: Plan, operator_id: str) -> Region:
    region = plan.region_of(operator_id)
    assert region is not None, f"'{operator_id}' is in no region: {plan.sequential[operator_id]}"
    return region


def why_not(plan: Plan, operator_id: str) -> str:
    return " / ".join(str(reason) for reason in plan.sequential[operator_id])


def joints(region: Region) -> str:
    assert region.first_joint is not None
    assert region.last_joint is not None
    return f"{region.first_joint.value} -> {region.last_joint.value}"


def ordering(region: Region) -> str:
    assert region.ordering is not None
    return region.ordering.value
