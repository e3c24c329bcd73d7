"""What operators print and log in tasks is said where the program was started, stretch by stretch."""

from __future__ import annotations

import io
import logging
import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

import anabranch as ab
from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics
from anabranch.dataflow.transport import printing
from anabranch.engines.on_transport import run_on
from anabranch.run import as_program
from tests.dataflow.simulated import Simulated

log = logging.getLogger("tests.printing")


class Row(NamedTuple):
    key: str
    number: int


@ab.declare(state="partitioned", because="it prints, and that is all")
class Talking:
    def __init__(self) -> None:
        self.count = 0

    def process(self, row: Row) -> Row:
        self.count += 1
        print(f"<{row.number}>", end="")
        return row


class Logging:
    def __init__(self) -> None:
        self.count = 0

    def process(self, row: Row) -> Iterator[Row]:
        self.count += 1
        log.warning("saw %s", row.number)
        log.info("passed over")
        yield row


@ab.declare(state="stateless", because="it prints, and that is all")
def is_said(row: Row) -> bool:
    print(f"({row.number})", file=sys.stderr, end="")
    return True


ROWS = [Row("abc"[number % 3], number) for number in range(20)]


def run(source: Any, **how: Any) -> list[Any]:
    program = as_program(source.collect("out")).graph
    return run_on(Simulated(seed=1), compile(program), Metrics(), channels=3, stretch=5, **how).items("out")


def test_what_is_printed_comes_stretch_by_stretch(capsys: pytest.CaptureFixture[str]) -> None:
    source = ab.from_items(Row, ROWS).process(Talking, key="key")
    assert run(source) == ROWS
    numbers = [int(found) for found in re.findall(r"<(\d+)>", capsys.readouterr().out)]
    assert sorted(numbers) == list(range(20))
    assert [number // 5 for number in numbers] == sorted(number // 5 for number in range(20))


def test_what_is_printed_where_slices_are_read_is_in_the_order_of_tuples(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(ab.from_items(Row, ROWS).filter(is_said).process(Logging, key="key")) == ROWS
    assert [int(found) for found in re.findall(r"\((\d+)\)", capsys.readouterr().err)] == list(range(20))


def test_records_go_to_the_loggers_of_the_program(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert run(ab.from_items(Row, ROWS).process(Logging, key="key")) == ROWS
    found = [record for record in caplog.records if record.name == "tests.printing"]
    assert sorted(int(record.getMessage().split()[1]) for record in found) == list(range(20))
    assert {record.levelno for record in found} == {logging.WARNING}


def test_what_was_said_before_an_error_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    failing = ab.from_items(Row, ROWS).process(Talking, key="key").filter(lambda row: 1 // (12 - row.number) < 9)
    with pytest.raises(ab.OperatorError):
        run(failing)
    said = {int(found) for found in re.findall(r"<(\d+)>", capsys.readouterr().out)}
    assert said >= set(range(10))
    assert not said & set(range(15, 20))


def test_more_than_anybody_reads_is_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(printing, "_MOST", 10)
    run(ab.from_items(Row, ROWS[:5]).filter(is_said).process(Logging, key="key"))
    assert "more characters that operators printed were not kept" in capsys.readouterr().err


def test_streams_and_loggers_are_as_before() -> None:
    before = sys.stdout, sys.stderr, logging.getLogger().handlers[:], logging.getLogger().level
    with pytest.raises(ZeroDivisionError), printing.kept(printing.Printing(), logging.DEBUG):
        print(1 // 0)
    assert (sys.stdout, sys.stderr, logging.getLogger().handlers[:], logging.getLogger().level) == before
    assert not isinstance(sys.stdout, io.StringIO)
