"""`anabranch explain`: outputs, files, exit codes, and operators that must be parallel."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console
from rich.text import Text

from anabranch.cli import main
from anabranch.commands import explain as explain_module

REPOSITORY = Path(__file__).parents[2]
APP = '''
from typing import NamedTuple
import anabranch as ab

class N(NamedTuple):
    n: int

@ab.app
def numbers(limit: int = 3):
    """Keep the large ones."""
    ab.from_items(N, []).filter(lambda x: x.n > limit).named("large").collect("out")

@ab.app
def others(svg: str = ""):
    ab.from_items(N, []).collect("out")
'''


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "explained_numbers.py").write_text(APP)
    return "explained_numbers.py:numbers"


def test_the_text_is_printed_plain_where_no_terminal_is(app: str) -> None:
    command = [sys.executable, "-m", "anabranch.cli", "explain", app, "--channels", "4"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    out, err = ended.stdout, ended.stderr
    head, settings, *_ = out.splitlines()
    assert head == "numbers: 3 operators, 1 parallel region, 3 PEs"
    assert re.fullmatch(r"for Spark on \d+ cores?, about 0 tuples, form auto, fuse all", settings)
    assert "\n\n  ╔ [parallel source]  read in slices\n  ║ ● from_items" in out
    assert "explained_numbers.py:11" in out
    assert "\x1b" not in out
    assert err == ""


def test_a_terminal_gets_colour_and_nothing_wider_than_itself(app: str) -> None:
    output = _on_a_terminal("explain", app)
    assert b"\x1b[1mNot parallel" in output
    plain = _without_colour(output.decode())
    assert max(map(len, plain.splitlines())) <= 80


def _on_a_terminal(*arguments: str) -> bytes:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "anabranch.cli", *arguments],
        stdout=follower,
        env={**os.environ, "COLUMNS": "80", "TERM": "xterm-256color"},
    )
    os.close(follower)
    output = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:
            break
        if not chunk:
            break
        output += chunk
    os.close(leader)
    assert process.wait() == 0
    return output


def _without_colour(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_json_is_printed_for_programs(app: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", app, "--json", "--limit", "7", "--channels", "R1=2"]) == 0
    described = json.loads(capsys.readouterr().out)
    assert described["version"] == 2
    assert described["regions"][0]["channels"] == 2


def test_drawing_and_page_are_written_to_files(app: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "numbers.svg").write_text("old")
    assert main(["explain", app, "--svg", "numbers.svg", "--html", "pages/numbers.html"]) == 0
    assert ElementTree.parse(tmp_path / "numbers.svg").getroot().tag.endswith("svg")
    assert (tmp_path / "pages" / "numbers.html").read_text().startswith("<!DOCTYPE html>")
    assert capsys.readouterr().out == ""
    assert [path.name for path in tmp_path.rglob("*.part")] == []


def test_a_drawing_goes_to_standard_output_on_request(app: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", app, "--svg", "-"]) == 0
    assert capsys.readouterr().out.startswith("<svg ")
    assert main(["explain", app, "--html", "-"]) == 0
    assert capsys.readouterr().out.startswith("<!DOCTYPE html>")


def test_two_things_cannot_both_go_to_standard_output(app: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", app, "--svg", "-", "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "only one of --json, --code, --svg - and --html - can go to standard output" in err


def test_the_code_is_printed_plain_where_no_terminal_is(app: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", app, "--code", "--expect", "10000000"]) == 0
    native = capsys.readouterr().out
    assert native.startswith("# PE2: large: native form\n\nimport ")
    assert main(["explain", app, "--code", "--form", "python"]) == 0
    python = capsys.readouterr().out
    assert python.startswith("# PE2: large: Python form, as asked for\n\n")
    for code in (native, python):
        compile(code, "code", "exec")


def test_the_code_has_colours_on_a_terminal(app: str) -> None:
    printed = _on_a_terminal("explain", app, "--code", "--form", "native").decode()
    assert "\x1b[" in printed
    plain = _without_colour(printed).replace("\r\n", "\n")
    assert plain.startswith("# PE2: large: native form\n\nimport ")
    compile(plain, "code", "exec")


def test_a_file_that_cannot_be_written_is_an_error_and_what_was_there_stays(
    app: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", app, "--svg", str(tmp_path)]) == 1
    assert f"{tmp_path}: is a directory" in capsys.readouterr().err


def test_the_stage_decides_what_is_shown(app: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", app, "--stage", "properties"]) == 0
    out = capsys.readouterr().out
    assert "\nOperators\n" in out
    assert "\nRegions\n" not in out
    assert main(["explain", app, "--stage", "nothing"]) == 2
    assert "use one of: build, properties, regions" in capsys.readouterr().err


def test_the_help_names_the_default_stage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--help"]) == 0
    assert "weigh, the last and the default" in " ".join(capsys.readouterr().out.split())


def test_the_layout_is_in_the_text(app: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", app, "--channels", "3"]) == 0
    _, _, layout = capsys.readouterr().out.partition("\nOn Spark\n")
    assert layout.splitlines()[0].startswith("  read from_items")
    assert main(["explain", app, "--stage", "ordering"]) == 0
    assert "\nOn Spark\n" not in capsys.readouterr().out


def test_the_plan_of_another_engine_can_be_asked_for(app: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", app, "--engine", "fused"]) == 0
    out = capsys.readouterr().out
    assert "\nfor the fused engine, " in out
    assert "\nOn the fused engine\n  all of it runs in this process, in one place\n" in out
    assert "Spark" not in out


def test_the_plan_of_a_stream_can_be_asked_for(app: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", app, "--stream", "--channels", "3"]) == 0
    out = capsys.readouterr().out
    assert ", a stream, form auto" in out
    assert "what has come" in out
    assert main(["explain", app, "--stream", "--engine", "fused"]) == 2
    assert "runs no streams" in capsys.readouterr().err


def test_a_plan_is_for_as_many_tuples_as_are_expected(app: str, capsys: pytest.CaptureFixture[str]) -> None:
    forms = []
    for number in ("10", "10000000"):
        assert main(["explain", app, "--expect", number, "--json"]) == 0
        described = json.loads(capsys.readouterr().out)
        assert described["settings"]["expected"] == int(number)
        forms.append(next(pe["form"] for pe in described["pes"] if pe["operators"] == ["large"]))
    assert forms == ["python", "native"]
    assert main(["explain", app, "--expect", "-1"]) == 2
    assert "-1 tuples cannot be expected" in capsys.readouterr().err


def test_operators_of_a_place_are_fused_or_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example = str(REPOSITORY / "examples/mobility_fraud.py")
    pes = {}
    for fusion in ("all", "none"):
        assert main(["explain", example, "--fuse", fusion, "--channels", "2", "--json"]) == 0
        described = json.loads(capsys.readouterr().out)
        assert described["settings"]["fuse"] == fusion
        pes[fusion] = [pe["operators"] for pe in described["pes"] if pe["place"] == "R1"]
    assert pes == {"all": [["Speed", "filter_2"]], "none": [["Speed"], ["filter_2"]]}


@pytest.mark.parametrize("option", ["--on-spark", "--engine=sequential", "--fuse=some", "--expect=many"])
def test_what_there_is_no_plan_for_is_a_wrong_call(option: str, app: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["explain", app, option])
    assert stopped.value.code == 2
    assert capsys.readouterr().out == ""


def test_a_source_that_spark_reads_in_slices_is_not_said_to_be_in_one_place(
    app: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", app]) == 0
    out = capsys.readouterr().out
    assert "state: it is one stream, which many tasks read, a slice each" in out
    assert "try: partition_by=" not in out
    assert "\n  from_items" not in out.partition("Not parallel")[2]
    assert "\n  read from_items   slices " in out
    assert main(["explain", app, "--json"]) == 0
    source, large, *_ = json.loads(capsys.readouterr().out)["operators"]
    assert (source["in_slices"], large["in_slices"]) == (True, False)


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("example", ["mobility_fraud", "linear_road", "pagerank", "lois"])
def test_the_text_with_its_layout_is_no_wider_than_the_terminal(
    example: str, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(explain_module, "plain_console", lambda: Console(force_terminal=True, width=columns))
    assert main(["explain", str(REPOSITORY / f"examples/{example}.py")]) == 0
    lines = Text.from_ansi(capsys.readouterr().out).plain.splitlines()
    layout = lines[next(at for at, line in enumerate(lines) if line.startswith("On Spark")) : lines.index("PEs")]
    assert [line for line in layout if len(line) > columns] == []
    assert any(line.startswith("  driver ") for line in layout)


# Required to be parallel -----------------------------------------------------------------------------------------


def test_required_operators_that_are_parallel_are_no_error(app: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", app, "--require-parallel", "large", "from_items"]) == 0
    assert capsys.readouterr().err == ""


def test_required_operators_that_are_only_too_light_are_no_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Elsewhere there may be more cores, and they are safe there."""
    required = ["--expect", "10000000", "--require-parallel", "Speed"]
    assert main(["explain", "examples/mobility_fraud.py", *required]) == 0
    assert capsys.readouterr().err == ""


