"""A damaged checkpoint is refused before anything is touched, or makes no difference: it never gives other output."""

from __future__ import annotations

import copy
import random
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest

import anabranch as ab
from anabranch.dataflow.sources.reading import Slice
from anabranch.dataflow.streams.checkpoint import Checkpoint, CheckpointError, Commit
from anabranch.dataflow.streams.entries import Entry, EntryLog
from anabranch.dataflow.streams.sealed_files import HEAD, DamagedCheckpoint, read_sealed, sealed, write_sealed
from anabranch.engines.spark.streams.intact import check_intact
from anabranch.errors import SinkError
from anabranch.graph.model import Graph
from anabranch.run import as_program
from tests.engines.spark.streams.damaging import contents, damage, files_in
from tests.engines.spark.streams.simulated_stream import Crash, Disk, SimulatedStream

REFUSED = (DamagedCheckpoint, CheckpointError, SinkError)


class Item(NamedTuple):
    n: int
    s: str


class Running:
    def __init__(self) -> None:
        self.count = 0

    def process(self, item: Item) -> Item | None:
        self.count += 1
        return Item(item.n * 10 + self.count, item.s) if self.count % 3 else None


class Numbered:
    """Not parallel: its state is in the tail's files."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def process(self, item: Item) -> Item:
        self.seen.append(item.n)
        return Item(len(self.seen) * 1_000 + sum(self.seen[-5:]) % 1_000, item.s)


def program(source: Path, out: Path) -> list[Any]:
    items = ab.read_csv(source, Item).process(Running, key="n")
    numbered = items.process(Numbered)
    return [
        numbered.write_csv(out / "out.csv"),
        items.filter(lambda item: item.n % 2 == 0).write_parquet(out / "even"),
        numbered.filter(lambda item: item.n % 3 == 0).collect("thirds"),
    ]


def graph_of(source: Path, out: Path) -> Graph:
    return as_program(*program(source, out)).graph


def feed(folder: Path, files: int = 24) -> Path:
    folder.mkdir()
    rng = random.Random(5)
    for number in range(files):
        rows = "".join(f"{rng.randrange(9)},{rng.choice('abc')}\n" for _ in range(rng.randint(1, 30)))
        (folder / f"{number:02}.csv").write_text(f"n,s\n{rows}")
    return folder


def written(folder: Path, result: Any) -> list[Any]:
    """The output of a stream that has come to its end."""
    return [(folder / "out.csv").read_text(), pq.read_table(folder / "even").to_pylist(), result.items("thirds")]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return feed(tmp_path_factory.mktemp("source") / "in")


@pytest.fixture(scope="module")
def expected(source: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    out = tmp_path_factory.mktemp("expected")
    result = ab.run(*program(source, out), engine="sequential")
    found = written(out, result)
    assert all(len(each) > 20 for each in found)
    return found


class Small(random.Random):
    """Has batches of an entry or two."""

    def choice(self, seq: Any) -> Any:
        return seq[self.randrange(2)]


class Dying(SimulatedStream):
    """Dies at a certain one of the points at which a stream may."""

    left = 0

    def _perhaps_crash(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise Crash


class Killed:
    """A stream that was killed in the middle, to be copied and damaged."""

    def __init__(self, source: Path, folder: Path, seed: int) -> None:
        self.source, self.folder = source, folder
        self.disk = Disk(folder / "state")
        stream = Dying(graph_of(source, folder), self.disk, Small(seed))
        stream.left = 20 + seed % 8  # in the sixth batch or the seventh
        with pytest.raises(Crash):
            stream.run()
        self.committed = check_intact(Checkpoint(self.disk.folder)) or Commit()
        assert self.committed.batch > 3
        assert len(self.committed.state) > 3

    def copied(self, to: Path) -> Disk:
        shutil.copytree(self.folder, to)
        disk = copy.deepcopy(self.disk)
        disk.folder = to / "state"
        return disk

    def goes_on(self, folder: Path, disk: Disk) -> list[Any]:
        stream = SimulatedStream(graph_of(self.source, folder), disk, random.Random(1))
        stream.arrivals.end()
        return written(folder, stream.run())


@pytest.fixture(scope="module")
def killed(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Killed:
    return Killed(source, tmp_path_factory.mktemp("killed") / "stream", seed=3)


# At random places -----------------------------------------------------------------------------------------------------


def refused_or_exact(killed: Killed, folder: Path, seed: int, expected: list[Any]) -> bool:
    """Whether a checkpoint was refused that is damaged somewhere, with nothing touched; else its output is exact."""
    rng = random.Random(seed)
    disk = killed.copied(folder)
    path = rng.choice([path for path in files_in(disk.folder) if path.stat().st_size])
    what = damage(path, rng)
    before = contents(folder)
    refusal: Exception | None = None
    try:
        found = killed.goes_on(folder, disk)
    except REFUSED as problem:
        refusal = problem
    if refusal is None:
        assert found == expected, what
        return False
    assert contents(folder) == before, what
    assert "try: " in str(refusal), what
    return True


def check_damages(killed: Killed, folder: Path, seeds: range, expected: list[Any]) -> None:
    refused = 0
    for seed in seeds:
        refused += refused_or_exact(killed, folder / "damaged", seed, expected)
        shutil.rmtree(folder / "damaged")
    assert refused > len(seeds) // 2, "the others were damaged where nobody reads any more"


def test_what_is_not_damaged_goes_on(killed: Killed, tmp_path: Path, expected: list[Any]) -> None:
    assert killed.goes_on(tmp_path / "copy", killed.copied(tmp_path / "copy")) == expected
    kinds = {path.suffix for path in files_in(killed.disk.folder)}
    assert kinds >= {".json", ".jsonl", ".state", ".crc", ""}


def test_a_damaged_checkpoint_is_refused_or_makes_no_difference(
    killed: Killed, tmp_path: Path, expected: list[Any]
) -> None:
    check_damages(killed, tmp_path, range(40), expected)


@pytest.mark.slow
def test_damage_at_five_hundred_places_is_refused_or_makes_no_difference(
    source: Path, tmp_path: Path, expected: list[Any]
) -> None:
    for seed in range(10):
        killed = Killed(source, tmp_path / f"stream {seed}", seed)
        check_damages(killed, tmp_path, range(100 + seed * 50, 150 + seed * 50), expected)


@pytest.mark.parametrize("name", ["commit.json", "arrivals.jsonl", "stream.json", "tail", "sinks", "offsets"])
def test_every_bit_of_a_checkpoint_counts(killed: Killed, tmp_path: Path, name: str) -> None:
    """Of what a batch has taken, one bit in each of many places."""
    disk = killed.copied(tmp_path / "copy")
    used = {"tail": killed.committed.state, "offsets": (str(killed.committed.batch),)}.get(name)
    paths = [path for path in files_in(disk.folder) if name in path.parts and (used is None or path.name in used)]
    assert paths
    for path in paths:
        content = path.read_bytes()
        taken = len(content) if name != "sinks" else killed.committed.sinks["thirds"]["bytes"]
        for at in range(0, taken, max(1, taken // 25)):
            path.write_bytes(content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :])
            with pytest.raises(REFUSED, match=path.name):
                SimulatedStream(graph_of(killed.source, tmp_path / "copy"), disk, random.Random(1))
        path.write_bytes(content)


# What a kill may leave ------------------------------------------------------------------------------------------------


def test_half_a_line_at_the_end_of_the_log_is_what_a_kill_leaves(
    killed: Killed, tmp_path: Path, expected: list[Any]
) -> None:
    disk = killed.copied(tmp_path / "copy")
    log = disk.folder / "arrivals.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    taken = max(stop for _, stop in disk.begun)
    assert len(lines) > taken, "some have arrived that no batch has taken"
    log.write_bytes(b"".join(lines[:taken]) + lines[taken][:-1])
    assert killed.goes_on(tmp_path / "copy", disk) == expected


def test_lines_that_a_batch_has_taken_may_not_be_missing(killed: Killed, tmp_path: Path) -> None:
    disk = killed.copied(tmp_path / "copy")
    log = disk.folder / "arrivals.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    taken = max(stop for _, stop in disk.begun)
    for kept, why in (
        (lines[: taken - 1], "entries were taken from it"),
        (lines[1:], "lines before that one"),
    ):
        log.write_bytes(b"".join(kept))
        with pytest.raises(DamagedCheckpoint, match=why):
            check_intact(Checkpoint(disk.folder))


def test_state_of_a_batch_that_spark_did_not_finish_is_not_looked_at(killed: Killed, tmp_path: Path) -> None:
    disk = killed.copied(tmp_path / "copy")
    state = disk.folder / "spark" / "state" / "0" / "0"
    state.mkdir(parents=True)
    for version, is_read in ((disk.done, True), (disk.done + 1, False)):
        (state / f"{version}.changelog").write_bytes(b"of a second attempt")
        (state / f".{version}.changelog.crc").write_bytes(b"crc\0\0\0\2\0abcd")
        if is_read:
            with pytest.raises(DamagedCheckpoint, match=rf"{version}\.changelog"):
                check_intact(Checkpoint(disk.folder))
        else:
            check_intact(Checkpoint(disk.folder))
        (state / f"{version}.changelog").unlink()


def test_what_spark_was_writing_when_it_was_killed_is_no_damage(killed: Killed, tmp_path: Path) -> None:
    disk = killed.copied(tmp_path / "copy")
    for folder in (disk.folder / "spark" / "state" / "0" / "0", disk.folder / "spark" / "offsets"):
        folder.mkdir(parents=True, exist_ok=True)
        begun = f".{disk.done}.changelog.2f1d.TID14.tmp"
        (folder / begun).write_bytes(b"")
        (folder / f".{begun}.crc").write_bytes(b"")
    check_intact(Checkpoint(disk.folder))


# Files that are whole, and do not belong together ---------------------------------------------------------------------


def test_a_commit_that_is_older_than_what_spark_has_done_is_refused(killed: Killed, tmp_path: Path) -> None:
    disk = killed.copied(tmp_path / "copy")
    checkpoint = Checkpoint(disk.folder)
    checkpoint.write_commit(Commit(disk.done - 2, 1, killed.committed.sinks, killed.committed.state))
    with pytest.raises(DamagedCheckpoint, match=f"it is of batch {disk.done - 2}, and Spark has done"):
        check_intact(checkpoint)


def test_a_commit_that_spark_does_not_know_of_is_refused(killed: Killed, tmp_path: Path) -> None:
    disk = killed.copied(tmp_path / "copy")
    shutil.rmtree(disk.folder / "spark")
    with pytest.raises(DamagedCheckpoint, match="was committed, and Spark's own checkpoint does not know of it"):
        check_intact(Checkpoint(disk.folder))


def test_a_file_under_the_name_of_another_is_refused(tmp_path: Path) -> None:
    write_sealed(tmp_path / "one", b"content")
    (tmp_path / "one").rename(tmp_path / "two")
    with pytest.raises(DamagedCheckpoint, match="two: the checkpoint is damaged: its content does not match"):
        read_sealed(tmp_path / "two")


def test_no_output_is_cut_where_another_lacks_what_was_written(killed: Killed, tmp_path: Path) -> None:
    disk = killed.copied(tmp_path / "copy")
    (tmp_path / "copy" / "out.csv").open("a").write("of a batch that was torn\n")
    (tmp_path / "copy" / "even" / "part-00000000.parquet").unlink()
    before = contents(tmp_path)
    with pytest.raises(SinkError, match=r"part-00000000\.parquet is gone"):
        SimulatedStream(graph_of(killed.source, tmp_path / "copy"), disk, random.Random(1))
    assert contents(tmp_path) == before


def test_what_cannot_be_read_is_named(killed: Killed, tmp_path: Path) -> None:
    disk = killed.copied(tmp_path / "copy")
    for name in ("commit.json", "arrivals.jsonl", f"spark/offsets/{killed.committed.batch}"):
        kept = (disk.folder / name).read_bytes()
        (disk.folder / name).unlink()
        (disk.folder / name).mkdir()
        with pytest.raises(DamagedCheckpoint, match=rf"{name}: .* it cannot be read: Is a directory"):
            check_intact(Checkpoint(disk.folder))
        (disk.folder / name).rmdir()
        (disk.folder / name).write_bytes(kept)


# Lines from TCP -------------------------------------------------------------------------------------------------------


@pytest.fixture
def spool(killed: Killed, tmp_path: Path) -> Path:
    """A file of lines that were kept and not given out yet."""
    folder = killed.copied(tmp_path / "copy").folder / "spool" / "read_tcp"
    folder.mkdir(parents=True)
    write_sealed(folder / "000000000007.lines", b"one\ntwo\n")
    return folder / "000000000007.lines"


def test_lines_that_were_kept_are_as_they_came(spool: Path) -> None:
    checkpoint = Checkpoint(spool.parents[2])
    assert check_intact(checkpoint) is not None
    content = spool.read_bytes()
    for damaged in (content.replace(b"two", b"tvo"), content[:-1], content[:20], b"", sealed("other", b"one\ntwo\n")):
        spool.write_bytes(damaged)
        with pytest.raises(DamagedCheckpoint, match=r"000000000007\.lines"):
            check_intact(checkpoint)


def test_lines_that_are_still_to_be_read_may_not_be_missing(spool: Path) -> None:
    checkpoint = Checkpoint(spool.parents[2])
    log = EntryLog(checkpoint.arrivals)
    log.mend()
    log.append([Entry("read_tcp", Slice(str(spool), "tcp://localhost:1", HEAD, HEAD + 8), 1.5)])
    assert check_intact(checkpoint) is not None
    spool.unlink()
    with pytest.raises(DamagedCheckpoint, match=r"000000000007\.lines.*it is missing"):
        check_intact(checkpoint)
