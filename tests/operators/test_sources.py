"""Sources: the same tuples in the same order on every run, partitions, and what cannot be read."""

from __future__ import annotations

import math
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from anabranch.errors import BuildError, Location, SourceError
from anabranch.graph.model import Operator, Port
from anabranch.graph.schema import Schema, schema_of
from anabranch.graph.values import ValueProblem
from anabranch.operators.base import Partition, SourceDefinition, Unreadable
from anabranch.operators.formats import FILE_FORMATS
from anabranch.operators.sources import Beacon, FromItems, Generate, ReadFiles, ReadTcp


class Call(NamedTuple):
    phone: int
    area: str


class Reading(NamedTuple):
    sensor: float
    values: list[int]


class Line(NamedTuple):
    text: str


CALL, READING, LINE = schema_of(Call), schema_of(Reading), schema_of(Line)
HERE = Location("app.py", 7)


def operator_for(definition: SourceDefinition) -> Operator:
    schema: Schema = getattr(definition, "schema")  # noqa: B009  # every source has one; the base does not say so
    return Operator("source", definition, (), (Port("out", schema),), HERE)


def partitions_of(definition: SourceDefinition) -> tuple[Partition, ...]:
    return definition.partitions(operator_for(definition))


def items_of(definition: SourceDefinition) -> list[Any]:
    [partition] = partitions_of(definition)
    return list(partition)


def lists_of(definition: SourceDefinition) -> list[list[Any]]:
    return [list(partition) for partition in partitions_of(definition)]


# from_items -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrap", [list, tuple, iter, lambda items: (item for item in items)])
def test_the_items_of_any_iterable_are_read_on_every_run(wrap: Any) -> None:
    source = FromItems(CALL, wrap([Call(1, "A"), Call(2, "B")]))
    assert items_of(source) == items_of(source) == [Call(1, "A"), Call(2, "B")]


def test_a_list_that_changes_after_the_program_was_built_does_not_change_the_program() -> None:
    items = [Call(1, "A")]
    source = FromItems(CALL, items)
    items.append(Call(2, "B"))
    assert items_of(source) == [Call(1, "A")]


def test_items_are_copied_and_put_into_normal_form() -> None:
    item = Reading(1, [1, 2])
    [read] = items_of(FromItems(READING, [item]))
    assert read == Reading(1.0, [1, 2])
    assert type(read.sensor) is float
    assert read.values is not item.values


def test_an_item_that_does_not_fit_is_unreadable_at_its_place() -> None:
    rows = items_of(FromItems(CALL, [Call(1, "A"), Call("x", "B"), (3, "C"), Call(4, "D")]))  # type: ignore[arg-type]
    assert rows[0] == Call(1, "A")
    assert rows[1] == Unreadable(
        "attribute 'phone' of Call: int expected, got 'x' (str)", "item 2", "Call(phone='x', area='B')"
    )
    assert (rows[2].where, rows[2].message) == ("item 3", "Call expected, got (3, 'C') (tuple)")
    assert rows[3] == Call(4, "D")


def test_partitions_are_the_groups_of_the_key_in_order_of_first_arrival() -> None:
    items = [Call(1, "B"), Call(2, "A"), Call(3, "B"), Call(4, "C"), Call(5, "A")]
    source = FromItems(CALL, items, partition_by=("area",))
    assert lists_of(source) == [[items[0], items[2]], [items[1], items[4]], [items[3]]]
    assert [partition.name for partition in partitions_of(source)] == ["area = 'B'", "area = 'A'", "area = 'C'"]


def test_nan_and_negative_zero_keys_make_one_partition_each() -> None:
    items = [Reading(math.nan, [1]), Reading(0.0, [2]), Reading(float("nan"), [3]), Reading(-0.0, [4])]
    groups = lists_of(FromItems(READING, items, partition_by=("sensor",)))
    assert [[item.values[0] for item in group] for group in groups] == [[1, 3], [2, 4]]


