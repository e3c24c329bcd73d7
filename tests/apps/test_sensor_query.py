"""The example `sensor_query` against an answer computed here, with NumPy, from the same files."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.run import ENGINES
from examples.data.sensor_query import write_sensor_query
from examples.sensor_query import sensor_query

COUNT = 100_000
FEW = 5_000


def answer(sensors: list[dict[str, Any]], queries: list[dict[str, Any]], seconds: float = 10.0) -> list[str]:
    """For each query, all readings drawn before it are looked through: which are new enough, and near enough?"""
    ts = np.array([reading["ts"] for reading in sensors])
    x = np.array([reading["sloc"]["x"] for reading in sensors])
    y = np.array([reading["sloc"]["y"] for reading in sensors])
    lines = []
    for drawn, query in zip(drawn_before(sensors, queries), queries, strict=True):
        if not drawn:
            continue
        dx, dy = x[:drawn] - query["qloc"]["x"], y[:drawn] - query["qloc"]["y"]
        away = np.sqrt(dx * dx + dy * dy)
        is_found = (ts[:drawn] > ts[:drawn].max() - seconds) & (away <= query["radius"])
        for at in np.flatnonzero(is_found).tolist():
            found = {"sensor": sensors[at], "query": query, "distance": float(away[at])}
            lines.append(json.dumps(found, separators=(",", ":")))
    return lines


def drawn_before(sensors: list[dict[str, Any]], queries: list[dict[str, Any]]) -> list[int]:
    """How many readings come before each query: the smaller of the two heads is next, and a reading among equals."""
    drawn, before = 0, []
    for query in queries:
        while drawn < len(sensors) and sensors[drawn]["ts"] <= query["ts"]:
            drawn += 1
        before.append(drawn)
    return before


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("city")
    write_sensor_query(folder, COUNT, seed=7)
    return folder


@pytest.fixture(scope="module")
def village(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("village")
    write_sensor_query(folder, FEW, seed=7)
    return folder


def program(folder: Path, out: Path, **parameters: float) -> ab.Program:
    sensors, queries = folder / "sensors.jsonl", folder / "queries.jsonl"
    return sensor_query(sensors=str(sensors), queries=str(queries), out=str(out), **parameters)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_whole_output_is_the_answer_in_order(engine: str, city: Path, tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"

    ab.run(program(city, out), engine=engine)

    expected = answer(read(city / "sensors.jsonl"), read(city / "queries.jsonl"))
    assert len(expected) > 10_000, "the data hold too few results to be a test"
    assert out.read_text().splitlines() == expected


def test_how_long_a_reading_can_be_found_is_a_parameter(village: Path, tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"

    ab.run(program(village, out, seconds=2.5))

    expected = answer(read(village / "sensors.jsonl"), read(village / "queries.jsonl"), seconds=2.5)
    assert expected
    assert out.read_text().splitlines() == expected


def test_the_program_has_the_four_operators_of_the_listing() -> None:
    operators = sensor_query().graph.operators

    assert [operator.kind for operator in operators] == ["read_jsonl", "read_jsonl", "join", "write_jsonl"]


def test_a_truncated_file_is_reported_by_its_last_line_and_what_came_before_is_written(
    village: Path, tmp_path: Path
) -> None:
    lines = (village / "queries.jsonl").read_text().splitlines()[:100]
    (tmp_path / "queries.jsonl").write_text("\n".join([*lines, '{"qid":100,"qloc":{"x":1.0']))
    (tmp_path / "sensors.jsonl").write_bytes((village / "sensors.jsonl").read_bytes())
    out = tmp_path / "results.jsonl"

    with pytest.raises(ab.SourceError, match="not valid JSON: Expecting ',' delimiter at position 27") as caught:
        ab.run(program(tmp_path, out))

    assert caught.value.where == f"{tmp_path}/queries.jsonl:101"
    expected = answer(read(village / "sensors.jsonl"), [json.loads(line) for line in lines])
    assert Path(f"{out}.partial").read_text().splitlines() == expected


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (('"x":', '"X":'), "member 'sloc': member 'x' is missing; the object has X, y"),
        (('"value":', '"value":"warm","was":'), "member 'value': float expected, got the string 'warm'"),
        (('"sloc":{', '"sloc":[{'), "not valid JSON"),
    ],
)
def test_a_corrupted_line_is_reported_by_file_line_and_member(
    damage: tuple[str, str], message: str, village: Path, tmp_path: Path
) -> None:
    lines = (village / "sensors.jsonl").read_text().splitlines()
    lines[1233] = lines[1233].replace(*damage)
    (tmp_path / "sensors.jsonl").write_text("\n".join(lines))
    (tmp_path / "queries.jsonl").write_bytes((village / "queries.jsonl").read_bytes())

    with pytest.raises(ab.SourceError, match=message) as caught:
        ab.run(program(tmp_path, tmp_path / "results.jsonl"))

    assert caught.value.where == f"{tmp_path}/sensors.jsonl:1234"


# The city -------------------------------------------------------------------------------------------------------


def test_one_of_twenty_tuples_is_a_query(city: Path) -> None:
    assert len(read(city / "sensors.jsonl")) == COUNT * 19 // 20
    assert len(read(city / "queries.jsonl")) == COUNT // 20


def test_readings_are_skewed_some_late_and_some_come_twice(city: Path) -> None:
    rows = read(city / "sensors.jsonl")
    busiest = [count for _, count in Counter(row["sid"] for row in rows).most_common(200)]
    late = sum(row["ts"] < before["ts"] for before, row in itertools.pairwise(rows))
    twice = len(rows) - len({json.dumps(row) for row in rows})

    assert sum(busiest) > len(rows) * 0.25, "a tenth of the sensors makes far more than a tenth of the readings"
    assert 0 < late < len(rows) * 0.05
    assert 0 < twice < len(rows) * 0.02


def test_queries_come_in_crowds_from_one_spot(city: Path) -> None:
    rows = read(city / "queries.jsonl")
    whole_km = [(round(row["qloc"]["x"]), round(row["qloc"]["y"])) for row in rows]
    crowds = [Counter(whole_km[at : at + 100]).most_common(1)[0][1] for at in range(0, len(rows), 50)]

    assert max(crowds) > 95
    assert sorted(crowds)[len(crowds) // 2] < 60
