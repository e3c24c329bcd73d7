"""What operators print comes out in the order of the law on every engine, since who prints is stateful."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines import fused, sequential
from anabranch.engines.on_transport import run_on
from anabranch.run import as_program
from tests.dataflow.simulated import Simulated


class Number(NamedTuple):
    n: int


class Count(NamedTuple):
    n: int
    count: int


class Running:
    """Runs in channels, by key."""

    def __init__(self) -> None:
        self.count = 0

    def process(self, number: Number) -> Iterator[Count]:
        self.count += 1
        yield Count(number.n, self.count)


def before(number: Number) -> Number:
    print("before", number.n)
    return number


def behind(count: Count) -> Count:
    print("behind", count.n, count.count)
    return count


def program(where: str) -> Any:
    stream: Any = ab.from_items(Number, [Number(n % 3) for n in range(8)])
    if where != "behind a region":
        stream = stream.map(before)
    counts: Any = stream.process(Running, key="n")
    if where != "before a region":
        counts = counts.map(behind)
    left, right = (counts.for_each(lambda count, word=word: print(word, *count)) for word in ("left", "right"))
    return as_program(left, right).graph


@pytest.mark.parametrize("where", ["before a region", "behind a region", "on both sides of a region"])
def test_a_program_prints_the_same_lines_in_the_same_order_on_every_engine(where: str, capsys: Any) -> None:
    graph = program(where)
    sequential.run(graph)
    expected = capsys.readouterr().out
    assert len(expected.splitlines()) == (32 if where.startswith("on both") else 24)
    for size in (1, 3, 1000):
        fused.run(graph, form="auto", chunk_size=size)
        assert capsys.readouterr().out == expected
    for channels in (1, 2, 3):
        run_on(Simulated(seed=channels), compile(graph), Metrics(), channels=channels, stretch=3)
        assert capsys.readouterr().out == expected
