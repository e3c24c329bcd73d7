"""A folder that the tasks of a real Spark write: its files in order are the file that the oracle writes."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from tests.engines.spark.job.test_failing_tasks import busy, killing
from tests.engines.spark.runs.test_engine import Item, Many, Running, numbered, numbers
from tests.engines.spark.session.test_sessions import wait_until


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


def first_ones(item: Item) -> Item:
    if item.n > 100_000:
        raise ValueError("too far")
    return item


def test_an_error_keeps_a_folder_of_what_comes_before_it(session: Any, tmp_path: Path) -> None:
    (tmp_path / "many").mkdir()
    (tmp_path / "many" / "part-00000000.csv").write_text("of an earlier run\n")
    stream = ab.beacon(Item, lambda n: Item(n, "x"), count=150_000).map(first_ones)
    with pytest.raises(ab.OperatorError) as expected:
        ab.run(stream.write_csv(tmp_path / "one", header=False), engine="fused")
    with pytest.raises(ab.OperatorError) as found:
        ab.run(stream.write_csv(f"{tmp_path}/many/", header=False), engine="spark", spark=session, channels=2)
    assert str(found.value).replace("many", "one") == str(expected.value)
    assert text_of(tmp_path / "many.partial") == (tmp_path / "one.partial").read_text() != ""
    assert (tmp_path / "many" / "part-00000000.csv").read_text() == "of an earlier run\n"


@pytest.mark.parametrize("ordered", [True, False])
def test_an_interrupt_leaves_the_folder_of_an_earlier_run(session: Any, tmp_path: Path, ordered: bool) -> None:
    (tmp_path / "many").mkdir()
    (tmp_path / "many" / "part-00000000.csv").write_text("of an earlier run\n")

    def interrupt() -> None:
        """When a task has written a file, or so."""
        wait_until(lambda: any(tmp_path.glob(".anabranch-*.parts/part-*")))
        os.kill(os.getpid(), signal.SIGINT)

    helper = threading.Thread(target=interrupt)
    helper.start()
    endless = ab.beacon(Item, numbered, count=10_000_000).map(busy)
    with pytest.raises(KeyboardInterrupt) as caught:
        ab.run(endless.write_csv(f"{tmp_path}/many/", ordered=ordered), engine="spark", spark=session, form="python")
    helper.join()
    assert caught.value.kept == {"write_csv": tmp_path / "many.partial"}  # type: ignore[attr-defined]
    assert list((tmp_path / "many.partial").iterdir())
    assert [each.read_text() for each in (tmp_path / "many").iterdir()] == ["of an earlier run\n"]


@pytest.mark.parametrize("engine", ["sequential", "fused", "multicore", "spark"])
def test_a_folder_that_spark_itself_wrote_is_read(session: Any, tmp_path: Path, engine: Any) -> None:
    items = [Item(n, "abc"[n % 3]) for n in range(100)]
    frame = session.createDataFrame([tuple(item) for item in items], "n long, s string")
    frame.repartitionByRange(3, "n").sortWithinPartitions("n").write.parquet(str(tmp_path / "out"))
    assert (tmp_path / "out" / "_SUCCESS").exists()
    options = {"spark": session} if engine == "spark" else {}
    for path in (f"{tmp_path}/out", f"{tmp_path}/out/*"):
        result = ab.run(ab.read_parquet(path, Item).collect("out"), engine=engine, **options)
        assert result.items("out") == items


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
