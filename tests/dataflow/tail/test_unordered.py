"""Where no sink needs an order, the error is still the oracle's, and all that comes before it is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics, Result
from anabranch.engines import sequential
from anabranch.engines.on_transport import run_on
from anabranch.errors import RunError
from anabranch.graph.model import Graph
from anabranch.run import as_program
from tests.dataflow.simulated import Simulated


class Item(NamedTuple):
    n: int
    s: str


class Line(NamedTuple):
    text: str


class Failing:
    """Fails at the twelfth tuple of a key; some keys have fewer."""

    def __init__(self) -> None:
        self.seen = 0

    def process(self, item: Item) -> Iterator[Item]:
        yield item
        self.seen += 1
        yield Item(100 // (12 - self.seen), item.s)


ITEMS = [Item(n * n % 17, "abcd"[n % 4]) for n in range(200)]
SEEDS = range(6)


def stopped(run: Callable[[], Result]) -> tuple[str, Any]:
    with pytest.raises(RunError) as raised:
        run()
    result: Result = raised.value.result  # type: ignore[assignment]
    return str(raised.value).replace("many", "one"), {name: sorted(items) for name, items in result.collected.items()}


def on_simulated(graph: Graph, seed: int, stretch: int) -> tuple[str, Any]:
    return stopped(lambda: run_on(Simulated(seed=seed), compile(graph), Metrics(), channels=3, stretch=stretch))


@pytest.mark.parametrize("stretch", [1, 7, 100])
@pytest.mark.parametrize("seed", SEEDS)
def test_of_several_errors_the_first_in_the_order_is_reported(seed: int, stretch: int) -> None:
    failing = ab.from_items(Item, ITEMS).process(Failing, key="n").collect("out", ordered=False)
    graph = as_program(failing).graph
    expected = stopped(lambda: sequential.run(graph))
    assert len(expected[1]["out"]) > 100
    assert on_simulated(graph, seed, stretch) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_of_several_tuples_that_a_sink_refuses_the_first_in_the_order_is_reported(seed: int) -> None:
    seen: list[Item] = []

    def note(item: Item) -> None:
        if item.n == 9 and item.s == "d":
            raise ValueError(f"after {item}")
        seen.append(item)

    class Counted:
        def __init__(self) -> None:
            self.count = 0

        def process(self, item: Item) -> Item:
            self.count += 1
            return Item(item.n, item.s if self.count % 3 else "d")

    graph = as_program(ab.from_items(Item, ITEMS).process(Counted, key="n").for_each(note, ordered=False)).graph
    expected, before = stopped(lambda: sequential.run(graph)), Counter(seen)
    seen.clear()
    assert on_simulated(graph, seed, 7) == expected
    assert Counter(seen) >= before, "others may have come earlier"


def lines(items: list[Item], path: Path) -> Graph:
    failing = ab.from_items(Item, items).process(Failing, key="n")
    texts = failing.map(lambda item: Line(f"{item.s}{item.n}"), out=Line)
    return as_program(texts.write_lines(path, ordered=False)).graph


@pytest.mark.parametrize("seed", SEEDS)
def test_a_file_without_order_holds_what_came_before_an_operator_failed(seed: int, tmp_path: Path) -> None:
    expected = stopped(lambda: sequential.run(lines(ITEMS, tmp_path / "one")))
    assert on_simulated(lines(ITEMS, tmp_path / "many"), seed, 7) == expected
    one, many = (sorted((tmp_path / f"{name}.partial").read_text().splitlines()) for name in ("one", "many"))
    assert many == one != []


@pytest.mark.parametrize("seed", SEEDS)
def test_a_row_that_a_file_without_order_refuses_is_the_first_of_all(seed: int, tmp_path: Path) -> None:
    items = [Item(each.n, f"{at}\nlines" if at % 37 == 36 else each.s) for at, each in enumerate(ITEMS)]
    expected = stopped(lambda: sequential.run(lines(items, tmp_path / "one")))
    assert on_simulated(lines(items, tmp_path / "many"), seed, 7) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_several_sinks_without_order_stop_at_the_first_error_of_all(seed: int) -> None:
    seen: list[Item] = []

    def note(item: Item) -> None:
        seen.append(item)
        if item.n == 9:
            raise ValueError(f"after {item}")

    failing = ab.from_items(Item, ITEMS).process(Failing, key="n")
    graph = as_program(failing.collect("out", ordered=False), failing.for_each(note, ordered=False)).graph
    expected = stopped(lambda: sequential.run(graph)), sorted(seen)
    seen.clear()
    assert (on_simulated(graph, seed, 7), sorted(seen)) == expected
