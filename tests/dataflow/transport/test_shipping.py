"""A program that is sent has with it all that its functions name."""

from __future__ import annotations

from typing import NamedTuple

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines.on_transport import run_on
from anabranch.run import as_program
from tests.tripwire.unsafe import Apart


class Item(NamedTuple):
    n: int


LIMIT = 5


@ab.declare(state="stateless", because="its class is made anew each time")
def limited(item: Item) -> Item:
    class Limits:
        highest = LIMIT

        def cut(self, n: int) -> int:
            return min(n, self.highest)

    return Item(Limits().cut(item.n))


def test_what_only_a_class_within_a_function_names_is_sent() -> None:
    graph = as_program(ab.from_items(Item, [Item(3), Item(8)]).map(limited).collect("out")).graph
    result = run_on(Apart(), compile(graph), Metrics(), channels=2, stretch=1)
    assert result.items("out") == [Item(3), Item(5)]
