"""Numbers in text that no attribute can hold: the same error in every format, in every reader, on every engine."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.dataflow.sources.reading import csv_blocks
from tests.engines.every_engine import assert_same_everywhere


class Real(NamedTuple):
    n: int
    x: float


class Whole(NamedTuple):
    n: int
    x: int


class MaybeReal(NamedTuple):
    n: int
    x: float | None


class Reals(NamedTuple):
    n: int
    x: list[float]


TOO_LARGE = ["1e400", "-1e400", "1" * 400, "-" + "1" * 400, "1" * 5000, "1.7976931348623159e308", "1" * 400 + ".5"]
LARGEST = ["1.7976931348623158e308", "1" + "0" * 308, "-1" + "0" * 308 + ".5"]


def csv_file(folder: Path, values: list[str]) -> Path:
    path = folder / "numbers.csv"
    path.write_text("n,x\n" + "".join(f"{number},{value}\n" for number, value in enumerate(values)))
    return path


def jsonl_file(folder: Path, values: list[str], name: str = "x") -> Path:
    path = folder / "numbers.jsonl"
    wanted = "" if name == "x" else '"x":1,'
    path.write_text("".join(f'{{"n":{number},{wanted}"{name}":{value}}}\n' for number, value in enumerate(values)))
    return path


@pytest.fixture(params=["by Arrow", "by compiled code"])
def csv_reader(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_blocks, "_is_prepared", False)
    monkeypatch.setattr(csv_blocks, "_MUCH", 0 if request.param == "by compiled code" else 2**60)


@pytest.mark.parametrize("kind", [Real, MaybeReal])
@pytest.mark.parametrize("value", TOO_LARGE)
def test_a_float_of_a_csv_file_may_not_be_too_large(tmp_path: Path, csv_reader: None, kind: Any, value: str) -> None:
    path = csv_file(tmp_path, ["1.5", "inf", value, "-infinity"])
    _, _, error = assert_same_everywhere(ab.read_csv(path, kind).collect("out"))
    assert f"column 'x': '{value[:80]}'" in str(error)
    assert "is too large for a float" in str(error)
    assert f"{path}:4" in str(error)
    outputs, skipped, _ = assert_same_everywhere(ab.read_csv(path, kind, on_error="skip").collect("out"))
    assert (len(outputs["out"][1]), skipped) == (3, {"read_csv": 1})


@pytest.mark.parametrize("kind", [Real, MaybeReal])
@pytest.mark.parametrize("value", TOO_LARGE)
def test_a_float_of_a_json_file_may_not_be_too_large(tmp_path: Path, kind: Any, value: str) -> None:
    for before in ("1.5", "Infinity"):  # Arrow reads the file, or the row reader
        path = jsonl_file(tmp_path, [before, value, before])
        _, _, error = assert_same_everywhere(ab.read_jsonl(path, kind).collect("out"))
        assert "member 'x': " in str(error)
        assert "is too large for a float" in str(error)
        outputs, skipped, _ = assert_same_everywhere(ab.read_jsonl(path, kind, on_error="skip").collect("out"))
        assert (len(outputs["out"][1]), skipped) == (2, {"read_jsonl": 1})


@pytest.mark.parametrize("value", TOO_LARGE)
def test_nor_one_in_a_list(tmp_path: Path, value: str) -> None:
    cells = csv_file(tmp_path, ["[1.5]", f'"[2,{value}]"'])
    members = jsonl_file(tmp_path, ["[1.5]", f"[2,{value}]"])
    for source in (ab.read_csv(cells, Reals), ab.read_jsonl(members, Reals)):
        _, _, error = assert_same_everywhere(source.collect("out"))
        assert "is too large for a float" in str(error)


def test_the_largest_floats_are_read_from_every_format(tmp_path: Path, csv_reader: None) -> None:
    for source in (ab.read_csv(csv_file(tmp_path, LARGEST), Real), ab.read_jsonl(jsonl_file(tmp_path, LARGEST), Real)):
        assert_same_everywhere(source.collect("out"))
        assert ab.run(source.collect("out"), engine="sequential").items("out") == [
            Real(number, float(value)) for number, value in enumerate(LARGEST)
        ]


@pytest.mark.parametrize("value", ["1e400", "9" * 400, "9" * 5000])
def test_what_nobody_asks_for_may_be_as_large_as_it_likes(tmp_path: Path, csv_reader: None, value: str) -> None:
    class Narrow(NamedTuple):
        n: int

    for source in (
        ab.read_jsonl(jsonl_file(tmp_path, [value, value], "y"), Whole),
        ab.read_jsonl(jsonl_file(tmp_path, [f'{{"z":[{value}]}}', value], "y"), Whole),
        ab.read_csv(csv_file(tmp_path, [value, value]), Narrow),
    ):
        outputs, _, error = assert_same_everywhere(source.collect("out"))
        assert (len(outputs["out"][1]), error) == (2, None)


@pytest.mark.parametrize("value", ["9" * 20, "9" * 400, "9" * 5000])
def test_an_int_that_is_asked_for_may_not(tmp_path: Path, csv_reader: None, value: str) -> None:
    for source in (
        ab.read_jsonl(jsonl_file(tmp_path, ["1", value]), Whole),
        ab.read_csv(csv_file(tmp_path, ["1", value]), Whole),
    ):
        _, _, error = assert_same_everywhere(source.collect("out"))
        assert "does not fit into 64 bits" in str(error)
        assert "'x': " in str(error)


@pytest.mark.parametrize(("format", "row"), [("csv", "1,{}\n"), ("jsonl", '{{"n":1,"x":{}}}\n')])
def test_the_same_holds_for_what_a_server_sends(format: Any, row: str) -> None:
    rows = row.format("1.5") + row.format("1e400") + row.format("2.5")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        threading.Thread(target=_send, args=(server, rows.encode()), daemon=True).start()
        source = ab.read_tcp(port, Real, format=format, on_error="skip", timeout=30)
        result = ab.run(source.collect("out"), engine="sequential")
    assert result.items("out") == [Real(1, 1.5), Real(1, 2.5)]


def _send(server: socket.socket, data: bytes) -> None:
    connection, _ = server.accept()
    with connection:
        connection.sendall(data)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"n":1,"x":"a\tb"}', "Invalid control character at position 14"),
        ('{"n":1,"x":"a', "Unterminated string starting at position 12"),
        ('{"n":1,"x":}', "Expecting value at position 12"),
        ('{"n":1 "x":1}', "Expecting ',' delimiter at position 8"),
    ],
)
def test_a_message_about_json_says_where_once(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(f"{json.dumps({'n': 1, 'x': 2})}\n{line}\n")
    _, _, error = assert_same_everywhere(ab.read_jsonl(path, Whole).collect("out"))
    assert f"not valid JSON: {problem}\n" in str(error)


def test_a_second_byte_order_mark_is_named(tmp_path: Path) -> None:
    path = tmp_path / "marks.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"n":1,"x":2}\n\xef\xbb\xbf{"n":1,"x":2}\n')
    _, _, error = assert_same_everywhere(ab.read_jsonl(path, Whole).collect("out"))
    assert "not valid JSON: a byte order mark at position 1\n" in str(error)