def test_an_item_without_a_key_stays_with_the_item_before_it() -> None:
    items: list[Any] = ["first", Call(1, "A"), Call(2, "B"), "later"]
    first, second = lists_of(FromItems(CALL, items, partition_by=("area",)))
    assert [getattr(item, "where", item) for item in first] == ["item 1", Call(1, "A")]
    assert [getattr(item, "where", item) for item in second] == [Call(2, "B"), "item 4"]


def test_no_items_are_one_empty_partition() -> None:
    assert lists_of(FromItems(CALL, [])) == [[]]
    assert lists_of(FromItems(CALL, [], partition_by=("area",))) == [[]]


def test_items_that_cannot_be_iterated_are_a_build_error() -> None:
    with pytest.raises(BuildError, match="items=5 cannot be iterated"):
        FromItems(CALL, 5)  # type: ignore[arg-type]  # what is checked


# Files ------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("deep", "er").mkdir(parents=True)
    Path("b.csv").write_text("phone,area\n3,B\n4,B\n")
    Path("a.csv").write_text("phone,area\n1,A\n2,A\n")
    Path("deep", "er", "c.csv").write_text("phone,area\n5,C\n")
    return tmp_path


A, B, C = [Call(1, "A"), Call(2, "A")], [Call(3, "B"), Call(4, "B")], [Call(5, "C")]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("a.csv", A), (Path("a.csv"), A), ("*.csv", A + B), ("?.csv", A + B), ("[b]*", B), ("**/*.csv", A + B + C)],
)
def test_a_path_or_a_glob_is_read_file_after_file_sorted_by_name(
    folder: Path, pattern: str | Path, expected: list[Call]
) -> None:
    assert items_of(ReadFiles("csv", CALL, pattern)) == expected


def test_with_partition_by_each_file_is_a_partition(folder: Path) -> None:
    source = ReadFiles("csv", CALL, "*.csv", partition_by=("area",))
    assert lists_of(source) == [A, B]
    assert [partition.name for partition in partitions_of(source)] == ["a.csv", "b.csv"]


def test_a_name_with_signs_of_a_glob_in_it_is_a_name_where_such_a_file_exists(folder: Path) -> None:
    Path("odd[1].csv").write_text("phone,area\n9,Z\n")
    assert items_of(ReadFiles("csv", CALL, "odd[1].csv")) == [Call(9, "Z")]


def test_a_missing_file_is_said_by_the_check_with_the_line_of_the_program(folder: Path) -> None:
    source = ReadFiles("csv", CALL, "calls.csv")
    with pytest.raises(SourceError) as caught:
        source.check(operator_for(source))
    assert caught.value.message == "calls.csv: no such file"
    assert caught.value.location == HERE
    assert str(folder) in str(caught.value.hint)
    with pytest.raises(SourceError, match="no such file"):
        partitions_of(source)


def test_a_glob_that_matches_nothing_is_said_by_the_check(folder: Path) -> None:
    source = ReadFiles("csv", CALL, "*.tsv")
    with pytest.raises(SourceError, match=r"\*\.tsv: no file matches"):
        source.check(operator_for(source))


def test_a_folder_stands_for_the_files_in_it_by_name_without_hidden_ones(folder: Path) -> None:
    Path("many").mkdir()
    for name in ("b.csv", ".being-written.csv", "a.csv"):
        Path("many", name).write_text("phone,area\n1,A\n")
    assert ReadFiles("csv", CALL, "many").files() == (Path("many/a.csv"), Path("many/b.csv"))


def test_a_folder_without_files_is_said_by_the_check(folder: Path) -> None:
    Path("none").mkdir()
    for name in FILE_FORMATS:
        source = ReadFiles(name, LINE, "none")
        with pytest.raises(SourceError, match=r"none/\*: no file matches"):
            source.check(operator_for(source))


def test_a_file_without_a_needed_column_is_said_by_the_check_before_anything_is_read(folder: Path) -> None:
    Path("c.csv").write_text("phone,zone\n1,A\n")
    source = ReadFiles("csv", CALL, "*.csv")
    with pytest.raises(SourceError, match=r"c\.csv: there is no column 'area'"):
        source.check(operator_for(source))


