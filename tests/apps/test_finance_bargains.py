"""The example `finance_bargains` against an answer computed here, with pandas, from the same files."""

from __future__ import annotations

import csv
import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import anabranch as ab
from anabranch.run import ENGINES
from examples.data.market import write_market
from examples.finance_bargains import finance_bargains

COUNT = 100_000
HEADER = "symbol,ts,ask,vwap,saving\n"


def answer(trades: pd.DataFrame, quotes: pd.DataFrame, discount: float = 0.01) -> str:
    """What the app must write for this market.

    A trade that is reported late is combined when it comes, so its time is that of the latest trade before it. Sums
    are numpy's, which adds up in order; those of pandas by group are not, but compensated.
    """
    trades = trades.drop_duplicates("number").copy()
    trades["at"] = trades["ts"].cummax()
    for _, rows in trades.groupby("symbol").groups.items():
        paid = np.cumsum((trades["price"] * trades["volume"])[rows].to_numpy())
        trades.loc[rows, "vwap"] = paid / np.cumsum(trades["volume"][rows].to_numpy())
    offers = quotes.rename(columns={"ts": "at"})
    known = pd.merge_asof(offers, trades[["at", "symbol", "vwap"]], on="at", by="symbol")
    bargains = known[known["ask"] < known["vwap"] * (1 - discount)]
    saving = (bargains["vwap"] - bargains["ask"]) * bargains["ask_size"]
    columns = [bargains["symbol"], bargains["at"], bargains["ask"], bargains["vwap"], saving]
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return HEADER + "".join(",".join(map(str, row)) + "\n" for row in rows)


def write(folder: Path, trades: list[str], quotes: list[str]) -> None:
    (folder / "trades.csv").write_text("symbol,number,price,volume,ts\n" + "".join(f"{row}\n" for row in trades))
    (folder / "quotes.csv").write_text("symbol,bid,bid_size,ask,ask_size,ts\n" + "".join(f"{row}\n" for row in quotes))


def run(folder: Path, **parameters: float) -> str:
    out = folder / "bargains.csv"
    program = finance_bargains(
        trades=str(folder / "trades.csv"), quotes=str(folder / "quotes.csv"), out=str(out), **parameters
    )
    ab.run(program)
    return out.read_text()


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("market")
    write_market(folder, COUNT, seed=7)
    return folder


@pytest.mark.parametrize("engine", ENGINES)
def test_the_whole_output_is_the_answer_in_order(market: Path, tmp_path: Path, engine: str) -> None:
    out = tmp_path / "bargains.csv"
    trades, quotes = market / "trades.csv", market / "quotes.csv"

    ab.run(finance_bargains(trades=str(trades), quotes=str(quotes), out=str(out)), engine=engine)

    expected = answer(pd.read_csv(trades), pd.read_csv(quotes))
    assert 100 < expected.count("\n") < COUNT * 0.1, "there are bargains, but few quotes are"
    assert out.read_text() == expected


def test_an_offer_is_compared_with_the_average_of_its_own_symbol_at_that_time(tmp_path: Path) -> None:
    write(
        tmp_path,
        ["A,1,10.0,100,1.0", "B,2,50.0,100,2.0", "A,3,13.0,200,4.0"],
        ["A,8,1,9.0,10,0.5", "A,8,1,9.0,10,3.0", "A,8,1,11.0,10,3.5", "A,8,1,11.0,10,5.0", "B,8,1,60.0,10,6.0"],
    )

    # Before the first trade nothing is known; at 3.0 the average of A is 10, at 5.0 it is 12.
    assert run(tmp_path) == HEADER + "A,3.0,9.0,10.0,10.0\n" + "A,5.0,11.0,12.0,10.0\n"


def test_a_trade_at_the_moment_of_an_offer_comes_first(tmp_path: Path) -> None:
    write(tmp_path, ["A,1,10.0,100,1.0"], ["A,8,1,9.0,10,1.0"])

    assert run(tmp_path) == HEADER + "A,1.0,9.0,10.0,10.0\n"


def test_a_trade_that_is_reported_twice_counts_once(tmp_path: Path) -> None:
    write(tmp_path, ["A,1,10.0,100,1.0", "A,2,20.0,100,2.0", "A,2,20.0,100,2.0"], ["A,8,1,9.0,10,3.0"])

    assert run(tmp_path) == HEADER + "A,3.0,9.0,15.0,60.0\n"


def test_a_trade_that_is_reported_late_counts_from_then_on(tmp_path: Path) -> None:
    late = "A,3,30.0,100,2.0"
    write(tmp_path, ["A,1,10.0,100,1.0", "A,2,20.0,100,5.0", late], ["A,8,1,9.0,1,3.0", "A,8,1,9.0,1,6.0"])

    assert run(tmp_path) == HEADER + "A,3.0,9.0,10.0,1.0\n" + "A,6.0,9.0,20.0,11.0\n"


