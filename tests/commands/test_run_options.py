"""`anabranch run`: the options of Spark and of streams lead to what they say, and without any the engine is Spark."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anabranch.cli import main
from anabranch.commands import run as run_module
from anabranch.commands import run_stream as stream_module
from anabranch.dataflow.result import Metrics, Result
from anabranch.engines.spark.session.session import SparkError
from anabranch.engines.spark.streams import start as start_module
from anabranch.engines.spark.streams.query import Progress
from anabranch.graph.model import Program
from anabranch.run import default_engine

APP = """
from pathlib import Path
from typing import NamedTuple
import anabranch as ab

class Sale(NamedTuple):
    shop: str
    price: int

class Total:
    def __init__(self) -> None:
        self.paid = 0

    def process(self, sale: Sale) -> Sale:
        self.paid += sale.price
        return Sale(sale.shop, self.paid)

    def finish(self) -> list[Sale]:
        return [Sale("all", self.paid)]

def zone(sale: Sale) -> None:
    from pyspark.sql import SparkSession
    session = SparkSession.active()
    print(sale.price, session.conf.get("spark.master"), session.conf.get("spark.sql.session.timeZone"))

@ab.app
def totals(sales: Path, out: Path, tells: bool = False):
    found = ab.read_csv(sales, Sale).process(Total, key="shop")
    found.write_csv(out)
    if tells:
        found.for_each(zone)
