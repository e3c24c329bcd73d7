"""The example `vwap` against an answer computed here, in plain Python, from the same file."""

from __future__ import annotations

import csv
import itertools
from collections import Counter, deque
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.run import ENGINES
from examples.data.vwap import write_vwap
from examples.vwap import vwap

COUNT = 20_000
MINUTE = 60.0
HEADING = "symbol,ts,price,size,vwap,usual,index"


class Desk:
    """What is known at one desk: the trades and quotes of its symbols."""

    def __init__(self, trades: int) -> None:
        self.trades = trades
        self.paid: dict[str, deque[tuple[float, int]]] = {}
        self.minute, self.asked = -1.0, dict[str, list[float]]()
        self.usual: dict[str, float] = {}
        self.lines: list[str] = []
        self.late = 0

    def trade(self, symbol: str, price: float, size: int) -> None:
        self.paid.setdefault(symbol, deque(maxlen=self.trades)).append((price * size, size))

    def quote(self, symbol: str, ts: float, price: float, size: int, least: float) -> None:
        if ts // MINUTE > self.minute:
            for asked, prices in self.asked.items():
                self.usual[asked] = added(prices) / len(prices)
            self.minute, self.asked = ts // MINUTE, {}
        if ts // MINUTE == self.minute:
            self.asked.setdefault(symbol, []).append(price)
        else:
            self.late += 1
        if symbol in self.paid and symbol in self.usual:
            trades = self.paid[symbol]
            average = added([paid for paid, _ in trades]) / sum(size for _, size in trades)
            index = (min(average, self.usual[symbol]) - price) * size
            if index >= least:
                self.lines.append(f"{symbol},{ts},{price},{size},{average},{self.usual[symbol]},{index}")


