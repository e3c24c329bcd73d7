"""A text file whose lines are made in channels is, byte for byte, the one that the oracle writes; so is every error."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.codegen.chunks import Chunk
from anabranch.compiler import compile
from anabranch.dataflow.executed import Sent
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.runs.execute import execute
from anabranch.dataflow.runs.run_config import RunConfig
from anabranch.dataflow.transport.lines import LineMaker
from anabranch.engines import sequential
from anabranch.engines.on_transport import run_on
from anabranch.errors import BuildError, RunError
from anabranch.graph.model import Graph
from anabranch.graph.places import TAIL, Layout, Lines
from anabranch.graph.plan import Plan
from anabranch.graph.settings import Settings, Target
from anabranch.operators.formats import text_writer
from anabranch.run import as_program
from tests.dataflow.simulated import Simulated
from tests.examples_drawn import drawn


class Row(NamedTuple):
    n: int
    s: str
    x: float
    b: bytes | None
    at: datetime | None
    more: list[float]


class Text(NamedTuple):
    text: str


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


def text_of(row: Row) -> Text:
    return Text(row.s)


STRINGS = ["", "a", 'quo"ted', "a,b", "  ", "é", "\ufeff", "failing", "x" * 50]
UNWRITABLE = ["two\nlines", "a return\r"]  # as lines
NOON = datetime(2024, 2, 29, 12)


def rows_of(strings: list[str]) -> list[Row]:
    return [
        Row(n % 7, s, n / 3, [None, b"\x00\xff"][n % 2], [None, NOON + timedelta(0, n)][n % 2], [n / 7] * (n % 3))
        for n, s in enumerate(strings)
    ]


def program(strings: list[str], out: Path, kind: str, way: str, *, ordered: bool = True) -> Graph:
    stream: Any = ab.from_items(Row, rows_of(strings))
    match way:
        case "keyed":
            stream = stream.process(Running, key="n")
        case "one tuple may be many":
            stream = stream.process(Running, key="s").flat_map(lambda row: [row, row], out=Row)
        case "at one moment":
            attributes: dict[str, Any] = {name: ab.last(name) for name in Row._fields}
            stream = stream.window(ab.tumbling(count=3), key="n").aggregate(Row, **attributes)
        case "where it is read":
            stream = stream.filter(lambda row: row.n != 3)
        case "in one place":
            stream = stream.process(Running)
    if kind == "lines":
        stream = stream.map(text_of)
    return as_program(getattr(stream, f"write_{kind}")(out / "out.txt", ordered=ordered)).graph


WAYS = ["keyed", "one tuple may be many", "at one moment", "where it is read"]
KINDS = ["csv", "jsonl", "lines"]


class Outcome(NamedTuple):
    files: dict[str, bytes]
    error: str | None
    received: int


def outcome(run: Callable[[Graph, Metrics], Any], make: Callable[[Path], Graph]) -> Outcome:
    """All that can be seen of a run: what is in the folder then, the error, and how many tuples came to the sink."""
    with tempfile.TemporaryDirectory() as folder:
        graph, metrics, error = make(Path(folder)), Metrics(), None
        try:
            run(graph, metrics)
        except RunError as problem:
            error = str(problem).replace(folder, "")
        files = {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}
        return Outcome(files, error, metrics[graph.sinks[0].id].received)


def simulated(channels: int, stretch: int, **options: Any) -> Callable[[Graph, Metrics], Any]:
    return lambda graph, metrics: run_on(
        Simulated(**options), compile(graph), metrics, channels=channels, stretch=stretch
    )


@drawn(30)
@given(
    st.lists(st.sampled_from(STRINGS), max_size=60),
    st.lists(st.tuples(st.integers(0, 60), st.sampled_from(UNWRITABLE)), max_size=2),
    st.sampled_from(WAYS),
    st.sampled_from(KINDS),
    st.integers(1, 3),
    st.sampled_from([1, 7, 100]),
    st.integers(0, 9),
)
def test_the_file_the_error_and_what_is_counted_are_the_oracles(
    strings: list[str], wrong: list[tuple[int, str]], way: str, kind: str, channels: int, stretch: int, seed: int
) -> None:
    for at, text in wrong:
        strings.insert(at, text)

    def make(folder: Path) -> Graph:
        return program(strings, folder, kind, way)

    found = outcome(simulated(channels, stretch, seed=seed, readers=1 + seed % 3), make)
    assert found == outcome(sequential.run, make)


@pytest.mark.parametrize("channels", [1, 2, 3])
@pytest.mark.parametrize("way", WAYS)
def test_without_an_order_the_lines_are_the_same_in_some_order(way: str, channels: int) -> None:
    def make(folder: Path) -> Graph:
        return program(STRINGS[:-2] * 9, folder, "csv", way, ordered=False)

    found, expected = outcome(simulated(channels, 7), make), outcome(sequential.run, make)
    assert sorted(found.files["out.txt"].split(b"\n")) == sorted(expected.files["out.txt"].split(b"\n"))
    assert found.received == expected.received


@pytest.mark.parametrize("seed", range(6))
def test_a_sink_refuses_a_tuple_before_the_operator_that_gave_it_fails(seed: int) -> None:
    class Giving:
        def process(self, row: Row) -> Iterator[Text]:
            yield Text(row.s)
            if row.s == "two\nlines":
                raise ValueError("it fails")

    def make(folder: Path) -> Graph:
        stream = ab.from_items(Row, rows_of(["a", "two\nlines", "b"])).process(Giving, key="n")
        return as_program(stream.write_lines(folder / "out.txt")).graph

    found = outcome(simulated(2, 7, seed=seed), make)
    assert found == outcome(sequential.run, make)
    assert found.received == 2
    assert found.error is not None
    assert "it fails" not in found.error


def test_a_disk_that_is_full_is_said_at_the_same_tuple(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, data: Any, offset: int) -> int:
        if offset > 400:
            raise OSError(28, "No space left on device")
        return real(descriptor, data, offset)

    def make(folder: Path) -> Graph:
        return program(STRINGS[:-2] * 9, folder, "csv", "keyed")

    monkeypatch.setattr(text_writer, "_BUFFER", 100)
    real = text_writer.os.pwrite
    with patch.object(text_writer.os, "pwrite", full):
        expected = outcome(sequential.run, make)
        assert outcome(simulated(2, 7), make) == expected
    assert expected.error is not None
    assert "the disk is full" in expected.error


# What is decided ------------------------------------------------------------------------------------------------------


def laid_out(graph: Graph, **target: Any) -> Layout:
    return compile(graph, Settings(Target("spark", cores=2, **target), channels=2)).phases[-1].layout


def lines_to_the_tail(layout: Layout) -> list[Lines | None]:
    return [arrival.lines for arrival in layout.arriving(TAIL)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_behind_channels_a_text_file_is_written_from_lines(kind: str, way: str) -> None:
    graph = program(STRINGS, Path("somewhere"), kind, way)
    [lines] = lines_to_the_tail(laid_out(graph))
    assert lines is not None
    assert (lines.sink, lines.format) == (f"write_{kind}", kind)


def test_options_go_along() -> None:
    sink = ab.from_items(Row, []).write_csv("out.csv", delimiter=";", header=False)
    [lines] = lines_to_the_tail(laid_out(as_program(sink).graph))
    assert lines is not None
    assert dict(lines.options)["delimiter"] == ";"


@pytest.mark.parametrize(
    ("why", "graph"),
    [
        ("it is behind one place", program(STRINGS, Path("somewhere"), "csv", "in one place")),
        ("pages of Parquet hold rows that follow one another", program(STRINGS, Path("x"), "parquet", "keyed")),
        (
            "another sink takes it, too",
            as_program(
                (stream := ab.from_items(Row, []).process(Running, key="n")).write_csv("a.csv"), stream.collect("b")
            ).graph,
        ),
        ("it is a folder", as_program(ab.from_items(Row, []).process(Running, key="n").write_csv("a/")).graph),
        ("it is no file", as_program(ab.from_items(Row, []).process(Running, key="n").collect("out")).graph),
    ],
)
def test_what_is_not_only_put_in_order_comes_as_tuples(why: str, graph: Graph) -> None:
    assert not any(lines_to_the_tail(laid_out(graph))), why


def test_a_target_that_makes_no_lines_has_none() -> None:
    assert lines_to_the_tail(laid_out(program(STRINGS, Path("x"), "csv", "keyed"), makes_lines=False)) == [None]


# And what is done -----------------------------------------------------------------------------------------------------


def run(plan: Plan) -> set[Sent]:
    metrics = Metrics()
    metrics.start(plan.graph)
    execute(RunConfig(Simulated(), plan, metrics, stretch=7))
    return {fact for _, fact in metrics.executed if isinstance(fact, Sent) and fact.place == TAIL}


def with_lines(plan: Plan, lines: Lines | None) -> Plan:
    [phase] = plan.phases
    arrivals = tuple(replace(each, lines=lines) if each.place == TAIL else each for each in phase.layout.arrivals)
    return replace(plan, phases=(replace(phase, layout=replace(phase.layout, arrivals=arrivals)),))


@pytest.mark.parametrize("makes_lines", [True, False])
def test_lines_are_made_where_the_plan_says_so(makes_lines: bool, tmp_path: Path) -> None:
    graph = program(STRINGS[:-2], tmp_path, "csv", "keyed")
    plan = compile(graph, Settings(Target("spark", cores=2, makes_lines=makes_lines), channels=2))
    with patch.object(LineMaker, "make", autospec=True, side_effect=LineMaker.make) as made:
        assert {sent.lines for sent in run(plan)} == {"csv" if makes_lines else None}
    assert made.called == makes_lines


@pytest.mark.parametrize(
    "lines",
    [Lines("write_csv", "jsonl"), Lines("write_csv", "csv", (("delimiter", ";"),)), Lines("another", "csv")],
)
def test_other_lines_than_the_sink_writes_are_refused(lines: Lines, tmp_path: Path) -> None:
    plan = compile(program(STRINGS, tmp_path, "csv", "keyed"), Settings(Target("spark", cores=2), channels=2))
    with pytest.raises(BuildError, match="lines"):
        run(with_lines(plan, lines))


def test_the_sink_writes_bytes_and_never_asks_for_a_row(tmp_path: Path) -> None:
    graph = program(STRINGS[:-2] * 5, tmp_path, "csv", "keyed")
    rows = Chunk.rows.fget  # type: ignore[attr-defined]

    def of_lines(chunk: Chunk) -> Any:
        assert chunk.schema.names != ("line",)
        return rows(chunk)

    with patch.object(Chunk, "rows", property(of_lines)):
        run_on(Simulated(), compile(graph), Metrics(), channels=3, stretch=7)
    assert (tmp_path / "out.txt").stat().st_size > 500