def test_a_file_that_vanishes_during_the_run_is_an_error_at_its_place(folder: Path) -> None:
    [partition] = partitions_of(ReadFiles("csv", CALL, "*.csv"))
    Path("b.csv").unlink()
    reader = iter(partition)
    assert [next(reader), next(reader)] == A
    with pytest.raises(SourceError, match=r"b\.csv: no such file") as caught:
        next(reader)
    assert caught.value.location == HERE


def test_checking_a_pipe_takes_nothing_out_of_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    source = ReadFiles("csv", CALL, tmp_path / "pipe")
    source.check(operator_for(source))  # would wait for ever if it opened the pipe
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=("phone,area\n1,A\n",))
    writer.start()
    assert items_of(source) == [Call(1, "A")]
    writer.join(timeout=10)


def test_options_reach_the_format_and_unknown_ones_are_build_errors(folder: Path) -> None:
    Path("plain").write_text("7;G\n")
    assert items_of(ReadFiles("csv", CALL, "plain", {"header": False, "delimiter": ";"})) == [Call(7, "G")]
    with pytest.raises(BuildError, match="no option 'sep'"):
        ReadFiles("csv", CALL, "plain", {"sep": ";"})
    with pytest.raises(BuildError, match="a line of text is a str"):
        ReadFiles("lines", READING, "plain")
    with pytest.raises(BuildError, match="no file format 'xml'"):
        ReadFiles("xml", CALL, "plain")


def test_each_format_has_its_own_kind_and_definitions_can_be_hashed() -> None:
    kinds = [operator_for(ReadFiles(name, LINE, "x")).kind for name in FILE_FORMATS]
    assert kinds == ["read_csv", "read_jsonl", "read_parquet", "read_lines"]
    assert hash(ReadFiles("csv", CALL, "x", {"header": False})) == hash(ReadFiles("csv", CALL, "x", {"header": False}))


# generate ---------------------------------------------------------------------------------------------------


def test_generate_calls_the_function_anew_on_every_run() -> None:
    def calls() -> Iterator[Call]:
        yield Call(1, "A")
        yield Call(2, "B")

    source = Generate(CALL, calls)
    assert items_of(source) == items_of(source) == [Call(1, "A"), Call(2, "B")]


def test_generate_draws_no_more_than_is_asked_for() -> None:
    drawn = []

    def endless() -> Iterator[Call]:
        number = 0
        while True:
            drawn.append(number)
            yield Call(number, "A")
            number += 1

    [partition] = partitions_of(Generate(CALL, endless))
    assert drawn == []
    reader = iter(partition)
    assert [next(reader), next(reader)] == [Call(0, "A"), Call(1, "A")]
    assert drawn == [0, 1]


def test_generate_calls_the_function_with_each_value_of_its_partitions() -> None:
    source = Generate(CALL, lambda area: [Call(number, area) for number in range(2)], None, ("area",), ["A", "B"])
    assert lists_of(source) == [[Call(0, "A"), Call(1, "A")], [Call(0, "B"), Call(1, "B")]]


def test_what_the_function_of_generate_raises_comes_through_at_its_place() -> None:
    def failing() -> Iterator[Any]:
        yield Call(1, "A")
        raise ZeroDivisionError

    reader = iter(partitions_of(Generate(CALL, failing))[0])
    assert next(reader) == Call(1, "A")
    with pytest.raises(ZeroDivisionError):
        next(reader)
    with pytest.raises(ValueProblem, match="Call expected, got 5"):
        items_of(Generate(CALL, lambda: [5]))
    with pytest.raises(ValueProblem, match="an iterator of Call expected, got None"):
        items_of(Generate(CALL, lambda: None))


def test_generate_needs_a_function_and_partitions_together_with_partition_by() -> None:
    with pytest.raises(BuildError, match="is not a function"):
        Generate(CALL, iter([Call(1, "A")]))  # type: ignore[arg-type]  # what is checked
    for partition_by, parts in ((("area",), None), ((), ["A"])):
        with pytest.raises(BuildError, match="belong together"):
            Generate(CALL, list, None, partition_by, parts)
    with pytest.raises(BuildError, match="partitions= is empty"):
        Generate(CALL, list, None, ("area",), [])


