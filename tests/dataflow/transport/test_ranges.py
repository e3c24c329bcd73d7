"""A key by `ab.ranges` is routed by ranges of its values, and the result is the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.codegen.chunks import Chunk, as_columns
from anabranch.compiler import compile
from anabranch.dataflow.executed import Sent
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.transport.routing import channels_of
from anabranch.engines.on_transport import run_on
from anabranch.graph.schema import schema_of
from anabranch.run import as_program
from tests.dataflow.simulated import Simulated, fusion_by
from tests.examples_drawn import drawn


class Order(NamedTuple):
    number: int
    price: float
    shop: str


class Totals:
    def __init__(self) -> None:
        self.total = 0.0

    def process(self, order: Order) -> Iterator[Order]:
        self.total += order.price
        yield order._replace(price=self.total)


def totals(orders: list[Order], key: Any) -> ab.Sink:
    return ab.from_items(Order, orders).filter(lambda o: o.number != 3).process(Totals, key=key).collect("out")


@pytest.mark.parametrize(
    ("key", "bounds", "values", "expected"),
    [
        ("number", (10, 20), [-5, 9, 10, 19, 20, 99], [0, 0, 1, 1, 2, 2]),
        ("price", (0.5, 2.5), [-1.0, 0.5, 2.4, 2.5, float("inf"), float("nan")], [0, 1, 1, 2, 2, 2]),
        ("shop", ("g", "p"), ["", "a", "g", "oz", "p", "z"], [0, 0, 1, 1, 2, 2]),
    ],
)
def test_a_range_is_a_channel(key: str, bounds: tuple[Any, ...], values: list[Any], expected: list[int]) -> None:
    rows = [Order(0, 0.0, "")._replace(**{key: value}) for value in values]
    for chunk in (Chunk.of_rows(schema_of(Order), rows), as_columns(Chunk.of_rows(schema_of(Order), rows))):
        assert channels_of(chunk, (key,), 3, bounds).tolist() == expected


def test_neighbouring_ranges_share_a_channel_where_there_are_more_of_them() -> None:
    chunk = Chunk.of_rows(schema_of(Order), [Order(n, 0.0, "") for n in (0, 10, 20, 30)])
    assert channels_of(chunk, ("number",), 2, (10, 20, 30)).tolist() == [0, 0, 1, 1]


ORDERS = st.lists(st.builds(Order, st.integers(-5, 30), st.sampled_from([0.5, 1.25, 3.0]), st.sampled_from("abz")))


@drawn(40)
@given(ORDERS, st.integers(1, 4), st.sampled_from([1, 7, 100]), st.integers(0, 9))
def test_the_result_is_the_oracles(orders: list[Order], channels: int, stretch: int, seed: int) -> None:
    sink = totals(orders, ab.ranges("number", [0, 10, 20]))
    metrics = Metrics()
    plan = compile(as_program(sink).graph)
    result = run_on(Simulated(seed=seed), plan, metrics, channels=channels, stretch=stretch, fuse=fusion_by(seed))
    assert result.items("out") == ab.run(sink, engine="sequential").items("out")
    if any(order.number != 3 for order in orders):
        [sent] = [fact for _, fact in metrics.executed if isinstance(fact, Sent) and fact.place == "R1"]
        assert sent.bounds == (3 if channels > 1 else 0)  # one channel takes all of them
