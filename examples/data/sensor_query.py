"""Sensors all over a city and people who ask for those around them, as `examples/sensor_query.py` reads them.

    python -m examples.data.sensor_query --count 1000000 --out city --seed 7

Most sensors stand near the centre, and some report far more often than others. People ask from a few places, many at
once when something happens there. One of 20 tuples is a query. Some readings reach us late, behind those that came
after them, and some twice, because a radio did not hear that the first one had arrived.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from examples.data.shared import blocks, check_size, command, skewed, text_file, trait, uniform

BYTES_PER_TUPLE = 90
TUPLES_PER_SECOND = 40.0
QUERIES_EVERY = 20  # tuples there is one
SENSORS = 2000
CITY = 12.0  # km from the centre to the edge
LATE = 0.01  # of the readings are up to LONGEST_DELAY seconds late
LONGEST_DELAY = 14.0
TWICE = 0.01  # of the readings come again, up to FARTHEST readings later
FARTHEST = 30

SPOTS = 30  # people ask from
CROWD_EVERY = 1000  # queries there is a crowd, or almost
CROWD = 150  # queries from one spot


def write_sensor_query(folder: str | Path, count: int, seed: int = 7) -> None:
    """Write `sensors.jsonl` and `queries.jsonl` with `count` tuples together; equal arguments give equal files."""
    check_size(count, Path(folder), BYTES_PER_TUPLE)
    queries = count // QUERIES_EVERY
    readings = count - queries
    with text_file(Path(folder) / "sensors.jsonl") as sensors, text_file(Path(folder) / "queries.jsonl") as asked:
        for first, size in blocks(readings):
            sensors.writelines(_readings(first, size, seed))
        for first, size in blocks(queries):
            asked.writelines(_queries(first, size, seed))


def _readings(first: int, size: int, seed: int) -> Iterator[str]:
    def draw(purpose: int) -> np.ndarray:
        return uniform(seed, purpose, first, size)

    rate = TUPLES_PER_SECOND * (1 - 1 / QUERIES_EVERY)
    ts = (first + np.arange(size) + draw(0)) / rate
    ts = np.round(np.where(draw(1) < LATE, np.maximum(ts - LONGEST_DELAY * draw(2), 0.0), ts), 3)
    sid = skewed(draw(3), SENSORS)
    value = np.round(18 + 6 * trait(sid, seed, 20) + 4 * np.sin(ts / 7000) + draw(4), 2)
    x, y = _places(sid, seed, 21)

    # What comes again says what it said the first time.
    again = np.arange(size) - 1 - (FARTHEST * draw(6)).astype(np.int64)
    sent = np.where(draw(5) < TWICE, np.maximum(again, 0), np.arange(size))
    for each in zip(*(column[sent].tolist() for column in (sid, value, x, y, ts)), strict=True):
        sensor, reading, east, north, at = each
        yield _line({"sid": sensor, "value": reading, "sloc": {"x": east, "y": north}, "ts": at})


def _queries(first: int, size: int, seed: int) -> Iterator[str]:
    def draw(purpose: int) -> np.ndarray:
        return uniform(seed, purpose, first, size)

    number = first + np.arange(size)
    ts = np.round((number + draw(10)) * QUERIES_EVERY / TUPLES_PER_SECOND, 3)
    # Crowd number k gathers somewhere in the k-th stretch of queries.
    crowd = number // CROWD_EVERY
    begin = crowd * CROWD_EVERY + trait(crowd, seed, 30) * (CROWD_EVERY - CROWD)
    is_crowd = (number >= begin) & (number < begin + CROWD)
    spot = np.where(is_crowd, (SPOTS * trait(crowd, seed, 31)).astype(np.int64), skewed(draw(11), SPOTS))
    x, y = _places(spot, seed, 32)
    x, y = np.round(x + 0.4 * (draw(12) - 0.5), 3), np.round(y + 0.4 * (draw(13) - 0.5), 3)
    radius = np.round(0.2 + 1.8 * draw(14) ** 2, 2)
    for each in zip(*(column.tolist() for column in (number, x, y, radius, ts)), strict=True):
        query, east, north, far, at = each
        yield _line({"qid": query, "qloc": {"x": east, "y": north}, "radius": far, "ts": at})


def _places(ids: np.ndarray, seed: int, purpose: int) -> tuple[np.ndarray, np.ndarray]:
    """Where something always is: more likely near the centre than at the edge."""
    away, direction = CITY * trait(ids, seed, purpose) ** 1.5, 2 * np.pi * trait(ids, seed, purpose + 1)
    return np.round(away * np.cos(direction), 3), np.round(away * np.sin(direction), 3)


def _line(row: dict[str, object]) -> str:
    return json.dumps(row, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    command("examples.data.sensor_query", "Write readings and queries as JSON lines.", "city", write_sensor_query)
