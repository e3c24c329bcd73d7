"""A day of phone calls, as `examples/mobility_fraud.py` reads them.

    python -m examples.data.calls --count 1000000 --out build/demo/calls.csv --seed 7

Few phones make many of the calls, some in bursts. Everyone moves at the pace of a car, except for the owners of
cloned phones: two handsets, far from each other, that make calls as one. A few calls are recorded late, behind
calls that were made after them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from examples.data.shared import blocks, check_size, command, csv_files, skewed, trait, uniform

COLUMNS = {"phone": pa.int64(), "area": pa.string(), "x": pa.float64(), "y": pa.float64(), "ts": pa.float64()}
BYTES_PER_CALL = 45
DAY = 86_400.0  # seconds

# Area codes, how many of all phones they have, and the middle of the area on a map in km.
AREAS = np.array(["425", "206", "253", "360", "509"])
SHARES = np.array([0.35, 0.30, 0.15, 0.10, 0.10])
CENTRES = np.array([[15.0, 8.0], [0.0, 0.0], [3.0, -40.0], [-12.0, 90.0], [370.0, 5.0]])

# From which hour on how many calls are made, relatively. At 20:30 a match ends, and everyone wants to talk about it.
HOURS = np.array([0, 6, 8, 12, 17, 20.5, 20.6, 22, 24])
TRAFFIC = np.array([2, 5, 14, 10, 16, 90, 12, 5])

REPEATS = 0.05  # of the calls are made by the phone of the call before
CLONED = 0.002  # of the calls are followed by one from a cloned phone
LATE = 0.003  # of the calls are recorded up to LONGEST_DELAY seconds late
LONGEST_DELAY = 90.0


def write_calls(path: str | Path, count: int, seed: int = 7) -> None:
    """Write `count` calls to a CSV file; equal arguments give equal files."""
    check_size(count, Path(path).parent, BYTES_PER_CALL)
    with csv_files([Path(path)], COLUMNS) as (file,):
        for first, size in blocks(count):
            file.write(_calls(first, size, count, seed))


def _calls(first: int, size: int, count: int, seed: int) -> dict[str, np.ndarray | pa.Array]:
    def draw(purpose: int) -> np.ndarray:
        return uniform(seed, purpose, first, size)

    ts = _times((first + np.arange(size) + draw(0)) / count)
    ts = np.round(np.where(draw(1) < LATE, np.maximum(ts - LONGEST_DELAY * draw(2), 0.0), ts), 1)

    phones = max(count // 20, 5)
    owner = skewed(draw(3), phones)
    begins = np.where(draw(4) < REPEATS, 0, np.arange(size))
    owner = owner[np.maximum.accumulate(begins)]

    # A clone makes its call 1 to 20 minutes after one of the real phone's.
    real = np.flatnonzero(draw(5) < CLONED)
    clone = real + 1 + ((1 + 19 * draw(6)[real]) * count / 1440).astype(np.int64)
    real, clone = real[clone < size], clone[clone < size]
    owner[clone] = owner[real]

    x, y = _positions(owner, ts, seed)
    away, direction = 60 + 340 * draw(7)[clone], 2 * np.pi * draw(8)[clone]
    x[clone] += away * np.cos(direction)
    y[clone] += away * np.sin(direction)

    area = _area_of(owner, seed)
    return {
        "phone": AREAS.astype(np.int64)[area] * 10**7 + owner,
        "area": pa.DictionaryArray.from_arrays(area, AREAS).cast(pa.string()),
        "x": np.round(x, 3),
        "y": np.round(y, 3),
        "ts": ts,
    }


def _times(fractions: np.ndarray) -> np.ndarray:
    """The second of the day by which a fraction of all calls has been made."""
    made = np.concatenate([[0.0], np.cumsum(TRAFFIC * np.diff(HOURS))])
    return np.interp(fractions, made / made[-1], HOURS * 3600.0)


def _area_of(owner: np.ndarray, seed: int) -> np.ndarray:
    return np.searchsorted(np.cumsum(SHARES)[:-1], trait(owner, seed, 20), side="right")


def _positions(owner: np.ndarray, ts: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Everyone goes round in a circle of their own near home, at 63 km/h or less."""
    centre = CENTRES[_area_of(owner, seed)]
    radius = 20 * trait(owner, seed, 21)
    period = 7200 + 36_000 * trait(owner, seed, 22)
    angle = 2 * np.pi * (ts / period + trait(owner, seed, 23))
    home_x = centre[:, 0] + 30 * (trait(owner, seed, 24) - 0.5)
    home_y = centre[:, 1] + 30 * (trait(owner, seed, 25) - 0.5)
    return home_x + radius * np.cos(angle), home_y + radius * np.sin(angle)


if __name__ == "__main__":
    command("examples.data.calls", "Write a day of phone calls as CSV.", "calls.csv", write_calls)
