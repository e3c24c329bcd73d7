"""A day at the stock exchange, as `examples/finance_bargains.py` reads it: trades.csv and quotes.csv in a folder.

    python -m examples.data.market --count 1000000 --out market --seed 7

There are three quotes for each trade. Few symbols are traded most, and most of all just after the market opens and just
before it closes. Prices wander through the day; now and then someone sells far below the price. Some trades are
reported late, behind trades that were made after them, and some are reported twice.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from examples.data.shared import blocks, check_size, command, csv_files, skewed, trait, uniform

TRADES = {
    "symbol": pa.string(), "number": pa.int64(), "price": pa.float64(), "volume": pa.int64(), "ts": pa.float64(),
}  # fmt: skip
QUOTES = {
    "symbol": pa.string(), "bid": pa.float64(), "bid_size": pa.int64(), "ask": pa.float64(), "ask_size": pa.int64(),
    "ts": pa.float64(),
}  # fmt: skip
BYTES_PER_ROW = 45
QUOTES_PER_TRADE = 3
SYMBOLS = 500
LETTERS = np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))

# From which hour on how much is traded, relatively.
HOURS = np.array([9.5, 9.7, 11, 15, 15.8, 16])
BUSINESS = np.array([60, 12, 7, 14, 70])

SPREAD = 0.001  # of the price is between bid and ask
CHEAP = 0.002  # of the quotes are up to DISCOUNT below the price
DISCOUNT = 0.08
LATE = 0.005  # of the trades are reported up to LONGEST_DELAY seconds late
LONGEST_DELAY = 30.0
TWICE = 0.003  # of the trades are those before again


def write_market(folder: str | Path, count: int, seed: int = 7) -> None:
    """Write `count` trades and quotes to two CSV files in a folder; equal arguments give equal files."""
    check_size(count, Path(folder), BYTES_PER_ROW)
    trades = count // (1 + QUOTES_PER_TRADE)
    with (
        csv_files([Path(folder) / "trades.csv"], TRADES) as (trades_file,),
        csv_files([Path(folder) / "quotes.csv"], QUOTES) as (quotes_file,),
    ):
        for first, size in blocks(trades):
            trades_file.write(_trades(first, size, trades, seed))
        for first, size in blocks(count - trades):
            quotes_file.write(_quotes(first, size, count - trades, seed))


def _trades(first: int, size: int, count: int, seed: int) -> dict[str, np.ndarray | pa.Array]:
    def draw(purpose: int) -> np.ndarray:
        return uniform(seed, purpose, first, size)

    number = first + np.arange(size)
    ts = _times((number + draw(0)) / count)
    symbol = skewed(draw(1), SYMBOLS)
    price = _price(symbol, ts, seed) * (1 + SPREAD * (draw(2) - 0.5))
    reported = np.where(draw(3) < LATE, np.maximum(ts - LONGEST_DELAY * draw(4), HOURS[0] * 3600), ts)
    again = np.maximum.accumulate(np.where(draw(5) < TWICE, 0, np.arange(size)))
    return {
        "symbol": _names(symbol[again]),
        "number": number[again] + 1,
        "price": np.round(price, 2)[again],
        "volume": _sizes(draw(6))[again],
        "ts": np.round(reported, 3)[again],
    }


def _quotes(first: int, size: int, count: int, seed: int) -> dict[str, np.ndarray | pa.Array]:
    def draw(purpose: int) -> np.ndarray:
        return uniform(seed, purpose, first, size)

    ts = _times((first + np.arange(size) + draw(10)) / count)
    symbol = skewed(draw(11), SYMBOLS)
    price = _price(symbol, ts, seed) * (1 + SPREAD * (draw(12) - 0.5))
    asked = price * (1 + SPREAD * draw(13))
    asked = np.where(draw(14) < CHEAP, asked * (1 - DISCOUNT * draw(15)), asked)
    bid = np.minimum(price * (1 - SPREAD * draw(16)), asked)
    return {
        "symbol": _names(symbol),
        "bid": np.round(bid, 2),
        "bid_size": _sizes(draw(17)),
        "ask": np.round(asked, 2),
        "ask_size": _sizes(draw(18)),
        "ts": np.round(ts, 3),
    }


def _times(fractions: np.ndarray) -> np.ndarray:
    """The second of the day by which a fraction of the day's business has been done."""
    done = np.concatenate([[0.0], np.cumsum(BUSINESS * np.diff(HOURS))])
    return np.interp(fractions, done / done[-1], HOURS * 3600.0)


def _price(symbol: np.ndarray, ts: np.ndarray, seed: int) -> np.ndarray:
    """What a symbol is worth at a time: it swings, faster and slower, by a few per cent."""
    worth = 5 * np.exp(4 * trait(symbol, seed, 40))
    hours = ts / 3600.0
    for purpose, period, size in ((41, 7.0, 0.006), (42, 1.9, 0.003), (43, 0.4, 0.002)):
        swing = trait(symbol, seed, purpose)
        worth = worth * (1 + size * np.sin(2 * np.pi * (hours / (period * (0.5 + swing)) + swing)))
    return worth


def _sizes(fractions: np.ndarray) -> np.ndarray:
    """Mostly a few hundred shares, sometimes many."""
    return 100 * (1 + (fractions**6 * 80).astype(np.int64))


def _names(symbol: np.ndarray) -> pa.Array:
    """Three letters for each symbol, none twice: 7919 has no divisor in common with 26."""
    code = symbol * 7919 % 26**3
    letters = [LETTERS[code // 676], LETTERS[code // 26 % 26], LETTERS[code % 26]]
    return pa.array(np.char.add(np.char.add(letters[0], letters[1]), letters[2]))


if __name__ == "__main__":
    command("examples.data.market", "Write a day of trades and quotes as CSV.", "market", write_market)
