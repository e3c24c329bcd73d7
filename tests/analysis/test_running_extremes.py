"""Which operators are seen to look out for the largest tuple only, so that others may be left out before; few are."""

from __future__ import annotations

import importlib
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Graph
from anabranch.run import as_program
from tests.dataflow.outcomes import expected, outcome
from tests.dataflow.simulated import Simulated

PROGRAM = """
import math
from datetime import datetime
from typing import NamedTuple
import anabranch as ab

SEEN = []
START = datetime(2024, 1, 1)
LEAST = -1

class Bid(NamedTuple):
    auction: int
    price: int
    rating: float
    at: datetime
    maybe: int | None

class Base:
    pass

class BestBASE:
    def __init__(self):
BEGIN

    def process(self, bid: Bid):
PROCESS

PRICES = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5, 10, 28]
RATINGS = [math.nan, 2.0, -0.0, 7.5, 1.0]

def program():
    bids = [Bid(at % 3, price, RATINGS[price % 5], START, price) for at, price in enumerate(PRICES)]
    return ab.from_items(Bid, bids).process(Best, out=Bid).collect("out")
"""
PLAIN = """
    if bid.price > self.it:
        self.it = bid.price
        yield bid
"""
Load = Callable[..., Graph]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """Writes a module with an operator, imports it, and gives its program."""
    monkeypatch.syspath_prepend(str(tmp_path))
    name = f"extremes_{tmp_path.name}".replace("-", "_")

    def write(process: str, begin: str = "self.it = -1", base: str = "") -> Graph:
        text = PROGRAM.replace("PROCESS", textwrap.indent(textwrap.dedent(process).strip(), " " * 8))
        text = text.replace("BEGIN", textwrap.indent(begin, " " * 8)).replace("BestBASE", f"Best{base}")
        (tmp_path / f"{name}.py").write_text(text)
        importlib.invalidate_caches()
        return as_program(importlib.import_module(name).program()).graph

    yield write
    sys.modules.pop(name, None)


def has_candidates(graph: Graph) -> bool:
    return bool(compile(graph).phases[-1].layout.first_steps)


@pytest.mark.parametrize(
    ("process", "begin"),
    [
        (PLAIN, "self.it = -1"),
        (PLAIN, "self.it = LEAST"),
        (PLAIN, "self.it: int = -1"),
        (PLAIN.replace(">", ">="), "self.it = 0\nself.count = [0]"),
        (PLAIN.replace(">", "<"), "self.it = 100"),
        (PLAIN.replace("bid.price > self.it", "self.it < bid.price"), "self.it = -1"),
        (PLAIN.replace("bid.price >", "self.it is None or bid.price >"), "self.it = None"),
        (PLAIN.replace("price", "rating"), "self.it = -math.inf"),
        (PLAIN.replace("price", "rating"), 'self.it = float("-inf")'),
        (PLAIN.replace("yield", "return"), "self.it = -1"),
        (PLAIN.replace("yield bid", "yield Bid(bid.price, self.it, 0.5, bid.at, None)"), "self.it = -1"),
        (PLAIN.replace("yield", "self.n += 1\n        double = 2 * self.n\n        yield"), "self.it = -1\nself.n = 0"),
        (PLAIN.replace("price", "rating"), "self.it = math.nan"),
    ],
)
def test_what_plainly_is_one_is_seen_to_be(process: str, begin: str, load: Load) -> None:
    graph = load(process, begin)
    assert has_candidates(graph)
    for stretch in (1, 5, 100):
        assert outcome(run_on, Simulated(), compile(graph), Metrics(), channels=2, stretch=stretch) == expected(graph)


@pytest.mark.parametrize(
    ("process", "begin", "base"),
    [
        pytest.param(PLAIN + "    else:\n        yield bid", "self.it = -1", "", id="something is done for others"),
        pytest.param(PLAIN.replace("= bid.price", "= bid.price - 1"), "self.it = -1", "", id="less is kept"),
        pytest.param(PLAIN.replace("= bid.price", "= bid.auction"), "self.it = -1", "", id="another one is kept"),
        pytest.param(PLAIN.replace("self.it = bid.price", "pass"), "self.it = -1", "", id="nothing is kept"),
        pytest.param(PLAIN.replace("yield bid", "pass"), "self.it = -1", "", id="nothing is given"),
        pytest.param(PLAIN.replace("yield bid", "yield None"), "self.it = -1", "", id="nothing is given for certain"),
        pytest.param(PLAIN.replace("yield", "if bid.auction: yield"), "self.it = -1", "", id="given now and then"),
        pytest.param(PLAIN + "        yield bid", "self.it = -1", "", id="given twice"),
        pytest.param(PLAIN + "    self.it = 0", "self.it = -1", "", id="begun anew"),
        pytest.param(PLAIN.replace("yield", "self.it -= 1\n        yield"), "self.it = -1", "", id="taken from"),
        pytest.param(PLAIN.replace("price", "at"), "self.it = START", "", id="datetimes, of which some have a zone"),
        pytest.param(PLAIN.replace("price", "maybe"), "self.it = -1", "", id="what may be nothing"),
        pytest.param(
            PLAIN.replace("price", "rating").replace("if ", "if self.it is None or "),
            "self.it = None",
            "",
            id="first NaN",
        ),
        pytest.param(PLAIN, "self.it = self.n = -1", "", id="two are begun at once"),
        pytest.param(PLAIN, "self.it = len(repr(self)) - 99", "", id="an instance is known to others"),
        pytest.param(PLAIN, "self.it = -1 if SEEN else 2", "", id="it begins with one thing or another"),
        pytest.param(PLAIN, "if not SEEN: self.it = -1", "", id="it begins now and then"),
        pytest.param(PLAIN, "self.it = -1", "(Base)", id="a base"),
        pytest.param(PLAIN.replace(">", "!="), "self.it = -1", "", id="no order"),
        pytest.param(PLAIN.replace("bid.price >", "20 > bid.price >"), "self.it = -1", "", id="two comparisons"),
        pytest.param(PLAIN.replace("if ", "if bid.auction and "), "self.it = -1", "", id="something else too"),
        pytest.param(PLAIN.replace("yield bid", "yield bid._replace(price=1)"), "self.it = -1", "", id="by a method"),
        pytest.param(PLAIN.replace("yield bid", "yield (bid := bid)"), "self.it = -1", "", id="bound in an expression"),
        pytest.param("    bid = bid" + PLAIN, "self.it = -1", "", id="something before"),
        pytest.param(PLAIN.replace("if", "while"), "self.it = -1", "", id="a loop"),
        pytest.param(PLAIN.replace("yield", "SEEN.append(1)\n        yield"), "self.it = -1", "", id="told others"),
        pytest.param(
            PLAIN.replace("yield bid", "yield Bid(len(SEEN) + (SEEN.append(1) or 0), 1, 0.5, bid.at, None)"),
            "self.it = -1",
            "",
            id="told others in what is given",
        ),
    ],
)
def test_what_is_not_plainly_one_gets_all_tuples(process: str, begin: str, base: str, load: Load) -> None:
    assert not has_candidates(load(process, begin, base))
