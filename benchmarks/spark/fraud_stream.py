"""Mobility fraud as a stream over a folder of CSV files that are all there: how many calls a second are kept up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.csv

from benchmarks.handwritten import transform_with_state
from benchmarks.spark.alerts import AREA, LIMIT, alerts
from benchmarks.spark.batches import new_folder, seconds_of, start
from benchmarks.spark.fraud import OURS
from benchmarks.spark.host import FOLDER, Host
from benchmarks.spark.inputs import calls_in_files
from benchmarks.spark.race import Answer, Contestant, Times, race

RIVAL = "transform_with_state"
BATCHES = 6
_TIMED = range(1, BATCHES - 1)  # the first warms up, and a stop may come before Spark has noted the end of the last
_FILES_OF_BATCH = 10


def contest(count: int, rounds: int) -> Times:
    """The seconds for the batches in the middle, `timed_calls` together, once both have written the same alerts."""
    files = calls_in_files(count, count // (BATCHES * _FILES_OF_BATCH))
    sizes = [path.stat().st_size for path in files]
    batch_bytes = _FILES_OF_BATCH * max(sizes)
    assert batch_bytes < (_FILES_OF_BATCH + 1) * min(sizes), "files of so different sizes cannot be batches alike"
    folder = str(files[0].parent)
    with Host(OURS) as ours, Host(RIVAL, transform_with_state.SETTINGS) as rival:
        here = "benchmarks.spark.fraud_stream"
        return race(
            [
                Contestant(OURS, ours, f"{here}:run_ours", {"folder": folder, "batch_bytes": batch_bytes}),
                Contestant(RIVAL, rival, f"{here}:run_rival", {"folder": folder}),
            ],
            rounds,
            _must_agree,
        )


def timed_calls(count: int) -> int:
    return count * len(_TIMED) // BATCHES


def run_ours(session: Any, folder: str, batch_bytes: int) -> Answer:
    place = new_folder(f"stream-{OURS}")
    program = alerts(calls=f"{folder}/*.csv", out=str(_out(OURS)), area=AREA, limit=LIMIT)
    query, of_spark = start(session, program, place, batch_bytes, once=True)
    query.await_done()
    return _answer(of_spark)


def run_rival(session: Any, folder: str) -> Answer:
    place = new_folder(f"stream-{RIVAL}")
    query = transform_with_state.start(
        session, folder, str(_out(RIVAL)), str(place / "checkpoint"), _FILES_OF_BATCH, AREA, LIMIT
    )
    query.awaitTermination()
    return _answer(query)


def _answer(of_spark: Any) -> Answer:
    assert len(of_spark.recentProgress) in (BATCHES - 1, BATCHES), "not the same batches for everyone"
    return {"seconds": seconds_of(of_spark, _TIMED.start, _TIMED.stop)}


def _out(name: str) -> Path:
    return FOLDER / f"stream-{name}" / "alerts.csv"


def _must_agree(answers: dict[str, Answer]) -> None:
    expected, found = (pyarrow.csv.read_csv(_out(name)) for name in (OURS, RIVAL))
    assert expected.num_rows, "no alerts to compare"
    assert found.equals(expected), f"{RIVAL} wrote other alerts than {OURS}"
