"""A path that ends with a slash is a folder of files, written in parallel, whose names in order are the order."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.transport.rows import Row
from anabranch.dataflow.transport.shipping import Job
from anabranch.engines import fused, sequential
from anabranch.engines.on_transport import run_on
from anabranch.errors import RunError, SinkError
from anabranch.graph.model import Graph
from anabranch.operators.formats.atomic_file import AtomicFile
from anabranch.operators.formats.parts_folder import PartsFolder
from anabranch.run import as_program
from tests.dataflow.simulated import Simulated


class Item(NamedTuple):
    n: int
    s: str


class Running:
    def __init__(self) -> None:
        self.seen = 0

    def process(self, item: Item) -> Iterator[Item]:
        self.seen += 1
        for _ in range(self.seen % 3):
            yield Item(self.seen, item.s)


ITEMS = [Item(n * 7 % 10, "abcd"[n % 4]) for n in range(200)]
FORMATS = {"csv": ab.read_csv, "jsonl": ab.read_jsonl, "parquet": ab.read_parquet}


def by_key(items: list[Item], out: str, kind: str = "csv") -> Graph:
    stream = ab.from_items(Item, items).process(Running, key="n")
    return as_program(getattr(stream, f"write_{kind}")(out)).graph


def stateless(items: list[Item], out: str, kind: str = "csv") -> Graph:
    stream = ab.from_items(Item, items).filter(lambda item: item.n % 3 > 0)
    return as_program(getattr(stream, f"write_{kind}")(out)).graph


def simulated(graph: Graph, stretch: int = 7) -> Simulated:
    cluster = Simulated(cores=3)
    run_on(cluster, compile(graph), Metrics(), channels=2, stretch=stretch)
    return cluster


def rows_in(folder: Path, kind: str = "csv") -> list[Item]:
    read: Any = FORMATS[kind]
    return ab.run(read(f"{folder}/", Item).collect("rows"), engine="sequential").items("rows")


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("program", [by_key, stateless])
def test_the_files_of_a_folder_in_order_are_the_oracles_rows(tmp_path: Path, program: Any, kind: str) -> None:
    sequential.run(program(ITEMS, f"{tmp_path}/one/", kind))
    fused.run(program(ITEMS, f"{tmp_path}/two/", kind))
    simulated(program(ITEMS, f"{tmp_path}/many/", kind))
    assert len(list((tmp_path / "many").iterdir())) > 20
    expected = rows_in(tmp_path / "one", kind)
    assert len(expected) > 100
    assert rows_in(tmp_path / "two", kind) == expected
    assert rows_in(tmp_path / "many", kind) == expected


def test_between_a_parallel_source_and_a_folder_no_tuple_is_exchanged(tmp_path: Path) -> None:
    assert simulated(stateless(ITEMS, f"{tmp_path}/out/")).exchanged == 0
    assert simulated(by_key(ITEMS, f"{tmp_path}/keyed/")).exchanged > 0


def by_key_in_any_order(items: list[Item], out: str, kind: str = "csv") -> Graph:
    stream: Any = ab.from_items(Item, items).process(Running, key="n")
    return as_program(getattr(stream, f"write_{kind}")(out, ordered=False)).graph


def in_windows(items: list[Item], out: str, kind: str = "csv") -> Graph:
    windows = ab.from_items(Item, items).window(ab.tumbling(count=3), key="s")
    stream: Any = windows.aggregate(Item, n=ab.sum_("n"), s=ab.first("s")).filter(lambda item: item.n % 2 == 0)
    return as_program(getattr(stream, f"write_{kind}")(out, ordered=False)).graph


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("program", [by_key_in_any_order, in_windows])
@pytest.mark.parametrize("stretch", [1, 7, 1000])
def test_without_an_order_each_channel_writes_its_own_files(
    tmp_path: Path, program: Any, kind: str, stretch: int
) -> None:
    sequential.run(program(ITEMS, f"{tmp_path}/one/", kind))
    metrics = Metrics()
    cluster = Simulated(cores=3)
    run_on(cluster, compile(program(ITEMS, f"{tmp_path}/many/", kind)), metrics, channels=2, stretch=stretch)
    expected = rows_in(tmp_path / "one", kind)
    assert len(expected) > 10
    assert sorted(rows_in(tmp_path / "many", kind)) == sorted(expected)
    assert metrics.tuples_out == len(expected)
    assert cluster.last is not None
    assert len(cluster.last.layout.levels) == 1, "there is no stage behind the region"


def test_without_an_order_the_error_is_the_oracles_all_the_same(tmp_path: Path) -> None:
    def check(item: Item) -> Item:
        if item.n == 8:
            raise ValueError(f"eight of {item.s}")
        return item

    def program(out: str) -> Graph:
        stream = ab.from_items(Item, ITEMS).process(Running, key="s").map(check)
        return as_program(stream.write_csv(out, ordered=False)).graph

    with pytest.raises(RunError) as expected:
        sequential.run(program(f"{tmp_path}/one/"))
    for stretch in (1, 7, 100):
        with pytest.raises(RunError) as found:
            simulated(program(f"{tmp_path}/many/"), stretch)
        assert str(found.value).replace("many", "one") == str(expected.value)


def test_tuples_are_counted_where_they_are_written(tmp_path: Path) -> None:
    metrics = Metrics()
    run_on(Simulated(), compile(by_key(ITEMS, f"{tmp_path}/out/")), metrics, channels=2, stretch=7)
    assert metrics.tuples_out == len(rows_in(tmp_path / "out"))


def failing(items: list[Item], out: str) -> Graph:
    def check(item: Item) -> Item:
        if item.n == 8:
            raise ValueError("eight")
        return item

    stream = ab.from_items(Item, items).process(Running, key="s").map(check)
    return as_program(stream.write_csv(out)).graph


@pytest.mark.parametrize("stretch", [1, 7, 100])
def test_an_error_cuts_the_folder_at_its_place_in_the_order(tmp_path: Path, stretch: int) -> None:
    with pytest.raises(RunError) as expected:
        sequential.run(failing(ITEMS, f"{tmp_path}/one/"))
    with pytest.raises(RunError) as found:
        simulated(failing(ITEMS, f"{tmp_path}/many/"), stretch)
    assert str(found.value).replace("many", "one") == str(expected.value)
    assert rows_in(tmp_path / "many.partial") == rows_in(tmp_path / "one.partial") != []


@pytest.mark.parametrize("stretch", [1, 7, 100])
def test_a_tuple_that_cannot_be_written_cuts_it_too(tmp_path: Path, stretch: int) -> None:
    class Line(NamedTuple):
        text: str

    def program(out: str) -> Graph:
        items = ab.from_items(Item, [*ITEMS[:90], Item(1, "two\nlines"), *ITEMS[90:]])
        return as_program(items.map(lambda item: Line(item.s), out=Line).write_lines(out)).graph

    with pytest.raises(RunError) as expected:
        sequential.run(program(f"{tmp_path}/one/"))
    with pytest.raises(RunError) as found:
        simulated(program(f"{tmp_path}/many/"), stretch)
    assert str(found.value).replace("many", "one") == str(expected.value)
    folders = [tmp_path / "one.partial", tmp_path / "many.partial"]
    texts = ["".join(file.read_text() for file in sorted(folder.iterdir())) for folder in folders]
    assert texts[0] == texts[1] != ""


def test_a_program_that_gives_nothing_leaves_a_file_without_rows(tmp_path: Path) -> None:
    simulated(by_key([], f"{tmp_path}/out/"))
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["part-00000000.csv"]
    assert rows_in(tmp_path / "out") == []


def test_a_folder_of_an_earlier_run_is_replaced_whole(tmp_path: Path) -> None:
    simulated(by_key(ITEMS, f"{tmp_path}/out/"), stretch=1)
    before = len(list((tmp_path / "out").iterdir()))
    simulated(by_key(ITEMS[:20], f"{tmp_path}/out/"), stretch=10)
    assert 0 < len(list((tmp_path / "out").iterdir())) <= 2 < before
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("years of work")
    for run in (sequential.run, simulated):
        with pytest.raises(SinkError, match=r"holds 'thesis\.txt'"):
            run(by_key(ITEMS, f"{tmp_path}/out/"))  # type: ignore[operator]
    assert (tmp_path / "out" / "thesis.txt").read_text() == "years of work"


def test_a_file_is_not_replaced_by_a_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a,b\n")
    with pytest.raises(SinkError, match="is a file"):
        simulated(by_key(ITEMS, f"{tmp_path}/out/"))


# Machines that do not see the folder --------------------------------------------------------------------------------


@dataclass
class Elsewhere(Simulated):
    """Workers whose disks are their own: what the driver made is not there."""

    disk: Path = Path()

    def rows(self, job: Job, given: Sequence[Row] | None = None) -> Generator[Row, None, None]:
        return super().rows(replace(job, parts=f"{self.disk}{job.parts}"), given)


@dataclass
class Losing(Simulated):
    """A cluster where a file that was written is gone afterwards."""

    def rows(self, job: Job, given: Sequence[Row] | None = None) -> Generator[Row, None, None]:
        for row in super().rows(job, given):
            Path(job.parts, "part-00000000.csv").unlink(missing_ok=True)
            yield row


@pytest.mark.parametrize("program", [by_key, stateless])
def test_a_folder_that_workers_do_not_see_is_an_error_and_not_an_empty_output(tmp_path: Path, program: Any) -> None:
    simulated(program(ITEMS, f"{tmp_path}/out/"))
    before = rows_in(tmp_path / "out")
    disk = tmp_path / "disk"
    with pytest.raises(SinkError, match="a worker does not see this folder") as raised:
        run_on(Elsewhere(disk=disk), compile(program(ITEMS, f"{tmp_path}/out/")), Metrics(), channels=2, stretch=7)
    assert raised.value.location is not None
    assert "all machines" in str(raised.value)
    assert not disk.exists(), "a worker makes no folder"
    assert rows_in(tmp_path / "out") == before
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("program", [by_key, stateless])
def test_a_file_that_was_written_and_is_gone_is_missed(tmp_path: Path, program: Any) -> None:
    with pytest.raises(SinkError, match=r"part-00000000\.csv was written by a worker, and is not there"):
        run_on(Losing(), compile(program(ITEMS, f"{tmp_path}/out/")), Metrics(), channels=2, stretch=7)
    assert [each.name for each in tmp_path.iterdir()] == ["out.partial"], "what is there is kept"


# What killed tasks leave --------------------------------------------------------------------------------------------

LEFTOVER = ".anabranch-0123456789abcdef.part"


@dataclass
class Killed(Simulated):
    """A cluster where a task was killed while it wrote, and done again."""

    def rows(self, job: Job, given: Sequence[Row] | None = None) -> Generator[Row, None, None]:
        Path(job.parts, LEFTOVER).write_text("1,ha")
        return super().rows(job, given)


def test_what_a_killed_task_left_is_no_part(tmp_path: Path) -> None:
    sequential.run(by_key(ITEMS, f"{tmp_path}/one/"))
    run_on(Killed(), compile(by_key(ITEMS, f"{tmp_path}/many/")), Metrics(), channels=2, stretch=7)
    assert not (tmp_path / "many" / LEFTOVER).exists()
    assert rows_in(tmp_path / "many") == rows_in(tmp_path / "one")


def test_what_a_killed_task_left_does_not_change_an_error(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="eight"):
        sequential.run(failing(ITEMS, f"{tmp_path}/one/"))
    with pytest.raises(RunError, match="eight"):
        run_on(Killed(), compile(failing(ITEMS, f"{tmp_path}/many/")), Metrics(), channels=2, stretch=7)
    assert rows_in(tmp_path / "many.partial") == rows_in(tmp_path / "one.partial") != []


def test_where_only_that_is_left_there_is_a_file_without_rows(tmp_path: Path) -> None:
    run_on(Killed(), compile(by_key([], f"{tmp_path}/out/")), Metrics(), channels=2, stretch=7)
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["part-00000000.csv"]


def test_a_folder_in_which_something_was_left_can_be_replaced(tmp_path: Path) -> None:
    simulated(by_key(ITEMS, f"{tmp_path}/out/"))
    (tmp_path / "out" / LEFTOVER).write_text("1,ha")
    simulated(by_key(ITEMS, f"{tmp_path}/out/"))
    assert not (tmp_path / "out" / LEFTOVER).exists()


def test_a_run_that_is_broken_off_leaves_nothing_though_a_task_still_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = PartsFolder(tmp_path / "out", "csv")
    folder.open()
    place, remove, tries = folder.place, shutil.rmtree, []

    def disturbed(path: Path, **options: Any) -> None:
        tries.append(path)
        if len(tries) == 1:
            (place / "part-00000007.csv").write_text("n,s\n")  # after the folder was looked through
            return
        remove(path, **options)

    monkeypatch.setattr(shutil, "rmtree", disturbed)
    folder.discard()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(SinkError, match="no such folder"):
        AtomicFile(place / "part-00000008.csv")
    assert list(tmp_path.iterdir()) == []
