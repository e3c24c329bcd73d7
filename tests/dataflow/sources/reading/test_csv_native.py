"""Plain CSV is read by compiled code where a process is to read much. That it is right, test_csv_slices.py shows."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

import anabranch as ab
from anabranch.dataflow.sources.reading import csv_blocks, expect, read_slice, slices_of
from anabranch.dataflow.sources.reading.csv_native import NativeRows
from anabranch.graph.schema import schema_of
from anabranch.operators.sources.read_files import ReadFiles
from tests.dataflow.sources.reading.compare import source


class Reading(NamedTuple):
    sensor: str
    count: int | None
    value: float


PLAIN = 'a,7,0.5\n"b, c",,-1.25e-3\r\n,-12,0.30000000000000004\n'
VALUES = [Reading("a", 7, 0.5), Reading("b, c", None, -0.00125), Reading("", -12, 0.30000000000000004)]


def rows(definition: ReadFiles) -> list[Reading]:
    slices = slices_of(definition)
    assert slices is not None
    return [
        row
        for each in slices
        for chunk in read_slice(definition, each, chunk_size=100)
        for row in chunk.rows  # type: ignore[union-attr]
    ]


@pytest.fixture
def arrow_reads(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What Arrow was given."""
    given: list[bytes] = []
    original = csv_blocks.CsvBlocks._read

    def read(self: csv_blocks.CsvBlocks, data: bytes, *others: object, **options: bool) -> object:
        given.append(data)
        return original(self, data, *others, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(csv_blocks.CsvBlocks, "_read", read)
    return given


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "readings.csv"
    path.write_bytes(b"sensor,count,value\n" + PLAIN.encode())
    return path


def test_plain_rows_need_no_arrow(file: Path, arrow_reads: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_blocks, "_is_prepared", True)
    assert rows(source("csv", Reading, file)) == VALUES
    assert arrow_reads == []


def test_who_reads_little_does_not_load_the_code(
    file: Path, arrow_reads: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first row it is decided whether what is to be read, with what has been, is much."""
    monkeypatch.setattr(csv_blocks, "_is_prepared", False)
    monkeypatch.setattr(csv_blocks, "_already_read", 0)
    monkeypatch.setattr(csv_blocks, "_MUCH", 3 * len(PLAIN))
    definition = source("csv", Reading, file)
    for _ in range(5):
        expect(definition, slices_of(definition) or [])
        assert rows(definition) == VALUES
    assert arrow_reads == [PLAIN.encode()] * 3


def test_of_what_tasks_have_among_them_each_reads_its_share(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_blocks, "_already_read", 0)
    monkeypatch.setattr(csv_blocks, "_MUCH", len(PLAIN))
    definition = source("csv", Reading, file)
    for tasks, is_much in ((2, False), (1, True)):
        monkeypatch.setattr(csv_blocks, "_is_prepared", False)
        expect(definition, 2 * (slices_of(definition) or []), tasks=tasks)
        assert csv_blocks._is_prepared == is_much


def test_compiled_code_is_loaded_before_a_run_and_not_while_it_reads(
    file: Path, arrow_reads: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_blocks, "_is_prepared", False)
    monkeypatch.setattr(csv_blocks, "_MUCH", 0)
    assert ab.run(ab.read_csv(file, Reading).collect("out"), engine="fused").items("out") == VALUES
    assert arrow_reads == []


def test_many_columns_of_text_and_very_long_rows_are_for_arrow(
    tmp_path: Path, arrow_reads: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_blocks, "_is_prepared", True)
    names = [f"t{number}" for number in range(17)]
    wide = NamedTuple("Wide", [(name, str) for name in names])  # type: ignore[misc]
    row = ",".join(names) + "\n"
    (tmp_path / "wide.csv").write_text(row * 3)
    assert rows(source("csv", wide, tmp_path / "wide.csv")) == [wide(*names)] * 2
    assert arrow_reads == [(row * 2).encode()]
    (tmp_path / "long.csv").write_text(f"sensor,count,value\n{'x' * 9_000_000},1,2\n")
    assert [len(row.sensor) for row in rows(source("csv", Reading, tmp_path / "long.csv"))] == [9_000_000]
    assert len(arrow_reads) == 2


@pytest.mark.parametrize(
    "odd",
    [
        '"say ""hi""",1,2\n',
        'x"y,1,2\n',
        '"x"y,1,2\n',
        "x,+1,2\n",
        "x,1,nan\n",
        "x,1, 2\n",
        "x,1\n",
        "x,1,2,3\n",
        "\n",
        "x,1,2",
    ],
)  # fmt: skip
def test_what_is_not_plain_is_left_to_others(odd: str) -> None:
    reader = NativeRows([attribute.type for attribute in schema_of(Reading).attributes], 3, (0, 1, 2), ",")
    assert reader.columns(PLAIN.encode()) is not None
    assert reader.columns((PLAIN + odd).encode()) is None
