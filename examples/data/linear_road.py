"""What cars on an expressway report and ask, as `examples/linear_road.py` reads it.

    python -m examples.data.linear_road --count 1000000 --out reports.csv --seed 7

Every car reports every 30 seconds from where it enters to where it leaves. Most go to town: there is always a jam on
the last miles before it, and more cars come in some half hours than in others. A few break down for a while, and
sometimes two do at the same place, which is an accident. Now and then a car asks what it owes. As in the benchmark,
reports are in order of time, and none is late.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from examples.data.shared import check_size, command, csv_files, skewed, trait

COLUMNS = dict.fromkeys(["type", "time", "vid", "speed", "xway", "lane", "dir", "seg", "pos", "qid"], pa.int64())
BYTES_PER_REPORT = 35
ROUND = 30  # seconds, in which every car reports once
MILE = 5280  # feet: the length of a segment
SEGMENTS = 100
FEET_PER_SECOND = MILE / 3600  # at a mile per hour

MOST = 40  # cars that enter within a round
ROUNDS = 160  # a car is on the road for, at most
TO_TOWN = 0.65  # of the cars
TOWN, JAM = 50, 4  # the segment, and the miles before it
BROKEN = 0.015  # of the cars break down
CRASHES = 0.01  # of pairs of cars have an accident
QUESTIONS = 0.01  # of the reports are followed by one


def write_linear_road(path: str | Path, count: int, seed: int = 7) -> None:
    """Write `count` reports to a CSV file; equal arguments give equal files."""
    check_size(count, Path(path).parent, BYTES_PER_REPORT)
    with csv_files([Path(path)], COLUMNS) as (file,):
        number, questions, missing = 0, 0, count
        while missing:
            rows = _rows(number, seed, questions).head(missing)
            file.write({name: rows[name].to_numpy() for name in COLUMNS})
            number, questions, missing = number + 1, questions + int((rows.type == 2).sum()), missing - len(rows)


def _rows(number: int, seed: int, questions: int) -> pd.DataFrame:
    """What the cars on the road report and ask in a round; `questions` were asked before."""
    entered = number - np.repeat(np.arange(ROUNDS), MOST)
    vid = (entered + ROUNDS) * MOST + np.tile(np.arange(MOST), ROUNDS)
    # How many cars come changes every half hour.
    exists = trait(vid, seed, 20) < 0.3 + 0.4 * trait((entered + ROUNDS) // 60, seed, 21)
    reports = _reports((number - entered[exists]) * float(ROUND), vid[exists], seed)
    reports["time"] += number * ROUND

    asks = trait(reports.vid.to_numpy() * 100_003 + number, seed, 22) < QUESTIONS
    asked = reports[asks].assign(type=2, speed=-1, xway=-1, lane=-1, dir=-1, seg=-1, pos=-1)
    rows = pd.concat([reports, asked]).sort_values(["time", "vid", "type"], ignore_index=True)
    is_question = rows.type == 2
    rows.loc[is_question, "qid"] = questions + np.arange(is_question.sum())
    return rows


def _reports(since: np.ndarray, vid: np.ndarray, seed: int) -> pd.DataFrame:
    """The positions of cars so many seconds after they entered, but for those that have left."""
    # Cars that will crash go side by side.
    is_pair = trait(vid // 2, seed, 30) < CRASHES
    who = np.where(is_pair, vid // 2 * 2, vid)
    is_to_town = trait(who, seed, 31) < TO_TOWN
    ramp = np.where(is_to_town, TOWN - 2 - skewed(trait(who, seed, 32), 30), 80 * trait(who, seed, 32))
    begin = MILE * ramp
    end = np.minimum(begin + MILE * (3 + 17 * trait(who, seed, 33)), SEGMENTS * MILE - 1.0)

    # First to the jam, then through it, then on: each stretch has its length and its speed.
    free = np.floor(50 + 20 * trait(who, seed, 34))
    slow = np.where(is_to_town, np.floor(7 + 8 * trait(who, seed, 35)), free)
    jam_begin, jam_end = (TOWN - JAM) * MILE, TOWN * MILE
    stretches = [
        (np.maximum(np.minimum(end, jam_begin) - begin, 0), free),
        (np.maximum(np.minimum(end, jam_end) - np.maximum(begin, jam_begin), 0), slow),
        (np.maximum(end - np.maximum(begin, jam_end), 0), free),
    ]
    whole = sum(length / (speed * FEET_PER_SECOND) for length, speed in stretches)

    # A car that breaks down stands for five minutes or more; the rest of its trip is later by that.
    breaks = is_pair | (trait(who, seed, 36) < BROKEN)
    breakdown = np.where(breaks, whole * trait(who, seed, 37), np.inf)
    lasts = 300 + 600 * trait(who, seed, 38)
    driven = since - np.clip(since - breakdown, 0, lasts)

    feet, speed, left = begin, free, driven
    for length, own_speed in stretches:
        takes = length / (own_speed * FEET_PER_SECOND)
        feet = feet + np.clip(left, 0, takes) * own_speed * FEET_PER_SECOND
        speed = np.where(left > 0, own_speed, speed)
        left = left - takes
    pos = np.minimum(feet, end)
    pos = np.where(is_to_town, pos, SEGMENTS * MILE - 1 - pos).astype(np.int64)
    reports = {
        "type": 0,
        "time": (ROUND * trait(vid, seed, 39)).astype(np.int64),  # within the round
        "vid": vid,
        "speed": np.where((since > breakdown) & (since < breakdown + lasts), 0, speed).astype(np.int64),
        "xway": 0,
        "lane": np.where(since == 0, 0, np.where(driven + ROUND > whole, 4, 1 + vid % 3)),
        "dir": np.where(is_to_town, 0, 1),
        "seg": pos // MILE,
        "pos": pos,
        "qid": -1,
    }
    return pd.DataFrame(reports)[driven <= whole]


if __name__ == "__main__":
    command("examples.data.linear_road", "Write the reports of cars as CSV.", "reports.csv", write_linear_road)
