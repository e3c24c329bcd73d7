"""A checkpoint belongs to one program and one run at a time, and says in words what is wrong with it."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.dataflow.streams.checkpoint import Checkpoint, CheckpointError
from anabranch.dataflow.streams.sealed_files import DamagedCheckpoint, write_sealed
from anabranch.errors import SinkError, UsageError
from anabranch.graph.model import Graph, Program
from anabranch.run import as_program
from tests.engines.spark.streams.simulated_stream import Disk, SimulatedStream


class Item(NamedTuple):
    n: int
    s: str


class Other(NamedTuple):
    n: int
    s: str
    more: float


class Counted:
    def __init__(self) -> None:
        self.seen = 0

    def process(self, item: Item) -> Iterator[Item]:
        self.seen += 1
        yield Item(self.seen, item.s)


class CountedTwice:
    def __init__(self) -> None:
        self.seen = 0

    def process(self, item: Item) -> Iterator[Item]:
        self.seen += 2
        yield Item(self.seen, item.s)


ITEMS = [Item(n % 3, "ab"[n % 2]) for n in range(12)]


def program(operator: Any = Counted, key: str = "n", name: str = "count") -> Graph:
    return as_program(ab.from_items(Item, ITEMS).process(operator, key=key).named(name).collect("out")).graph


def run(graph: Graph, folder: Path, **options: Any) -> Any:
    return SimulatedStream(graph, Disk(folder), random.Random(0), **options)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (lambda: program(key="s"), "'count' had the key n, and now s"),
        (lambda: program(CountedTwice), "the code or the settings of 'count' have changed"),
        (lambda: program(name="counted"), "it had an operator 'count'"),
        (lambda: as_program(ab.from_items(Item, ITEMS).collect("out")).graph, "it had an operator 'count'"),
    ],
)
def test_a_checkpoint_of_another_program_is_refused_with_what_differs(tmp_path: Path, changed: Any, said: str) -> None:
    run(program(), tmp_path).run()
    with pytest.raises(CheckpointError, match="was written by another program") as caught:
        run(changed(), tmp_path)
    assert said in str(caught.value)


class Failing:
    def __init__(self) -> None:
        self.seen = 0

    def process(self, item: Item) -> Item:
        self.seen += 1
        return Item(self.seen // (item.n - 2), item.s)


class Mended:
    def __init__(self) -> None:
        self.seen = 0

    def process(self, item: Item) -> Item:
        self.seen += 1
        return Item(self.seen // (item.n - 2) if item.n != 2 else 0, item.s)


def failing(operator: Any = Failing, on_error: Any = "stop") -> Graph:
    stream = ab.from_items(Item, ITEMS).process(operator, key="n", on_error=on_error).named("count")
    return as_program(stream.collect("out")).graph


def test_behind_an_error_of_an_operator_its_failures_may_be_skipped_but_its_code_not_be_mended(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "state")
    with pytest.raises(ab.OperatorError, match="'count' failed"):
        SimulatedStream(failing(), disk, random.Random(0)).run()
    with pytest.raises(CheckpointError, match="the code or the settings of 'count' have changed"):
        SimulatedStream(failing(Mended), disk, random.Random(0))
    found = SimulatedStream(failing(on_error="skip"), disk, random.Random(0)).run()
    assert found.items("out") == ab.run(Program(failing(on_error="skip")), engine="sequential").items("out")
    assert found.items("out")


def test_another_function_of_a_beacon_is_another_program(tmp_path: Path) -> None:
    def beacon(fn: Any) -> Graph:
        return as_program(ab.beacon(Item, fn, count=9).collect("out")).graph

    run(beacon(lambda number: Item(number, "a")), tmp_path).run()
    with pytest.raises(CheckpointError, match="the code or the settings of 'beacon' have changed"):
        run(beacon(lambda number: Item(number, "b")), tmp_path)


def test_offsets_that_spark_did_not_finish_are_forgotten_where_it_has_none(tmp_path: Path) -> None:
    offsets = tmp_path / "spark" / "offsets"
    offsets.mkdir(parents=True)
    torn = [offsets / ".0.1a2b.tmp", offsets / "..0.1a2b.tmp.crc"]
    for path in torn:
        path.touch()
    Checkpoint(tmp_path).mend()
    assert not any(path.exists() for path in torn)
    for path in (*torn, offsets / "0"):
        path.touch()
    Checkpoint(tmp_path).mend()
    assert all(path.exists() for path in torn)


def test_the_same_program_is_not_refused_when_it_ended_before(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    first = SimulatedStream(program(), disk, random.Random(0)).run().items("out")
    again = SimulatedStream(program(), disk, random.Random(1)).run().items("out")
    assert len(first) == len(ITEMS)
    assert again == first


def test_the_number_of_channels_is_fixed_by_the_first_start(tmp_path: Path) -> None:
    run(program(), tmp_path, channels=2).run()
    with pytest.raises(CheckpointError, match="has 2 channels in R1 since its first start, and cannot have 3"):
        run(program(), tmp_path, channels=3)
    assert run(program(), tmp_path, channels=None).prepared.levels == [2]


def test_the_usual_number_of_channels_is_four_for_each_core(tmp_path: Path) -> None:
    assert run(program(), tmp_path, channels=None).prepared.levels == [4]


def test_a_second_run_on_a_checkpoint_is_refused_until_the_first_is_over(tmp_path: Path) -> None:
    first = Checkpoint(tmp_path)
    first.lock()
    with pytest.raises(CheckpointError, match=r"another run .* works with this checkpoint"):
        Checkpoint(tmp_path).lock()
    first.unlock()
    Checkpoint(tmp_path).lock()


def test_a_checkpoint_of_another_version_is_refused(tmp_path: Path) -> None:
    run(program(), tmp_path).run()
    write_sealed(tmp_path / "stream.json", json.dumps({"format": 0, "anabranch": "0.0.7"}).encode())
    with pytest.raises(CheckpointError, match=r"another version of anabranch \(0\.0\.7\)\n"):
        Checkpoint(tmp_path).identity()


def test_a_checkpoint_without_checksums_is_of_an_earlier_version(tmp_path: Path) -> None:
    run(program(), tmp_path).run()
    (tmp_path / "stream.json").write_text(json.dumps({"format": 2, "anabranch": "0.0.9"}))
    with pytest.raises(CheckpointError, match=r"another version of anabranch \(0\.0\.9\), without checksums"):
        run(program(), tmp_path)


@pytest.mark.parametrize("file", ["stream.json", "commit.json"])
def test_a_folder_with_a_stream_but_without_some_of_its_files_is_not_begun_anew(tmp_path: Path, file: str) -> None:
    run(program(), tmp_path).run()
    (tmp_path / file).unlink()
    with pytest.raises(DamagedCheckpoint, match=rf"{file}: the checkpoint is damaged: it is missing"):
        run(program(), tmp_path)


def test_a_line_that_was_torn_is_not_an_entry(tmp_path: Path) -> None:
    stream = run(program(), tmp_path)
    stream.run()
    before = (tmp_path / "arrivals.jsonl").read_text()
    (tmp_path / "arrivals.jsonl").write_text(before + '{"source": "from_it')
    again = run(program(), tmp_path)
    assert len(again.log) == before.count("\n")
    assert (tmp_path / "arrivals.jsonl").read_text() == before


def test_a_file_that_is_not_of_the_stream_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_text("years of work\n")
    graph = as_program(ab.from_items(Item, ITEMS).write_csv(out)).graph
    with pytest.raises(SinkError, match="exists, and is not of this stream"):
        run(graph, tmp_path / "state").run()
    assert out.read_text() == "years of work\n"


def test_a_program_whose_first_start_failed_may_be_changed(tmp_path: Path) -> None:
    def writing(operator: Any, out: Path) -> Graph:
        return as_program(ab.from_items(Item, ITEMS).process(operator, key="n").write_csv(out)).graph

    taken = tmp_path / "taken.csv"
    taken.write_text("years of work\n")
    with pytest.raises(SinkError, match="exists, and is not of this stream"):
        run(writing(Counted, taken), tmp_path / "state").run()
    run(writing(CountedTwice, tmp_path / "out.csv"), tmp_path / "state").run()
    assert len((tmp_path / "out.csv").read_text().splitlines()) == len(ITEMS) + 1


def test_a_folder_or_file_of_somebody_else_is_no_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "readings.csv").touch()
    with pytest.raises(CheckpointError, match="holds files that are not a checkpoint"):
        Checkpoint(tmp_path).lock()
    with pytest.raises(CheckpointError, match="this is a file"):
        Checkpoint(tmp_path / "readings.csv").lock()
    assert [path.name for path in tmp_path.iterdir()] == ["readings.csv"]


def test_a_number_that_was_that_of_java_may_be_another_programs_now(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text(f"1 {os.getpid()}")
    began = time.monotonic()
    Checkpoint(tmp_path).lock()
    assert time.monotonic() - began < 10, "it waited for a process that is not Spark's"


def test_a_source_that_cannot_be_read_again_is_refused(tmp_path: Path) -> None:
    source = ab.generate(Item, lambda: iter(ITEMS))
    with pytest.raises(UsageError, match="cannot be read again from a place in it"):
        ab.start(source.collect("out"), checkpoint=tmp_path / "state")


def test_sources_that_are_to_be_drawn_in_order_are_refused(tmp_path: Path) -> None:
    one, two = (ab.from_items(Item, ITEMS, order_by="n") for _ in range(2))
    with pytest.raises(UsageError, match="are to be drawn by 'n', and a stream takes what arrives in turns") as caught:
        ab.start(one.union(two).collect("out"), checkpoint=tmp_path / "state")
    assert caught.value.location is not None
    assert caught.value.location.file == __file__
    assert not (tmp_path / "state").exists()


def test_files_are_taken_as_they_arrive_and_by_name_within_a_look(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()

    def move_in(name: str, n: int) -> None:
        (folder / ".part").write_text(f"n,s\n{n},x\n")
        (folder / ".part").rename(folder / name)

    graph = as_program(ab.read_csv(f"{folder}/*.csv", Item).process(Counted, key="s").collect("out")).graph
    disk, rng = Disk(tmp_path / "state"), random.Random(0)
    move_in("c.csv", 1)
    move_in("b.csv", 2)
    first = SimulatedStream(graph, disk, rng)
    first.tail.resume()
    first.arrivals.open(0)
    first.arrivals.look_once()
    first.checkpoint.unlock()  # it dies before its first batch
    move_in("a.csv", 3)
    second = SimulatedStream(graph, disk, rng)
    second.arrivals.end()
    second.run()
    names = [Path(entry.piece.path).name for entry in second.log.entries(0, 3)]  # type: ignore[union-attr]
    assert names == ["b.csv", "c.csv", "a.csv"]