"""
SALES = "shop,price\na,1\nb,2\na,3\n"


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    Path("totals_app.py").write_text(APP)
    Path("sales").mkdir()
    Path("sales/1.csv").write_text(SALES)
    return ["run", "totals_app.py", "--sales", "sales", "--out", "out.csv"]


# The engine -----------------------------------------------------------------------------------------------------------


def test_the_engine_of_whoever_asks_for_none_is_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANABRANCH_ENGINE", raising=False)
    assert default_engine() == "spark"
    monkeypatch.setenv("ANABRANCH_ENGINE", "")
    assert default_engine() == "spark"
    monkeypatch.setenv("ANABRANCH_ENGINE", "fused")
    assert default_engine() == "fused"


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command as a user without any variables of ours has it."""
    environment = {name: value for name, value in os.environ.items() if name != "ANABRANCH_ENGINE"}
    return subprocess.run(
        [sys.executable, "-m", "anabranch.cli", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def test_without_an_engine_the_command_runs_on_the_spark_that_its_options_describe(app: list[str]) -> None:
    setting = ["--spark-conf", "spark.sql.session.timeZone=Asia/Tokyo", "--spark-conf", "spark.task.cpus=1"]
    ended = command(*app, "--tells", "--master", "local[2]", *setting, "--channels", "R1=2", "--quiet")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == [f"{n} local[2] Asia/Tokyo" for n in (1, 2, 4, 4, 2)]
    assert ended.stderr == ""
    assert Path("out.csv").read_text() == "shop,price\na,1\nb,2\na,4\nall,4\nall,2\n"


# What they lead to ----------------------------------------------------------------------------------------------------


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What `run` is asked for, instead of running."""
    found: dict[str, Any] = {}

    def run(program: Program, **options: Any) -> Result:
        found.update(options)
        return Result(program.graph, Metrics())

    monkeypatch.setattr(run_module, "run", run)
    return found


@pytest.mark.parametrize(
    ("text", "channels"),
    [
        ([], "auto"),
        (["auto"], "auto"),
        (["3"], 3),
        (["R1=2,R2=4"], {"R1": 2, "R2": 4}),
        (["R1=2, R2=4"], {"R1": 2, "R2": 4}),
    ],
)
def test_channels_are_one_number_or_one_for_each_region(
    app: list[str], asked: dict[str, Any], text: list[str], channels: Any
) -> None:
    assert main([*app, "--engine", "spark", *(["--channels", *text] if text else [])]) == 0
    assert asked["channels"] == channels


def test_the_options_of_spark_are_handed_on(app: list[str], asked: dict[str, Any]) -> None:
    assert main([*app, "--engine", "spark"]) == 0
    assert (asked["master"], asked["spark_conf"], asked["ui"]) == (None, None, False)
    given = ["--master", "spark://host:7077", "--spark-conf", "a.b=c=d", "--spark-conf", "e=", "--ui"]
    assert main([*app, "--engine", "spark", *given]) == 0
    assert (asked["master"], asked["ui"]) == ("spark://host:7077", True)
    assert asked["spark_conf"] == {"a.b": "c=d", "e": ""}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--channels", "x"], "'x' is not a number, not R1=4,R2=2, and not auto"),
        (["--spark-conf", "spark.ui.port"], "'spark.ui.port' is not of the form key=value"),
        (["--stream", "--batch-mb", "x"], "'x' is not a number of megabytes"),
        (["--spark-conf", "=5"], "'=5' is not of the form key=value"),
    ],
)
def test_an_option_that_is_not_of_its_form_is_said(
    app: list[str], options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main([*app, "--engine", "spark", *options])
    assert stop.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--channels", "R7=2"], "R7"),
        (["--channels", "0"], "0"),
        (["--master", "sc://host:port"], "sc://host:port is no address of a Spark Connect server"),
    ],
)
def test_what_spark_cannot_be_asked_for_is_a_wrong_call_at_no_line(
    app: list[str], options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*app, "--engine", "spark", *options]) == 2
    text = capsys.readouterr().err
    assert said in text
    assert "try: " in text
    assert "Traceback" not in text


# Streams --------------------------------------------------------------------------------------------------------------


class Stream:
    """What `start` gives back, and what was asked of it."""

    progress = Progress(3, 10, 4, 2.0, 5.0, 0, 0.1)

    def __init__(self, program: Program, **options: Any) -> None:
        self.program, self.options = program, options
        self.calls: list[str] = []

    def _ended(self, how: str) -> Result:
        self.calls.append(how)
        return Result(self.program.graph, Metrics(notes=["[/x] is noted"]))

    def finish(self) -> Result:
        return self._ended("finish")

    def await_done(self) -> Result:
        return self._ended("await_done")

    def stop(self) -> Result:
        return self._ended("stop")


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> list[Stream]:
    found: list[Stream] = []

    def start(program: Program, *, starting: Callable[[], None], **options: Any) -> Stream:
        starting()
        found.append(Stream(program, **options))
        return found[-1]

    monkeypatch.setattr(stream_module, "start_program", start)
    return found


def test_once_and_finish_are_two_ways_to_end_a_stream(app: list[str], streams: list[Stream]) -> None:
    given = [*app, "--engine", "spark", "--stream", "--checkpoint", "state"]
    for more in ([], ["--once"], ["--finish"]):
        assert main([*given, *more]) == 0
    assert [stream.options["once"] for stream in streams] == [False, True, False]
    assert [stream.calls[0] for stream in streams] == ["await_done", "await_done", "finish"]
    assert all(stream.calls[-1] == "stop" for stream in streams)


def test_what_is_noted_of_a_stream_is_said_without_a_terminal_too(
    app: list[str], streams: list[Stream], capsys: pytest.CaptureFixture[str]
) -> None:
    given = [*app, "--engine", "spark", "--stream", "--checkpoint", "state"]
    assert main(given) == 0
    assert capsys.readouterr().err == "totals: starting Spark; Ctrl-C stops the stream\ntotals: [/x] is noted\n"
    assert main([*given, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_a_stream_is_given_its_checkpoint_its_batches_and_the_options_of_spark(
    app: list[str], streams: list[Stream]
) -> None:
    given = ["--engine", "spark", "--stream", "--checkpoint", "state", "--batch-mb", "0.5", "--channels", "R1=2"]
    assert (
        main([*app, *given, "--master", "local[2]", "--spark-conf", "a=b", "--form", "python", "--fuse", "manual"]) == 0
    )
    [stream] = streams
    expected = {
        "checkpoint": "state", "batch_mb": 0.5, "channels": {"R1": 2}, "master": "local[2]",
        "spark_conf": {"a": "b"}, "form": "python", "fuse": "manual", "ui": False, "once": False,
    }  # fmt: skip
    assert stream.options == expected


def test_spark_is_said_to_start_when_nothing_is_to_be_refused_any_more(
    app: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def started(options: Any) -> Any:
        raise SparkError("Spark was asked for")

    monkeypatch.setattr(start_module, "session_for", started)
    Path("other").mkdir()
    Path("other/file").touch()
    given = [*app, "--engine", "spark", "--stream", "--checkpoint"]
    assert main([*given, "other"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert "holds files that are not a checkpoint" in said
    assert main([*given, "state"]) == 1
    assert capsys.readouterr().err == ("totals: starting Spark; Ctrl-C stops the stream\nerror: Spark was asked for\n")


@pytest.mark.slow
def test_a_stream_goes_on_after_once_and_ends_with_finish(app: list[str]) -> None:
    stream = [*app, "--stream", "--checkpoint", "state", "--master", "local[2]", "--channels", "R1=2", "--quiet"]
    ended = command(*stream, "--once")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert Path("out.csv").read_text() == "shop,price\na,1\nb,2\na,4\n"
    Path("sales/2.csv").write_text("shop,price\nb,5\n")
    ended = command(*stream, "--finish")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert Path("out.csv").read_text() == "shop,price\na,1\nb,2\na,4\nb,7\nall,4\nall,7\n"
