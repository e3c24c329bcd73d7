"""Of several sinks each may be written from lines: files, errors and what others see are the oracle's, in its order."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.codegen.chunks import Chunk
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.engines import sequential
from anabranch.engines.on_transport import run_on
from anabranch.errors import RunError
from anabranch.graph.forms import Form
from anabranch.graph.model import Graph
from anabranch.graph.places import TAIL, Layout
from anabranch.graph.settings import Settings, Target
from anabranch.operators.formats import text_writer
from anabranch.run import as_program
from tests.codegen.exactness import exact
from tests.dataflow.simulated import Simulated
from tests.examples_drawn import drawn


class Row(NamedTuple):
    n: int
    s: str


class Running:
    """Gives none, one or two of each, and fails at some."""

    def __init__(self) -> None:
        self.seen = 0

    def process(self, row: Row) -> Iterator[Row]:
        self.seen += 1
        for number in range(self.seen % 3):
            yield row._replace(n=row.n * 10 + number)
        if row.s == "failing":
            raise ValueError("it fails")


class Counting:
    """In the tail: it sees all tuples, and fails at some."""

    def __init__(self) -> None:
        self.seen = 0

    def process(self, row: Row) -> Iterator[Row]:
        self.seen += 1
        yield Row(self.seen, row.s)
        if row.s == "late":
            raise ValueError("it fails late")


STREAMS: dict[str, Callable[[Any, Any], Any]] = {
    "read": lambda base, keyed: base.filter(lambda row: row.n != 3),
    "keyed": lambda base, keyed: keyed,
    "even": lambda base, keyed: keyed.filter(lambda row: row.n % 2 == 0),
    "small": lambda base, keyed: keyed.filter(lambda row: row.n < 30),
    "doubled": lambda base, keyed: keyed.flat_map(lambda row: [row, row], out=Row),
    "keyed again": lambda base, keyed: keyed.process(Running, key="s"),
    "of another key": lambda base, keyed: base.process(Running, key="s"),
    "met": lambda base, keyed: base.process(Running, key="s").union(keyed),
    "in one place": lambda base, keyed: keyed.process(Counting),
    "closed at one moment": lambda base, keyed: base.window(ab.tumbling(count=3), key="s").aggregate(
        Row, n=ab.last("n"), s=ab.last("s")
    ),
}
SINKS = ["csv", "csv", "jsonl", "lines", "collect", "for_each"]


def program(rows: list[Row], taken: list[tuple[str, str]], folder: Path, seen: list[Any]) -> Graph:
    base: Any = ab.from_items(Row, rows)
    keyed = base.process(Running, key="n")
    made: dict[str, Any] = {}
    sinks = []
    for number, (name, kind) in enumerate(taken):
        if name not in made:
            made[name] = STREAMS[name](base, keyed)
        stream = made[name]
        match kind:
            case "collect":
                sinks.append(stream.collect(f"out_{number}"))
            case "for_each":
                sinks.append(stream.for_each(lambda row, number=number: seen.append((number, row))))
            case "lines":
                sinks.append(stream.map(lambda row: Text(row.s), out=Text).write_lines(folder / f"{number}.txt"))
            case _:
                sinks.append(getattr(stream, f"write_{kind}")(folder / f"{number}.{kind}"))
    return as_program(*sinks).graph


class Text(NamedTuple):
    text: str


class Outcome(NamedTuple):
    files: dict[str, bytes]
    error: str | None
    received: list[int]
    collected: Any
    seen: list[Any]


def outcome(run: Callable[[Graph, Metrics], Any], rows: list[Row], taken: list[tuple[str, str]]) -> Outcome:
    """All that can be seen of a run."""
    seen: list[Any] = []
    with tempfile.TemporaryDirectory() as folder:
        graph, metrics, error = program(rows, taken, Path(folder), seen), Metrics(), None
        try:
            result = run(graph, metrics)
        except RunError as problem:
            error, result = str(problem).replace(folder, ""), problem.result
        files = {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}
        received = [metrics[sink.id].received for sink in graph.sinks]
        return Outcome(files, error, received, exact(result.collected), seen)


def simulated(channels: int, stretch: int, seed: int, form: Form = "python") -> Callable[[Graph, Metrics], Any]:
    on = Simulated(seed=seed, readers=1 + seed % 3)
    return lambda graph, metrics: run_on(on, compile(graph), metrics, form, channels=channels, stretch=stretch)


def full_after(size: int | None) -> AbstractContextManager[Any]:
    """A disk with room for so many bytes in all files together."""
    left, write = size, os.pwrite

    def pwrite(descriptor: int, data: Any, offset: int) -> int:
        nonlocal left
        assert left is not None
        if len(data) > left:
            raise OSError(28, "No space left on device")
        left -= len(data)
        return write(descriptor, data, offset)

    return nullcontext() if size is None else patch.object(text_writer.os, "pwrite", pwrite)


ROWS = st.builds(Row, st.integers(0, 6), st.sampled_from(["a", "b", 'quo"ted', "é", "", "x" * 20]))
ODD = st.builds(Row, st.integers(0, 6), st.sampled_from(["two\nlines", "failing", "late", "a return\r"]))
TAKEN = st.lists(st.tuples(st.sampled_from(list(STREAMS)), st.sampled_from(SINKS)), min_size=2, max_size=5)


@drawn(40)
@given(
    st.lists(ROWS, max_size=60),
    st.lists(st.tuples(st.integers(0, 60), ODD), max_size=3),
    TAKEN,
    st.sampled_from([None, None, 0, 40, 150, 400, 900]),
    st.sampled_from([30, 100, 2**18]),
    st.integers(1, 3),
    st.sampled_from([1, 7, 100]),
    st.integers(0, 9),
)
def test_all_that_can_be_seen_is_the_oracles(
    rows: list[Row],
    odd: list[tuple[int, Row]],
    taken: list[tuple[str, str]],
    room: int | None,
    buffer: int,
    channels: int,
    stretch: int,
    seed: int,
) -> None:
    for at, row in odd:
        rows.insert(at, row)
    with patch.object(text_writer, "_BUFFER", buffer):
        with full_after(room):
            expected = outcome(sequential.run, rows, taken)
        with full_after(room):
            assert outcome(simulated(channels, stretch, seed), rows, taken) == expected


@pytest.mark.parametrize("room", [100, 300, 500])
def test_where_a_file_cannot_be_written_all_before_it_has_been_done_and_nothing_behind(room: int) -> None:
    """In the order of the tuples, though all of them come at once: other files, and what runs beside these."""
    rows = [Row(n % 7, "x" * (n % 5)) for n in range(90)]
    taken = [("even", "csv"), ("small", "jsonl"), ("keyed again", "csv"), ("in one place", "for_each")]
    with patch.object(text_writer, "_BUFFER", 60):
        with full_after(room):
            expected = outcome(sequential.run, rows, taken)
        with full_after(room):
            assert outcome(simulated(2, 1000, 1), rows, taken) == expected
    assert "the disk is full" in str(expected.error)
    assert 0 < len(expected.seen) < expected.received[3] + 1


def test_what_fails_beside_them_stops_the_files_at_its_place() -> None:
    rows = [Row(n % 7, "late" if n == 50 else "a") for n in range(90)]
    taken = [("even", "csv"), ("small", "jsonl"), ("in one place", "collect")]
    expected = outcome(sequential.run, rows, taken)
    assert outcome(simulated(2, 1000, 1), rows, taken) == expected
    assert "it fails late" in str(expected.error)


@pytest.mark.parametrize("first", ["csv", "jsonl"])
def test_only_the_sink_that_is_given_what_it_cannot_write_has_received_it(first: str) -> None:
    """Both are of one line of the program."""
    rows = [Row(n % 7, "two\nlines" if n == 50 else "a") for n in range(90)]
    taken = [("even", first), ("of another key", "lines"), ("small", "lines")]
    expected = outcome(sequential.run, rows, taken)
    assert outcome(simulated(2, 30, 1), rows, taken) == expected
    assert expected.error is not None


# What is decided ------------------------------------------------------------------------------------------------------


def laid_out(*taken: tuple[str, str]) -> Layout:
    graph = program([], list(taken), Path("somewhere"), [])
    return compile(graph, Settings(Target("spark", cores=2), channels=2)).phases[-1].layout


def lines(layout: Layout) -> dict[str, str | None]:
    return {each.stream.operator: each.lines and each.lines.sink for each in layout.arriving(TAIL)}


def test_every_file_of_text_that_alone_takes_what_comes_from_channels_is_written_from_lines() -> None:
    layout = laid_out(("even", "csv"), ("small", "jsonl"), ("keyed again", "collect"), ("of another key", "csv"))
    assert [*lines(layout).values()] == ["write_csv", "write_jsonl", None, "write_csv_2"]


@pytest.mark.parametrize(
    ("why", "taken"),
    [
        ("two sinks take it", [("even", "csv"), ("even", "jsonl")]),
        ("an operator of the tail takes it, too", [("keyed", "csv"), ("in one place", "collect")]),
        ("its tuples are put in order where they meet", [("met", "csv"), ("met", "collect")]),
        ("it comes from one place", [("in one place", "csv"), ("in one place", "collect")]),
    ],
)
def test_what_others_take_too_comes_as_tuples(why: str, taken: list[tuple[str, str]]) -> None:
    assert not any(lines(laid_out(*taken)).values()), why


def test_files_are_written_a_stretch_at_a_time() -> None:
    """And no row of theirs is made in the process of the program."""
    taken = [("even", "csv"), ("small", "jsonl"), ("keyed again", "csv")]
    made = Chunk.rows.fget  # type: ignore[attr-defined]

    def of_lines(chunk: Chunk) -> Any:
        assert chunk.schema.names != ("line",)
        return made(chunk)

    with patch.object(Chunk, "rows", property(of_lines)):
        found = outcome(simulated(2, 20, 1), [Row(n % 7, "a") for n in range(200)], taken)
    assert all(found.files.values())
