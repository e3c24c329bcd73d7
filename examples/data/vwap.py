"""A day of trades and quotes at a stock exchange, as `examples/vwap.py` reads them.

    python -m examples.data.vwap --count 1000000 --out ticks.csv --seed 7

Few symbols make most of the ticks, and most of those come when the market opens and when it closes. For every trade
there are about three quotes. Prices swing around a level of their own. Now and then someone sells in a hurry, below
what everyone else asks, and a few trades are reported late, behind ticks that came after them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from examples.data.shared import blocks, check_size, command, csv_files, skewed, trait, uniform

COLUMNS = {"ts": pa.float64(), "symbol": pa.string(), "kind": pa.string(), "price": pa.float64(), "size": pa.int64()}
BYTES_PER_TICK = 40
SYMBOLS = 400

# From which hour on how many ticks there are, relatively. At 14:15 the central bank speaks.
HOURS = np.array([9.5, 10, 12, 14.25, 14.3, 15.5, 16])
TRAFFIC = np.array([30, 10, 7, 90, 12, 35])

KINDS = np.array(["trade", "quote"])
TRADES = 0.25  # of the ticks
ONE_SIDED = 0.01  # of the quotes have nothing to sell
HURRIED = 0.004  # of the quotes are up to DISCOUNT cheaper
DISCOUNT = 0.03
REPEATS = 0.3  # of the ticks are about the symbol of the tick before
LATE = 0.004  # of the ticks are reported up to LONGEST_DELAY seconds late
LONGEST_DELAY = 90.0


def write_vwap(path: str | Path, count: int, seed: int = 7) -> None:
    """Write `count` ticks to a CSV file; equal arguments give equal files."""
    check_size(count, Path(path).parent, BYTES_PER_TICK)
    names = _names(seed)
    with csv_files([Path(path)], COLUMNS) as (file,):
        for first, size in blocks(count):
            file.write(_ticks(first, size, count, seed, names))


def _ticks(first: int, size: int, count: int, seed: int, names: np.ndarray) -> dict[str, np.ndarray | pa.Array]:
    def draw(purpose: int) -> np.ndarray:
        return uniform(seed, purpose, first, size)

    ts = _times((first + np.arange(size) + draw(0)) / count)
    ts = np.where(draw(1) < LATE, np.maximum(ts - LONGEST_DELAY * draw(2), HOURS[0] * 3600), ts)

    begins = np.where(draw(3) < REPEATS, 0, np.arange(size))
    symbol = skewed(draw(4), SYMBOLS)[np.maximum.accumulate(begins)]

    is_trade = draw(5) < TRADES
    spread = 0.0002 + 0.001 * trait(symbol, seed, 20)
    away = np.where(is_trade, draw(6) - 0.5, draw(6)) * 2 * spread  # trades on both sides of the middle, asks above it
    away = np.where(~is_trade & (draw(7) < HURRIED), -DISCOUNT * draw(8), away)
    lots = 1 + (40 * draw(9) ** 4).astype(np.int64)
    return {
        "ts": np.round(ts, 3),
        "symbol": pa.DictionaryArray.from_arrays(symbol, names).cast(pa.string()),
        "kind": pa.DictionaryArray.from_arrays((~is_trade).astype(np.int64), KINDS).cast(pa.string()),
        "price": np.round(_middle(symbol, ts, seed) * (1 + away), 2),
        "size": np.where(~is_trade & (draw(10) < ONE_SIDED), 0, 100 * lots),
    }


def _times(fractions: np.ndarray) -> np.ndarray:
    """The second of the day by which a fraction of all ticks has been recorded."""
    made = np.concatenate([[0.0], np.cumsum(TRAFFIC * np.diff(HOURS))])
    return np.interp(fractions, made / made[-1], HOURS * 3600.0)


def _middle(symbol: np.ndarray, ts: np.ndarray, seed: int) -> np.ndarray:
    """Between bid and ask: a level of the symbol's own, and two swings around it, of hours and of minutes."""
    level = 8 + 120 * trait(symbol, seed, 21) ** 2
    slow = np.sin(2 * np.pi * (ts / (5000 + 9000 * trait(symbol, seed, 22)) + trait(symbol, seed, 23)))
    fast = np.sin(2 * np.pi * (ts / (200 + 900 * trait(symbol, seed, 24)) + trait(symbol, seed, 25)))
    return level * (1 + 0.012 * slow + 0.002 * fast)


def _names(seed: int) -> np.ndarray:
    """Symbols of one to four letters, no two alike."""
    found: dict[str, None] = {}
    number = 0
    while len(found) < SYMBOLS:
        length = 1 + int(4 * trait(np.array([number]), seed, 30)[0] ** 0.5)
        letters = (26 * trait(number * 4 + np.arange(length), seed, 31)).astype(np.int64)
        found["".join(chr(ord("A") + letter) for letter in letters)] = None
        number += 1
    return np.array(list(found))


if __name__ == "__main__":
    command("examples.data.vwap", "Write a day of trades and quotes as CSV.", "ticks.csv", write_vwap)
