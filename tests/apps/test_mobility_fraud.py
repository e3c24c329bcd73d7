"""The example `mobility_fraud` against an answer computed here, in plain Python, from the same file."""

from __future__ import annotations

import csv
import itertools
import math
import subprocess
import sys
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.run import ENGINES
from examples.data.calls import write_calls
from examples.mobility_fraud import mobility_fraud

COUNT = 100_000
TEN_MINUTES = 600.0


def answer(rows: list[dict[str, str]], area: str = "425", limit: float = 300.0, *, at_end: bool = True) -> str:
    """What the app must write for these calls; without the windows still open if the stream did not end."""
    last: dict[str, tuple[float, float, float]] = {}
    lines = ["ts,n"]
    window, newest, n = -math.inf, 0.0, 0
    for row in rows:
        if row["area"] != area:
            continue
        x, y, ts = float(row["x"]), float(row["y"]), float(row["ts"])
        before = last.get(row["phone"])
        last[row["phone"]] = (x, y, ts)
        if before is None or ts <= before[2]:
            continue
        dx, dy = before[0] - x, before[1] - y
        if math.sqrt(dx * dx + dy * dy) / ((ts - before[2]) / 3600) <= limit:
            continue
        if ts // TEN_MINUTES < window:
            continue  # its window has been closed
        if ts // TEN_MINUTES > window:
            if n:
                lines.append(f"{newest},{n}")
            window, n = ts // TEN_MINUTES, 0
        newest, n = ts, n + 1
    if n and at_end:
        lines.append(f"{newest},{n}")
    return "\n".join(lines) + "\n"


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("calls") / "calls.csv"
    write_calls(path, COUNT, seed=7)
    return path


@pytest.mark.parametrize("engine", ENGINES)
def test_the_whole_output_is_the_answer_in_order(engine: str, calls: Path, tmp_path: Path) -> None:
    out = tmp_path / "alerts.csv"

    ab.run(mobility_fraud(calls=str(calls), out=str(out)), engine=engine)

    expected = answer(read(calls))
    assert expected.count("\n") > 10, "the data hold too little fraud to be a test"
    assert out.read_text() == expected


def test_area_and_limit_are_parameters(calls: Path, tmp_path: Path) -> None:
    out = tmp_path / "alerts.csv"

    ab.run(mobility_fraud(calls=str(calls), out=str(out), area="206", limit=20.0))

    assert out.read_text() == answer(read(calls), area="206", limit=20.0)


def test_a_truncated_file_is_reported_by_its_last_line_and_what_came_before_is_written(
    calls: Path, tmp_path: Path
) -> None:
    whole = calls.read_text()
    broken = tmp_path / "calls.csv"
    lines = whole.splitlines()[: COUNT // 2]
    broken.write_text("\n".join([*lines, "4250000001,425,1"]))
    out = tmp_path / "alerts.csv"

    with pytest.raises(ab.SourceError) as caught:
        ab.run(mobility_fraud(calls=str(broken), out=str(out)))

    assert caught.value.where == f"{broken}:{COUNT // 2 + 1}"
    assert "5 cells expected, got 3" in str(caught.value)
    assert Path(f"{out}.partial").read_text() == answer(list(csv.DictReader(lines)), at_end=False)


def test_a_corrupted_cell_is_reported_by_file_line_and_column(calls: Path, tmp_path: Path) -> None:
    lines = calls.read_text().splitlines()
    phone, area, _x, y, ts = lines[1234].split(",")
    lines[1234] = ",".join([phone, area, "\x00\x7f", y, ts])
    broken = tmp_path / "calls.csv"
    broken.write_text("\n".join(lines))

    with pytest.raises(ab.SourceError, match=r"column 'x': '\\x00\\x7f' is not a float") as caught:
        ab.run(mobility_fraud(calls=str(broken), out=str(tmp_path / "alerts.csv")))

    assert caught.value.where == f"{broken}:1235"


# The calls ------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_calls_and_another_seed_others(calls: Path, tmp_path: Path) -> None:
    again, other = tmp_path / "again.csv", tmp_path / "other.csv"
    write_calls(again, COUNT, seed=7)
    write_calls(other, COUNT, seed=8)

    assert again.read_bytes() == calls.read_bytes()
    assert other.read_bytes() != calls.read_bytes()


@pytest.mark.parametrize("count", [1, 19, 250_001])
def test_there_are_as_many_calls_as_were_asked_for(count: int, tmp_path: Path) -> None:
    path = tmp_path / "calls.csv"
    write_calls(path, count, seed=1)

    rows = read(path)
    assert len(rows) == count
    assert all(0 <= float(row["ts"]) < 86_400 for row in rows)


def test_calls_are_skewed_and_some_are_recorded_late(calls: Path) -> None:
    rows = read(calls)
    by_phone: dict[str, int] = {}
    for row in rows:
        by_phone[row["phone"]] = by_phone.get(row["phone"], 0) + 1
    busiest = sorted(by_phone.values(), reverse=True)[: len(by_phone) // 100]
    late = sum(float(row["ts"]) < float(before["ts"]) for before, row in itertools.pairwise(rows))

    assert sum(busiest) > COUNT * 0.05, "a hundredth of the phones makes far more than a hundredth of the calls"
    assert 0 < late < COUNT * 0.02
    assert all(row["phone"].startswith(row["area"]) for row in rows)


@pytest.mark.parametrize("count", [0, -3, True, 2.5, 10**15])
def test_a_size_that_makes_no_sense_is_refused_and_nothing_is_written(count: int, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must be a whole number of 1 or more|need about"):
        write_calls(tmp_path / "new" / "calls.csv", count)

    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_completed_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "calls.csv"
    path.write_text("before")
    monkeypatch.setattr("examples.data.calls._positions", lambda *arguments: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        write_calls(path, 10)

    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("calls.csv", "before")]


def test_the_command_writes_the_file_and_says_in_one_line_what_it_cannot_do(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    path = tmp_path / "calls.csv"
    command = [sys.executable, "-m", "examples.data.calls", "--out", str(path), "--seed", "3"]

    good = subprocess.run([*command, "--count", "100"], cwd=root, capture_output=True, text=True, check=True)
    bad = subprocess.run([*command, "--count", "0"], cwd=root, capture_output=True, text=True, check=False)

    assert (good.stdout, good.stderr) == ("", "")
    assert len(read(path)) == 100
    assert bad.returncode == 1
    assert bad.stderr == ("python -m examples.data.calls: the count must be a whole number of 1 or more, not 0\n")