def added(numbers: list[float]) -> float:
    """One after the other; `sum` is free to be more exact than that."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def answer(rows: list[dict[str, str]], desks: int = 6, trades: int = 15, least: float = 250.0) -> list[Desk]:
    """What is found at each desk."""
    found = [Desk(trades) for _ in range(desks)]
    for row in rows:
        symbol, ts, price, size = row["symbol"], float(row["ts"]), float(row["price"]), int(row["size"])
        desk = found["ABCDEFGHIJKLMNOPQRSTUVWXYZ".index(symbol[0]) * desks // 26]
        if row["kind"] == "trade":
            desk.trade(symbol, price, size)
        elif size > 0:
            desk.quote(symbol, ts, price, size, least)
    return found


def text(desk: Desk) -> str:
    return "".join(f"{line}\n" for line in [HEADING, *desk.lines])


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def ticks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ticks") / "ticks.csv"
    write_vwap(path, COUNT, seed=7)
    return path


def check_every_desk(ticks: Path, out: Path, engine: str = ENGINES[0], **parameters: int | float) -> None:
    result = ab.run(vwap(ticks=str(ticks), out=str(out), **parameters), engine=engine)

    expected = answer(read(ticks), **parameters)
    assert sum(len(desk.lines) for desk in expected) > 50, "the data hold too few bargains to be a test"
    assert sum(desk.late for desk in expected) > 0, "the data hold no late quote"
    assert len(list(out.iterdir())) == len(expected)
    for number, desk in enumerate(expected):
        assert (out / f"desk{number}.csv").read_text() == text(desk)
    assert result.metrics.late == sum(desk.late for desk in expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_desk_gets_the_answer_in_order(engine: str, ticks: Path, tmp_path: Path) -> None:
    check_every_desk(ticks, tmp_path / "bargains", engine)


@pytest.mark.slow
def test_every_desk_gets_the_answer_in_order_on_many_ticks(tmp_path: Path) -> None:
    ticks = tmp_path / "ticks.csv"
    write_vwap(ticks, 100_000, seed=11)
    check_every_desk(ticks, tmp_path / "bargains", desks=22)


def test_desks_trades_and_the_least_saving_are_parameters(ticks: Path, tmp_path: Path) -> None:
    check_every_desk(ticks, tmp_path / "bargains", desks=3, trades=4, least=60.0)


def test_the_loop_makes_the_58_operators_of_the_paper_or_about_200() -> None:
    """Table 1 of paper 003; 001 and 002 have 200 operators. A Functor is a map or a filter here."""
    usual, large = vwap().graph, vwap(desks=22).graph

    assert Counter(operator.kind for operator in usual.operators) == {
        "read_csv": 1,
        "split": 3,
        "map": 12,
        "filter": 12,
        "aggregate": 12,
        "join": 12,
        "write_csv": 6,
    }
    assert len(usual.operators) == 58
    assert len(large.operators) == 202


@pytest.mark.parametrize("desks", [0, 27])
def test_desks_without_a_letter_are_refused(desks: int) -> None:
    with pytest.raises(ValueError, match=f"desks={desks} is not a number from 1 to 26"):
        vwap(desks=desks)


def test_a_symbol_that_belongs_to_no_desk_stops_the_run_with_its_tick(ticks: Path, tmp_path: Path) -> None:
    odd = tmp_path / "ticks.csv"
    odd.write_text("\n".join([*ticks.read_text().splitlines()[:100], "34300.0,~X,quote,1.0,100"]))

    with pytest.raises(ab.OperatorError, match="it has no stream 'desk14'") as caught:
        ab.run(vwap(ticks=str(odd), out=str(tmp_path / "bargains")))

    assert "'~X'" in str(caught.value)


def test_a_truncated_file_is_reported_by_its_last_line_and_what_came_before_is_written(
    ticks: Path, tmp_path: Path
) -> None:
    lines = ticks.read_text().splitlines()[: COUNT // 2]
    broken = tmp_path / "ticks.csv"
    broken.write_text("\n".join([*lines, "51000.5,ABC,tra"]))
    out = tmp_path / "bargains"

    with pytest.raises(ab.SourceError, match="5 cells expected, got 3") as caught:
        ab.run(vwap(ticks=str(broken), out=str(out)))

    assert caught.value.where == f"{broken}:{COUNT // 2 + 1}"
    for number, desk in enumerate(answer(list(csv.DictReader(lines)))):
        assert (out / f"desk{number}.csv.partial").read_text() == text(desk)


def test_a_corrupted_cell_is_reported_by_file_line_and_column(ticks: Path, tmp_path: Path) -> None:
    lines = ticks.read_text().splitlines()
    ts, symbol, kind, price, _ = lines[777].split(",")
    lines[777] = f"{ts},{symbol},{kind},{price},1OO"
    broken = tmp_path / "ticks.csv"
    broken.write_text("\n".join(lines))

    with pytest.raises(ab.SourceError, match="column 'size': '1OO' is not an int") as caught:
        ab.run(vwap(ticks=str(broken), out=str(tmp_path / "bargains")))

    assert caught.value.where == f"{broken}:778"


# The ticks ------------------------------------------------------------------------------------------------------


def test_ticks_are_skewed_bursty_and_sometimes_late(ticks: Path) -> None:
    rows = read(ticks)
    by_symbol = Counter(row["symbol"] for row in rows)
    half_hours = Counter(float(row["ts"]) // 1800 for row in rows)
    late = sum(float(row["ts"]) < float(before["ts"]) for before, row in itertools.pairwise(rows))

    assert sum(count for _, count in by_symbol.most_common(40)) > COUNT * 0.25, "a tenth makes a quarter or more"
    assert max(half_hours.values()) > 3 * min(half_hours.values())
    assert 0 < late < COUNT * 0.02
    assert all(9.5 * 3600 <= float(row["ts"]) <= 16 * 3600 for row in rows)
    assert 0.2 < sum(row["kind"] == "trade" for row in rows) / COUNT < 0.3
