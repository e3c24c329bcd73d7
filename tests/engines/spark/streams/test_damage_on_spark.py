"""A checkpoint of a real Spark, damaged anywhere: refused before Spark is asked, or the stream's output is exact."""

from __future__ import annotations

import random
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch.dataflow.streams.checkpoint import Checkpoint
from anabranch.engines.spark.streams.intact import check_intact, check_outputs_are_there
from anabranch.engines.spark.streams.query import Query
from anabranch.errors import RunError
from anabranch.graph.model import Graph
from anabranch.run import as_program
from tests.engines.spark.streams.damaging import contents, damage, files_in
from tests.engines.spark.streams.test_damage import REFUSED, feed, program, written

pytestmark = pytest.mark.slow

TRIALS = 500
MOST_RUNS = 4  # of Spark: those of which nobody reads what is damaged are all alike


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
        assert (folder / "run" / "state" / "spark" / "state").exists(), "there are channels, and Spark has their state"

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


def is_refused(folder: Path, graph: Graph) -> bool:
    """What a start looks at before Spark."""
    checkpoint = Checkpoint(folder / "state")
    checkpoint.lock()
    try:
        committed = check_intact(checkpoint)
        assert committed is not None
        check_outputs_are_there(graph, committed, checkpoint)
    except REFUSED:
        return True
    finally:
        checkpoint.unlock()
    return False


def test_damage_at_five_hundred_places(stopped: Stopped, expected: list[Any]) -> None:
    rng, runs = random.Random(11), 0
    graph = as_program(*program(stopped.source, stopped.folder / "damaged")).graph
    for trial in range(TRIALS):
        folder = stopped.copied("damaged")
        by_kind: dict[str, list[Path]] = {}
        for path in files_in(folder / "state"):
            if path.stat().st_size:
                by_kind.setdefault(f"{path.relative_to(folder).parts[1]} {path.suffix}", []).append(path)
        what = f"trial {trial}: {damage(rng.choice(by_kind[rng.choice(sorted(by_kind))]), rng)}"
        before = contents(folder)
        if is_refused(folder, graph):
            assert contents(folder) == before, what
        elif runs < MOST_RUNS:
            assert written(folder, stopped.start(folder).finish()) == expected, what
            runs += 1
        shutil.rmtree(folder)


def test_damage_that_only_spark_can_see_is_said_and_ends_the_stream(stopped: Stopped) -> None:
    folder = stopped.copied("unseen")
    logs = folder / "state" / "spark"
    for sums in logs.rglob(".*.crc"):
        sums.unlink()
    for state in (*logs.rglob("*.changelog"), *logs.rglob("*.zip")):
        state.write_bytes(state.read_bytes()[: state.stat().st_size // 2])
    out = (folder / "out.csv").read_bytes()
    began = time.monotonic()
    with pytest.raises(RunError) as caught:
        stopped.start(folder).finish(timeout=300)
    assert time.monotonic() - began < 300
    assert caught.value.message.startswith(f"{folder / 'state'}: Spark cannot use its part of the checkpoint: ")
    assert "begin anew, with another checkpoint and other outputs" in (caught.value.hint or "")
    assert (folder / "out.csv").read_bytes() == out


@pytest.mark.parametrize("keeps_sums", [False, True], ids=["with its checksums", "alone"])
def test_state_of_the_last_batch_that_is_gone_is_said_and_ends_the_stream(keeps_sums: bool, stopped: Stopped) -> None:
    folder = stopped.copied(f"gone_{keeps_sums}")
    newest: dict[Path, Path] = {}
    for state in (folder / "state" / "spark").rglob("*.changelog"):
        before = newest.get(state.parent)
        if before is None or version_of(state) > version_of(before):
            newest[state.parent] = state
    gone = newest[sorted(newest)[0]]
    gone.unlink()
    if not keeps_sums:
        gone.with_name(f".{gone.name}.crc").unlink()
    out = (folder / "out.csv").read_bytes()
    with pytest.raises(RunError) as caught:
        stopped.start(folder).finish(timeout=300)
    assert caught.value.message.startswith(f"{folder / 'state'}: Spark cannot use its part of the checkpoint: ")
    assert gone.name in caught.value.message
    assert "\n" not in caught.value.message
    assert "begin anew, with another checkpoint and other outputs" in (caught.value.hint or "")
    assert (folder / "out.csv").read_bytes() == out


def version_of(state: Path) -> int:
    return int(state.name.split(".")[0].split("_")[0])