# beacon -----------------------------------------------------------------------------------------------------


def test_a_beacon_numbers_its_tuples_from_zero() -> None:
    source = Beacon(CALL, lambda number: Call(number, "A"), count=3)
    assert items_of(source) == items_of(source) == [Call(0, "A"), Call(1, "A"), Call(2, "A")]


def test_a_beacon_without_a_count_goes_on() -> None:
    reader = iter(partitions_of(Beacon(CALL, lambda number: Call(number, "A")))[0])
    assert [next(reader).phone for _ in range(1000)] == list(range(1000))


def test_a_rate_paces_a_beacon_and_does_not_change_its_tuples() -> None:
    started = time.monotonic()
    paced = items_of(Beacon(CALL, lambda number: Call(number, "A"), count=11, rate=100))
    assert time.monotonic() - started >= 0.1
    assert paced == items_of(Beacon(CALL, lambda number: Call(number, "A"), count=11))


@pytest.mark.parametrize("wrong", [{"count": -1}, {"count": 1.5}, {"count": True}, {"rate": 0}, {"rate": math.nan}])
def test_a_beacon_with_a_count_or_rate_that_makes_no_sense_is_a_build_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(BuildError, match="is not a number of tuples"):
        Beacon(CALL, lambda number: Call(number, "A"), **wrong)


# read_tcp ---------------------------------------------------------------------------------------------------


@contextmanager
def server(data: bytes, *, linger: threading.Event | None = None) -> Iterator[int]:
    """A server that sends `data` to one client, waits for `linger` and closes; its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.sendall(data)
                if linger is not None:
                    linger.wait(timeout=10)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            if linger is not None:
                linger.set()
            thread.join(timeout=10)
            assert not thread.is_alive()


@pytest.mark.parametrize(
    ("name", "data"), [("jsonl", b'{"phone":1,"area":"A"}\nx\n{"phone":2,"area":"B"}'), ("csv", b"1,A\nx\n2,B\n")]
)
def test_a_connection_is_read_to_its_end_and_a_bad_line_is_unreadable_at_its_place(name: str, data: bytes) -> None:
    with server(data) as port:
        rows = items_of(ReadTcp("127.0.0.1", port, CALL, name))
    assert [rows[0], rows[2]] == [Call(1, "A"), Call(2, "B")]
    assert rows[1].where == f"tcp://127.0.0.1:{port}:2"


def test_a_tuple_is_there_as_soon_as_its_line_has_arrived() -> None:
    linger = threading.Event()
    with server(b"first\nsecond", linger=linger) as port:
        reader = iter(partitions_of(ReadTcp("127.0.0.1", port, LINE, "lines"))[0])
        assert next(reader) == Line("first")
        linger.set()
        assert list(reader) == [Line("second")]


def test_a_refused_connection_is_a_source_error_with_a_hint() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(SourceError, match=f"tcp://127.0.0.1:{port}: the connection was refused") as caught:
        items_of(ReadTcp("127.0.0.1", port, LINE, "lines"))
    assert "start the server" in str(caught.value.hint)
    assert caught.value.location == HERE


def test_a_server_that_falls_silent_is_a_source_error_after_the_timeout() -> None:
    with server(b"first\n", linger=threading.Event()) as port:
        reader = iter(partitions_of(ReadTcp("127.0.0.1", port, LINE, "lines", timeout=0.1))[0])
        assert next(reader) == Line("first")
        with pytest.raises(SourceError, match="no answer in time"):
            next(reader)


def test_formats_without_lines_cannot_be_read_from_a_connection() -> None:
    with pytest.raises(BuildError, match="no text format 'parquet'"):
        ReadTcp("127.0.0.1", 1, LINE, "parquet")
    with pytest.raises(BuildError, match="a line of text is a str"):
        ReadTcp("127.0.0.1", 1, READING, "lines")
