"""What is true of the generators of sample data whatever they make; what they make is tested with the examples."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from examples.data.linear_road import write_linear_road
from examples.data.lois import write_lois
from examples.data.sensor_query import write_sensor_query
from examples.data.vwap import write_vwap

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Generator:
    """`files` appear at what the function is given: a file, or a folder of several."""

    write: Callable[[Path, int, int], None]
    files: tuple[str, ...]
    has_header: bool = True

    @property
    def name(self) -> str:
        return self.write.__module__

    def out(self, folder: Path) -> Path:
        return folder / self.files[0] if len(self.files) == 1 else folder

    def contents(self, folder: Path) -> list[bytes]:
        assert sorted(path.name for path in folder.iterdir()) == sorted(self.files)
        return [(folder / file).read_bytes() for file in self.files]

    def rows(self, folder: Path) -> int:
        return sum(content.count(b"\n") - self.has_header for content in self.contents(folder))


GENERATORS = [
    Generator(write_vwap, ("ticks.csv",)),
    Generator(write_lois, ("samples.csv",)),
    Generator(write_linear_road, ("reports.csv",)),
    Generator(write_sensor_query, ("sensors.jsonl", "queries.jsonl"), has_header=False),
]

pytestmark = pytest.mark.parametrize("generator", GENERATORS, ids=lambda generator: generator.name.split(".")[-1])


def test_the_same_seed_gives_the_same_data_and_another_seed_others(generator: Generator, tmp_path: Path) -> None:
    for folder, seed in (("one", 7), ("again", 7), ("other", 8)):
        generator.write(generator.out(tmp_path / folder), 5000, seed)

    assert generator.contents(tmp_path / "again") == generator.contents(tmp_path / "one")
    for other, one in zip(generator.contents(tmp_path / "other"), generator.contents(tmp_path / "one"), strict=True):
        assert other != one


@pytest.mark.parametrize("count", [1, 19, 250_001])
def test_there_are_as_many_rows_as_were_asked_for(generator: Generator, count: int, tmp_path: Path) -> None:
    generator.write(generator.out(tmp_path), count, 1)

    assert generator.rows(tmp_path) == count


@pytest.mark.parametrize("count", [0, -3, True, 2.5, 10**15])
def test_a_size_that_makes_no_sense_is_refused_and_nothing_is_written(
    generator: Generator, count: int, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=r"must be a whole number of 1 or more|need about"):
        generator.write(generator.out(tmp_path / "new"), count, 7)

    assert list(tmp_path.iterdir()) == []


def test_data_that_cannot_be_completed_leave_what_was_there(
    generator: Generator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in generator.files:
        (tmp_path / file).write_text("before")
    monkeypatch.setattr(f"{generator.name}.trait", lambda *arguments: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        generator.write(generator.out(tmp_path), 100, 7)

    assert generator.contents(tmp_path) == [b"before"] * len(generator.files)


def test_the_command_writes_the_data_and_says_in_one_line_what_it_cannot_do(
    generator: Generator, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", generator.name, "--seed", "3", "--out", str(generator.out(tmp_path / "made"))]

    good = subprocess.run([*command, "--count", "100"], cwd=ROOT, capture_output=True, text=True, check=True)
    bad = subprocess.run([*command, "--count", "0"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert (good.stdout, good.stderr) == ("", "")
    assert generator.rows(tmp_path / "made") == 100
    assert bad.returncode == 1
    assert bad.stderr == f"python -m {generator.name}: the count must be a whole number of 1 or more, not 0\n"