def test_a_bargain_is_below_the_average_by_more_than_the_discount(tmp_path: Path) -> None:
    write(tmp_path, ["A,1,10.0,100,1.0"], ["A,8,1,9.5,10,2.0", "A,8,1,8.5,10,3.0", "A,8,1,10.0,10,4.0"])

    assert run(tmp_path, discount=0.0) == HEADER + "A,2.0,9.5,10.0,5.0\n" + "A,3.0,8.5,10.0,15.0\n"
    assert run(tmp_path, discount=0.1) == HEADER + "A,3.0,8.5,10.0,15.0\n"


def test_a_truncated_file_of_quotes_is_reported_and_what_came_before_is_written(market: Path, tmp_path: Path) -> None:
    trades = (market / "trades.csv").read_text().splitlines()
    quotes = (market / "quotes.csv").read_text().splitlines()[:20_001]
    (tmp_path / "trades.csv").write_text("\n".join(trades))
    (tmp_path / "quotes.csv").write_text("\n".join([*quotes, "AAA,65.1,10"]))

    with pytest.raises(ab.SourceError, match="6 cells expected, got 3") as caught:
        run(tmp_path)

    assert caught.value.where == f"{tmp_path}/quotes.csv:20002"
    before = pd.read_csv(market / "quotes.csv").iloc[:20_000]
    expected = answer(pd.read_csv(market / "trades.csv"), before)
    assert expected.count("\n") > 20
    assert (tmp_path / "bargains.csv.partial").read_text() == expected


def test_a_corrupted_trade_is_reported_by_file_line_and_column(market: Path, tmp_path: Path) -> None:
    lines = (market / "trades.csv").read_text().splitlines()
    symbol, number, _price, volume, ts = lines[1234].split(",")
    lines[1234] = ",".join([symbol, number, "12,50", volume, ts])
    lines[2000] = "never read"
    (tmp_path / "trades.csv").write_text("\n".join(lines))
    (tmp_path / "quotes.csv").write_bytes((market / "quotes.csv").read_bytes())

    with pytest.raises(ab.SourceError, match="5 cells expected, got 6") as caught:
        run(tmp_path)

    assert caught.value.where == f"{tmp_path}/trades.csv:1235"


# The market -----------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_market_and_another_seed_another(market: Path, tmp_path: Path) -> None:
    write_market(tmp_path / "again", COUNT, seed=7)
    write_market(tmp_path / "other", COUNT, seed=8)

    for name in ("trades.csv", "quotes.csv"):
        assert (tmp_path / "again" / name).read_bytes() == (market / name).read_bytes()
        assert (tmp_path / "other" / name).read_bytes() != (market / name).read_bytes()


@pytest.mark.parametrize("count", [1, 7, 400_001])
def test_there_are_as_many_trades_and_quotes_as_were_asked_for(count: int, tmp_path: Path) -> None:
    write_market(tmp_path, count, seed=1)

    trades, quotes = read(tmp_path / "trades.csv"), read(tmp_path / "quotes.csv")
    assert len(trades) + len(quotes) == count
    assert len(trades) == count // 4
    assert all(9.5 * 3600 <= float(row["ts"]) <= 16 * 3600 for row in [*trades, *quotes])
    assert all(float(row["bid"]) <= float(row["ask"]) for row in quotes)


def test_symbols_are_skewed_hours_are_busy_and_trades_come_late_and_twice(market: Path) -> None:
    trades = read(market / "trades.csv")
    symbols = Counter(row["symbol"] for row in trades)
    busiest = sorted(symbols.values(), reverse=True)[: len(symbols) // 100]
    early = sum(float(row["ts"]) < 9.7 * 3600 for row in trades)
    numbers = [int(row["number"]) for row in trades]
    late = sum(float(row["ts"]) < float(before["ts"]) for before, row in itertools.pairwise(trades))

    assert len(symbols) > 400
    assert sum(busiest) > len(trades) * 0.05
    assert early > len(trades) * 0.1, "of six and a half hours, the first twelve minutes"
    assert numbers == sorted(numbers)
    assert 0 < len(numbers) - len(set(numbers)) < len(trades) * 0.01
    assert 0 < late < len(trades) * 0.02


@pytest.mark.parametrize("count", [0, -3, True, 2.5, 10**15])
def test_a_size_that_makes_no_sense_is_refused_and_nothing_is_written(count: int, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must be a whole number of 1 or more|need about"):
        write_market(tmp_path / "new", count)

    assert list(tmp_path.iterdir()) == []


def test_neither_file_appears_when_one_cannot_be_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("examples.data.market._quotes", lambda *arguments: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        write_market(tmp_path, 10)

    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_the_files(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "examples.data.market", "--count", "100", "--out", str(tmp_path)]

    subprocess.run(command, cwd=Path(__file__).parents[2], check=True)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["quotes.csv", "trades.csv"]
