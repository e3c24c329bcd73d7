"""While tuples come nothing is generated or compiled: what they may need is there before the first of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
from hypothesis import given

import anabranch as ab
from anabranch.codegen.runtime import string_pool, tables
from anabranch.codegen.runtime.csv_rows import read_rows
from anabranch.codegen.runtime.intrinsics import FromPython
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.sources.reading import csv_blocks
from anabranch.engines import fused, sequential
from anabranch.engines.on_transport import run_on
from anabranch.graph.forms import Form
from anabranch.graph.model import Graph, Program
from anabranch.run import as_program
from tests.codegen.palette import programs
from tests.dataflow.outcomes import outcome
from tests.dataflow.simulated import Simulated
from tests.engines.spark.streams.simulated_stream import Disk, SimulatedStream
from tests.examples_drawn import drawn

FROM_PYTHON = [read_rows, tables._insert_all1, tables._insert_allw, string_pool._place_all, string_pool._intern_column]


class Trade(NamedTuple):
    n: int
    name: str
    price: float


class Total(NamedTuple):
    name: str
    seen: int
    price: float


class Latest:
    """Keeps a text of each key, of which there are more than a table and a pool begin with."""

    def __init__(self) -> None:
        self.seen = 0
        self.name = ""

    def process(self, trade: Trade) -> Iterator[Total]:
        self.seen += 1
        if self.name != "":
            yield Total(self.name, self.seen, trade.price / (trade.n % 31))  # fails now and then
        self.name = trade.name


def program(folder: Path, key: Any) -> Graph:
    rows = [f"{at % 3000},name {at % 3000},{at / 4}" for at in range(9000)]
    (folder / "trades.csv").write_text("\n".join(["n,name,price", *rows, ""]))
    trades = ab.read_csv(str(folder / "trades.csv"), Trade)
    latest = trades.filter(lambda trade: trade.price >= 1.0).process(Latest, key=key, on_error="dead_letter")
    counted = latest.window(ab.tumbling(count=5)).aggregate(Total, name=ab.last("name"), seen=ab.count(), price=PRICE)
    return as_program(counted.collect("out"), latest.outputs.dead_letter.collect("letters")).graph


PRICE = ab.max_("price")


@pytest.fixture
def unprepared(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has just been started, which will read much."""
    for each in FROM_PYTHON:
        monkeypatch.setattr(each, "_compiled", None)
    monkeypatch.setattr(csv_blocks, "_MUCH", 0)
    monkeypatch.setattr(csv_blocks, "_is_prepared", False)


def nothing_was_generated(watched: Any) -> None:
    assert watched.times > 0, "nothing flowed through what is watched"
    assert not watched.generated, watched.generated[0]


def on_simulated(graph: Graph, form: Form) -> Any:
    return run_on(Simulated(seed=1), compile(graph), Metrics(), form, channels=2, stretch=700)


def fused_as(graph: Graph, form: Form) -> Any:
    return fused.run(graph, form=form)


@pytest.mark.usefixtures("unprepared")
@pytest.mark.parametrize("key", ["n", ["name", "n"]], ids=["key of a word", "key of words"])
@pytest.mark.parametrize("form", ["python", "native"])
@pytest.mark.parametrize("run", [fused_as, on_simulated])
def test_nothing_is_generated_in_a_run(run: Any, form: Form, key: Any, watched: Any, tmp_path: Path) -> None:
    graph = program(tmp_path, key)
    expected = outcome(sequential.run, graph)
    assert outcome(run, graph, form) == expected
    nothing_was_generated(watched)
    assert len(expected[0]["letters"][1]) > 90, "what fails is of interest too"


@pytest.mark.usefixtures("unprepared")
@pytest.mark.parametrize("form", ["python", "native"])
def test_nothing_is_generated_in_a_stream(form: Form, watched: Any, tmp_path: Path) -> None:
    """Channels are restored from their states, too: each batch may be another worker's."""
    graph = program(tmp_path, ["name", "n"])
    rng = random.Random(3)
    stream = SimulatedStream(graph, Disk(tmp_path / "checkpoint"), rng, form=form)
    stream.forget = 0.5
    assert outcome(stream.run) == outcome(sequential.run, graph)
    nothing_was_generated(watched)


def inverse(trade: Trade) -> Trade:
    return trade._replace(price=1 / trade.price)


def test_nothing_is_generated_where_a_run_stops(watched: Any) -> None:
    """What is said of the tuple that failed needs none, either."""
    trades = [Trade(n, "a", 5.0 - n) for n in range(9)]
    graph = as_program(ab.from_items(Trade, trades).map(inverse).map(inverse).collect("out")).graph
    expected = outcome(sequential.run, graph)
    assert "ZeroDivisionError" in str(expected[1])
    assert outcome(fused_as, graph, "python") == expected
    nothing_was_generated(watched)


@drawn(4)
@given(program=programs())
def test_nothing_is_generated_in_a_run_of_any_program(watched: Any, program: Program) -> None:
    watched.generated.clear()
    outcome(fused_as, program.graph, "python")
    outcome(on_simulated, program.graph, "python")
    assert not watched.generated, watched.generated[0]


def test_what_the_state_of_native_code_does_not_need_is_not_loaded(tmp_path: Path) -> None:
    """Nor is what only much text pays for."""

    class One(NamedTuple):
        n: int

    loaded: list[str] = []
    with patch.object(FromPython, "prepare", lambda each: loaded.append(each.inner.__name__)):
        stream = ab.from_items(One, [One(at) for at in range(9)])
        fused_as(as_program(stream.filter(lambda one: one.n > 3).collect("out")).graph, "native")
        assert loaded == []
        fused_as(as_program(stream.distinct(key="n").collect("out")).graph, "native")
        assert loaded == ["_insert_all1"]
        (tmp_path / "ones.csv").write_text("n\n1\n2\n")
        fused_as(as_program(ab.read_csv(tmp_path / "ones.csv", One).collect("out")).graph, "python")
        assert loaded == ["_insert_all1"]
