"""A folder that the tasks of a real Spark write: its files in order are the file that the oracle writes."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from tests.engines.spark.test_engine import Many, Running, numbers
from tests.engines.spark.test_failing_tasks import busy, killing


def text_of(folder: Path) -> str:
    parts = sorted(folder.iterdir())
    assert len(parts) > 1
    assert [each.name for each in parts] == [f"part-{number:08d}.csv" for number in range(len(parts))]
    return "".join(each.read_text() for each in parts)


def test_the_files_of_a_folder_behind_one_another_are_the_oracles_file(session: Any, tmp_path: Path) -> None:
    stream = numbers().process(Many, key="n").process(Running, key="s")
    ab.run(stream.write_csv(tmp_path / "one.csv", header=False), engine="sequential")
    result = ab.run(stream.write_csv(f"{tmp_path}/many/", header=False), engine="spark", spark=session, channels=2)
    expected = (tmp_path / "one.csv").read_text()
    assert text_of(tmp_path / "many") == expected
    assert result.metrics.tuples_out == expected.count("\n") > 10_000
    assert sorted(each.name for each in tmp_path.iterdir()) == ["many", "one.csv"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_folder_is_exact_though_workers_are_killed(session: Any, tmp_path: Path, seed: int) -> None:
    stream = numbers(60_000).map(busy).process(Running, key="n").process(Many, key="s").map(busy)
    ab.run(stream.write_csv(tmp_path / "one.csv", header=False), engine="fused")
    killed: list[int] = []
    stop = threading.Event()
    thread = threading.Thread(target=killing, args=(seed, 3, killed, stop))
    thread.start()
    try:
        ab.run(stream.write_csv(f"{tmp_path}/many/", header=False), engine="spark", spark=session, channels=2)
    finally:
        stop.set()
        thread.join()
    assert killed, "nobody was killed in time"
    assert text_of(tmp_path / "many") == (tmp_path / "one.csv").read_text()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["many", "one.csv"]
