"""A checkpoint of a real Spark, damaged anywhere: refused before Spark is asked, or the stream's output is exact."""

from __future__ import annotations

import random
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch.engines.spark.streams import start as streams
from anabranch.engines.spark.streams.query import Query
from anabranch.errors import RunError
from tests.engines.spark.streams.damaging import contents, damage, files_in
from tests.engines.spark.streams.test_damage import REFUSED, feed, program, written

pytestmark = pytest.mark.slow

TRIALS = 500
_MOST_RUNS = 6  # of Spark: those of which nobody reads what is damaged are all alike


class Stopped:
    """A stream that was stopped, to be copied and damaged. Some files have come since."""

    def __init__(self, folder: Path, session: Any) -> None:
        self.folder, self.session = folder, session
        self.source = feed(folder / "in", files=8)
        (folder / "run").mkdir()
        self.later = folder / "later"
        self.later.mkdir()
        for path in sorted(self.source.iterdir())[5:]:
            path.rename(self.later / path.name)
        for _ in range(2):
            self.start(folder / "run", once=True, batch_mb=0.0001).await_done()
            next(iter(sorted(self.later.iterdir()))).rename(self.source / f"{len(list(self.source.iterdir())):02}.csv")

    def start(self, folder: Path, **options: Any) -> Query:
        sinks = program(self.source, folder)
        return ab.start(*sinks, checkpoint=folder / "state", channels=2, spark=self.session, **options)

    def copied(self, name: str) -> Path:
        return Path(shutil.copytree(self.folder / "run", self.folder / name))


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory, session: Any) -> Stopped:
    return Stopped(tmp_path_factory.mktemp("stopped"), session)


@pytest.fixture(scope="module")
def expected(stopped: Stopped) -> list[Any]:
    out = stopped.folder / "expected"
    out.mkdir()
    return written(out, ab.run(*program(stopped.source, out), engine="sequential"))


class SparkWasAsked(Exception):
    pass


@pytest.fixture
def no_spark(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    def asked(options: Any) -> Any:
        raise SparkWasAsked

    monkeypatch.setattr(streams, "session_for", asked)
    monkeypatch.setattr(streams, "prepare", lambda *_: None)  # the program is the same, and this takes its time
    return monkeypatch


def test_damage_at_five_hundred_places(stopped: Stopped, expected: list[Any], no_spark: pytest.MonkeyPatch) -> None:
    passed: list[tuple[Path, str]] = []
    rng = random.Random(11)
    for trial in range(TRIALS):
        folder = stopped.copied(f"damaged {trial}")
        by_kind: dict[str, list[Path]] = {}
        for path in files_in(folder / "state"):
            if path.stat().st_size:
                by_kind.setdefault(f"{path.relative_to(folder).parts[1]} {path.suffix}", []).append(path)
        what = damage(rng.choice(by_kind[rng.choice(sorted(by_kind))]), rng)
        before = contents(folder)
        try:
            stopped.start(folder)
        except REFUSED:
            assert contents(folder) == before, what
            shutil.rmtree(folder)
        except SparkWasAsked:
            passed.append((folder, what))
    assert len(passed) < TRIALS // 5
    no_spark.undo()
    for folder, what in passed[:_MOST_RUNS]:
        result = stopped.start(folder).finish()
        assert written(folder, result) == expected, what


def test_damage_that_only_spark_can_see_is_said_and_ends_the_stream(stopped: Stopped) -> None:
    folder = stopped.copied("unseen")
    logs = folder / "state" / "spark"
    for sums in logs.rglob(".*.crc"):
        sums.unlink()
    for changes in logs.rglob("*.changelog"):
        changes.write_bytes(changes.read_bytes()[:-9])
    for whole in logs.rglob("*.zip"):
        whole.write_bytes(whole.read_bytes()[:-9])
    out = (folder / "out.csv").read_bytes()
    began = time.monotonic()
    with pytest.raises(RunError) as caught:
        stopped.start(folder).finish(timeout=300)
    assert time.monotonic() - began < 300
    assert caught.value.message.startswith(f"{folder / 'state'}: Spark cannot use its part of the checkpoint: ")
    assert "begin anew, with another checkpoint and other outputs" in (caught.value.hint or "")
    assert (folder / "out.csv").read_bytes() == out
