"""The example `network_monitor` against an answer computed here, in plain Python, from the same files."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.run import ENGINES
from examples.data.logs import SERVERS, write_logs
from examples.network_monitor import network_monitor

COUNT = 100_000
FIVE_SECONDS = 5.0


def answer(folder: Path, threshold: int = 100) -> tuple[str, int]:
    """What the app must write for these logs, and how many entries come too late to be counted."""
    lines, late = ["uid,total,until"], 0
    window, totals = -1.0, dict[str, int]()
    for uid, ts in merged(folder):
        number = ts // FIVE_SECONDS
        if number < window:
            late += 1
            continue
        if number > window:
            lines += suspects(totals, window, threshold)
            window, totals = number, {}
        totals[uid] = totals.get(uid, 0) + 1  # a dict keeps the order of first arrival
    lines += suspects(totals, window, threshold)
    return "\n".join(lines) + "\n", late


def suspects(totals: dict[str, int], window: float, threshold: int) -> list[str]:
    until = (window + 1) * FIVE_SECONDS
    return [f"{uid},{total},{until}" for uid, total in totals.items() if total > threshold]


def merged(folder: Path) -> list[tuple[str, float]]:
    """Always the smallest of the files' first entries, the first file's among equals."""
    files = [read(path) for path in sorted(folder.glob("*.csv"))]
    heads = [0] * len(files)
    entries = []
    while True:
        waiting = [
            (float(rows[head]["ts"]), number)
            for number, (rows, head) in enumerate(zip(files, heads, strict=True))
            if head < len(rows)
        ]
        if not waiting:
            return entries
        ts, number = min(waiting)
        entries.append((files[number][heads[number]]["uid"], ts))
        heads[number] += 1


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    write_logs(folder, COUNT, seed=7)
    return folder


@pytest.mark.parametrize("engine", ENGINES)
def test_the_whole_output_is_the_answer_in_order(engine: str, logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "suspects.csv"

    result = ab.run(network_monitor(logs=f"{logs}/*.csv", out=str(out), threshold=8), engine=engine)

    expected, late = answer(logs, threshold=8)
    assert expected.count("\n") > 30, "the data hold too few suspects to be a test"
    assert late > 0, "the data hold no late entry"
    assert out.read_text() == expected
    assert result.metrics.late == late


def test_with_its_defaults_it_finds_the_attackers_and_no_one_else(logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "suspects.csv"

    ab.run(network_monitor(logs=f"{logs}/*.csv", out=str(out)))

    found = read(out)
    assert out.read_text() == answer(logs)[0]
    assert 3 <= len({row["uid"] for row in found}) <= COUNT // 4000 + 1


def test_without_order_the_same_suspects_are_written(logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "suspects.csv"

    ab.run(network_monitor(logs=f"{logs}/*.csv", out=str(out), threshold=8, ordered=False))

    assert sorted(out.read_text().splitlines()) == sorted(answer(logs, threshold=8)[0].splitlines())


def test_a_truncated_log_is_reported_by_file_and_line(logs: Path, tmp_path: Path) -> None:
    folder = copied(logs, tmp_path)
    broken = folder / "logs.mail.csv"
    lines = broken.read_text().splitlines()[:101]
    broken.write_text("\n".join([*lines, "1001,mail"]))

    with pytest.raises(ab.SourceError, match="4 cells expected, got 2") as caught:
        ab.run(network_monitor(logs=f"{folder}/*.csv", out=str(tmp_path / "out.csv")))

    assert caught.value.where == f"{broken}:102"


def test_a_corrupted_log_is_reported_by_file_and_line(logs: Path, tmp_path: Path) -> None:
    folder = copied(logs, tmp_path)
    broken = folder / "logs.api.csv"
    lines = broken.read_bytes().splitlines()
    lines[50] = b"\xff\xfe" + lines[50]
    broken.write_bytes(b"\n".join(lines))

    with pytest.raises(ab.SourceError, match="not valid UTF-8: byte 0xff at position 1 of line 51") as caught:
        ab.run(network_monitor(logs=f"{folder}/*.csv", out=str(tmp_path / "out.csv")))

    assert caught.value.where == f"{broken}:51"


def test_an_entry_in_the_log_of_another_server_is_refused(logs: Path, tmp_path: Path) -> None:
    folder = copied(logs, tmp_path)
    with (folder / "logs.mail.csv").open("a") as file:
        file.write("1001,www,GET /,50.0\n")

    with pytest.raises(ab.RunError, match="'www' occurs in"):
        ab.run(network_monitor(logs=f"{folder}/*.csv", out=str(tmp_path / "out.csv")))


def copied(logs: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "copy"
    folder.mkdir()
    for path in logs.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


# The logs -------------------------------------------------------------------------------------------------------


def test_every_server_has_a_file_with_its_own_entries_only(logs: Path) -> None:
    assert sorted(path.name for path in logs.iterdir()) == sorted(f"logs.{server}.csv" for server in SERVERS)
    sizes = {}
    for server in SERVERS:
        rows = read(logs / f"logs.{server}.csv")
        assert {row["server"] for row in rows} == {server}
        sizes[server] = len(rows)
    assert sum(sizes.values()) == COUNT
    assert max(sizes.values()) > 3 * min(sizes.values()), "servers are not equally busy"


def test_the_same_seed_gives_the_same_logs_and_another_seed_others(logs: Path, tmp_path: Path) -> None:
    write_logs(tmp_path / "again", COUNT, seed=7)
    write_logs(tmp_path / "other", COUNT, seed=8)

    for path in logs.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
        assert (tmp_path / "other" / path.name).read_bytes() != path.read_bytes()


@pytest.mark.parametrize("count", [1, 250_001])
def test_there_are_as_many_entries_as_were_asked_for(count: int, tmp_path: Path) -> None:
    write_logs(tmp_path, count, seed=1)

    assert sum(len(read(path)) for path in tmp_path.iterdir()) == count


def test_no_log_appears_when_one_of_them_cannot_be_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("examples.data.logs._texts", lambda *arguments: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        write_logs(tmp_path, 10)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("count", [0, -3, 10**15])
def test_a_size_that_makes_no_sense_is_refused(count: int, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must be a whole number of 1 or more|need about"):
        write_logs(tmp_path, count)

    assert list(tmp_path.iterdir()) == []
