"""The queries of NEXMark in channels: files with the lines of the oracle, in the same order."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines import sequential
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Graph
from tests.dataflow.simulated import Simulated
from tests.golden import nexmark
from tests.golden.nexmark import Auction, Bid, Person
from tests.golden.plans_of_examples import QUERIES

STATES = ("OR", "ID", "CA", "WA", "TX")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two hours of an auction, with few auctions at a time, of which one has most of the bids."""
    folder, chance = tmp_path_factory.mktemp("nexmark"), random.Random(11)
    persons = [Person(at, f"person {at}", chance.choice(STATES), at * 90) for at in range(80)]
    auctions = [
        Auction(123 * at, chance.randrange(at // 6 + 1), chance.choice([10, 10, 11]), at, at * 15) for at in range(400)
    ]
    bids = [
        Bid(
            123 * max(0, at // 3 - chance.choice([0, 0, 0, 2, 5])),
            at % 50,
            chance.randrange(100, 200) + at // 10,
            at * 5,
        )
        for at in range(1_200)
    ]
    for name, rows in {"persons": persons, "auctions": auctions, "bids": bids}.items():
        _write(folder / f"{name}.csv", rows)
    return folder


def _write(path: Path, rows: list[Any]) -> None:
    lines = [",".join(rows[0]._fields), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


def written(name: str, files: Path, out: Path, run: Callable[[Graph], Any]) -> bytes:
    app = getattr(nexmark, name)
    taken = [each for each in inspect.signature(app.fn).parameters if each != "out"]
    run(app(**{each: str(files / f"{each}.csv") for each in taken}, out=str(out)).graph)
    return out.read_bytes()


@pytest.mark.parametrize("name", QUERIES)
def test_a_query(name: str, files: Path, tmp_path: Path) -> None:
    lines = written(name, files, tmp_path / "sequential.csv", sequential.run)
    assert lines.count(b"\n") > 3
    for channels, stretch in ((1, 50), (2, 7), (2, 1000), (3, 120)):
        out = tmp_path / f"{channels} {stretch}.csv"

        def in_channels(graph: Graph, channels: int = channels, stretch: int = stretch) -> Any:
            return run_on(Simulated(seed=channels), compile(graph), Metrics(), channels=channels, stretch=stretch)

        assert written(name, files, out, in_channels) == lines
