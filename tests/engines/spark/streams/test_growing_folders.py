"""Streams over folders that grow, with restarts in between: the same tuples in the same order as of all files."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import anabranch as ab
from anabranch.dataflow.streams import arrivals
from anabranch.errors import RunError, SourceError
from anabranch.graph.model import Graph
from anabranch.run import as_program
from tests.engines.spark.streams.simulated_stream import Disk, SimulatedStream

ITEMS = [(number * 7919 % 1009, "abcdefg"[number % 7]) for number in range(200)]


class Item(NamedTuple):
    n: int
    s: str


class Counted:
    def __init__(self) -> None:
        self.count = 0

    def process(self, item: Item) -> Item:
        self.count += 1
        return Item(item.n * 1000 + self.count, item.s)


def counted(stream: ab.Stream[Item]) -> Graph:
    return as_program(stream.process(Counted, key="s").collect("out")).graph


def by_the_oracle(stream: ab.Stream[Item]) -> list[Any]:
    return ab.run(stream.process(Counted, key="s").collect("out"), engine="sequential").items("out")


class Restarting:
    """A stream that is started again and again, each time with batches of other sizes."""

    def __init__(self, graph: Graph, folder: Path) -> None:
        self.graph = graph
        self.disk = Disk(folder)
        self.starts = 0

    def start(self, **options: Any) -> SimulatedStream:
        self.starts += 1
        return SimulatedStream(self.graph, self.disk, random.Random(self.starts), form="python", **options)

    def some(self, batches: int = 2, **options: Any) -> None:
        """Look, and process some of what was found; then stop."""
        stream = self.start(**options)
        try:
            stream.tail.resume()
            stream.arrivals.open(stream.tail.commit.entries)
            stream.arrivals.look_once()
            for _ in range(batches):
                stream._batch()
        finally:
            stream.arrivals.close()
            stream.tail.close()
            stream.checkpoint.unlock()

    def to_the_end(self, **options: Any) -> list[Any]:
        stream = self.start(**options)
        stream.arrivals.end()
        return stream.run().items("out")


def as_jsonl(path: Path, rows: list[tuple[int, str]]) -> None:
    path.write_text("".join(json.dumps({"n": n, "s": s}) + "\n" for n, s in rows))


def as_parquet(path: Path, rows: list[tuple[int, str]]) -> None:
    pq.write_table(pa.table({"n": [n for n, _ in rows], "s": [s for _, s in rows]}), path, row_group_size=7)


@pytest.mark.parametrize(("read", "write"), [(ab.read_jsonl, as_jsonl), (ab.read_parquet, as_parquet)])
def test_a_folder_that_grows_over_restarts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Any, write: Callable[[Path, list[tuple[int, str]]], None]
) -> None:
    monkeypatch.setattr(arrivals, "_SLICE", 300)
    folder = tmp_path / "in"
    folder.mkdir()
    stream = Restarting(counted(read(folder, Item)), tmp_path / "state")
    for number in range(4):
        write(folder / ".part", ITEMS[number * 50 : number * 50 + 50])
        (folder / ".part").rename(folder / f"{number}.data")
        stream.some(batches=number)
    assert stream.to_the_end() == by_the_oracle(read(folder, Item))
    assert len(stream.start().log) > 8  # slices, not files


def test_batches_and_slices_of_other_sizes_after_a_restart_change_nothing(tmp_path: Path) -> None:
    items = [Item(*each) for each in ITEMS]
    stream = Restarting(counted(ab.from_items(Item, items)), tmp_path / "state")
    for at_once in (1, 7, 50):
        stream.some(at_once=at_once)
    assert stream.to_the_end(at_once=3) == by_the_oracle(ab.from_items(Item, items))


# Files that cannot be read --------------------------------------------------------------------------------------------


def wrong_header(path: Path) -> None:
    path.write_text("m,s\n1,a\n")


def empty(path: Path) -> None:
    path.write_text("")


@pytest.mark.parametrize("spoil", [wrong_header, empty])
def test_a_file_that_cannot_be_read_is_mended_and_the_stream_goes_on(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    stream = Restarting(counted(ab.read_csv(folder, Item)), tmp_path / "state")
    for name in "abc":
        (folder / f"{name}.csv").write_text("n,s\n" + "".join(f"{n},{s}\n" for n, s in ITEMS[:30]))
    spoil(folder / "b.csv")
    for _ in range(2):
        with pytest.raises(SourceError, match=r"b\.csv") as caught:
            stream.to_the_end()
        assert caught.value.location == stream.graph.sources[0].location
    (folder / "b.csv").write_text("n,s\n" + "".join(f"{n},{s}\n" for n, s in ITEMS[:77]))
    assert stream.to_the_end() == by_the_oracle(ab.read_csv(folder, Item))


def test_a_row_that_is_mended_at_its_length_is_read_and_at_another_length_refused(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    text = "n,s\n" + "".join(f"{n:04},{s}\n" for n, s in ITEMS)
    (folder / "a.csv").write_text(text.replace("\n0844,", "\n08x4,"))
    stream = Restarting(counted(ab.read_csv(folder, Item)), tmp_path / "state")
    with pytest.raises(RunError, match="08x4"):
        stream.to_the_end()
    for other in ("\n844,", "\n00844,"):
        (folder / "a.csv").write_text(text.replace("\n0844,", other))
        with pytest.raises(SourceError, match="since it was found"):
            stream.to_the_end()
    (folder / "a.csv").write_text(text)
    assert stream.to_the_end() == by_the_oracle(ab.read_csv(folder, Item))
