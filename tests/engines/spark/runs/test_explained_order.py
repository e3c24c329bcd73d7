"""The strategies of paper 000, Table 1, as `explain` shows them, are those by which a run is built."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.transport.rows import Kind
from anabranch.engines.on_transport import run_on
from anabranch.explain import Explanation
from anabranch.graph.format_layout import AS_IT_COMES, AS_IT_WAS_READ, WHEN_COMPLETE
from anabranch.graph.places import TAIL
from anabranch.graph.plan import Ordering
from anabranch.run import as_program
from tests.codegen.palette import Item
from tests.dataflow.simulated import Simulated

ITEMS = [Item(n % 5, float(n), "abc"[n % 3], None, float(n)) for n in range(60)]


class Counted:
    """1:1."""

    def __init__(self) -> None:
        self.count = 0

    def process(self, item: Item) -> Iterator[Item]:
        self.count += 1
        yield item._replace(x=float(self.count))


class EveryOther:
    """1:[0,1]."""

    def __init__(self) -> None:
        self.count = 0

    def process(self, item: Item) -> Iterator[Item]:
        self.count += 1
        if self.count % 2:
            yield item


class Repeated:
    """1:[0,∞)."""

    def __init__(self) -> None:
        self.count = 0

    def process(self, item: Item) -> Iterator[Item]:
        self.count += 1
        for _ in range(self.count % 3):
            yield item


def kept(item: Item) -> Item:
    return item._replace(s=item.s + "!")


ROWS: list[tuple[Any, dict[str, Any], Ordering, str, int | None]] = [
    (lambda stream: stream.process(Counted, key="n"), {"ordered": False}, Ordering.NONE, AS_IT_COMES, 1),
    (lambda stream: stream.map(kept), {}, Ordering.ROUND_ROBIN, AS_IT_WAS_READ, None),
    (lambda stream: stream.process(Counted, key="n"), {}, Ordering.SEQNO, f"{WHEN_COMPLETE} #draw", 1),
    (lambda stream: stream.process(EveryOther, key="n"), {}, Ordering.STRICT, f"{WHEN_COMPLETE} #draw", 1),
    (lambda stream: stream.process(Repeated, key="n"), {}, Ordering.RELAXED, f"{WHEN_COMPLETE} #draw, index@R1", 2),
]


@pytest.mark.parametrize(("region", "sink", "ordering", "said", "columns"), ROWS, ids=[row[2].value for row in ROWS])
def test_each_row_of_the_table(region: Any, sink: Any, ordering: Ordering, said: str, columns: int | None) -> None:
    program = as_program(region(ab.from_items(Item, ITEMS)).collect("out", **sink))
    cluster = _Noting()
    result = run_on(cluster, compile(program.graph), Metrics(), channels=2, stretch=7)
    plan = result.plan
    assert plan.regions[0].ordering is ordering
    assert f"order of R1 {ordering.value}: {said}\n" in Explanation(plan, "forms").to_text(140)
    assert {each for each in cluster.columns if each is not None} == ({columns} - {None})
    assert cluster.last is not None
    assert cluster.last.is_ordered is (ordering is not Ordering.NONE)
    oracle = ab.run(program, engine="sequential").items("out")
    assert result.items("out") == oracle or (
        ordering is Ordering.NONE and sorted(result.items("out"), key=repr) == sorted(oracle, key=repr)
    )


class _Noting(Simulated):
    """Notes how many numbers travel with the chunks for the tail; None where there are none."""

    columns: list[int | None]

    def rows(self, *arguments: Any) -> Any:
        self.columns = []
        for row in super().rows(*arguments):
            if row.kind == Kind.CHUNK:
                assert self.last is not None
                [arrival] = self.last.layout.arriving(TAIL)
                schema = self.last.layout.graph.operator(arrival.stream.operator).outputs[0].schema
                order = row.piece(schema).columns
                self.columns.append(None if order is None else len(order))
            yield row


def test_a_source_that_the_driver_reads_is_said() -> None:
    def source() -> Iterator[Item]:
        yield from ITEMS

    # What a user's source leads to may be any module of the tests, and some assign what is called `process`.
    declared = ab.declare(state="partitioned", because="it counts by itself")(type("Alone", (Counted,), {}))
    text = str(ab.explain(ab.generate(Item, source).process(declared, key="n", out=Item).collect("out"), channels=2))
    assert "On Spark, in jobs for what has come: 'generate' gives tuples as they arrive" in text
    assert "read generate   driver" in text
    assert "R1 × 2" in text