def test_required_operators_that_are_not_parallel_exit_with_1_and_the_reason(
    app: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", app, "--json", "--require-parallel", "large", "--require-parallel", "out"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["version"] == 2
    assert err.splitlines() == [
        "error: 'out' is not parallel",
        "  an ordered sink is written in one place (explained_numbers.py:11)",
        '  │ ab.from_items(N, []).filter(lambda x: x.n > limit).named("large").collect("out")',
        "  try: ordered=False, if the order of what it writes does not matter",
    ]


def test_a_required_operator_that_does_not_exist_is_a_wrong_call(app: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", app, "--require-parallel", "larg"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "error: 'numbers' has no operator 'larg'\n  try: its operators: from_items, large, out\n"


def test_before_regions_are_formed_nothing_can_be_required(app: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", app, "--stage", "properties", "--require-parallel", "large"]) == 2
    assert "it is not decided yet what is parallel" in capsys.readouterr().err


# Calls -----------------------------------------------------------------------------------------------------------


def test_help_shows_the_parameters_of_the_app_and_the_options(app: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["explain", app, "--help"])
    assert stopped.value.code == 0
    out = capsys.readouterr().out
    assert "usage: anabranch explain explained_numbers.py:numbers [options]" in out
    assert "Keep the large ones." in out
    assert out.index("--limit INT") < out.index("--require-parallel NAME")


def test_help_without_an_app_shows_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--help"]) == 0
    assert "anabranch explain examples/mobility_fraud.py --channels 4 --svg fraud.svg" in capsys.readouterr().out
    assert main(["explain"]) == 2


def test_a_parameter_named_like_an_option_is_refused(app: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "explained_numbers.py:others"]) == 2
    assert "parameter 'svg' of app 'others' is an option of the command itself" in capsys.readouterr().err


@pytest.mark.parametrize("channels", ["many", "R1=x", "R1=2=3"])
def test_channels_are_numbers(app: str, channels: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["explain", app, "--channels", channels])
    assert stopped.value.code == 2
    assert f"'{channels}' is not a number, not R1=4,R2=2, and not auto" in capsys.readouterr().err
