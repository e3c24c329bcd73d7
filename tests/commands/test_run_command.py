"""`anabranch run`: options from parameters, messages, exit codes, progress, and a clean stop."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from anabranch.cli import main

APP = '''
import time
from enum import Enum
from pathlib import Path
from typing import Literal, NamedTuple
import anabranch as ab

class N(NamedTuple):
    n: int

class Unit(Enum):
    METRE = 1
    MILE = 2

@ab.app
def numbers(
    count: int = 3,
    factor: float = 1.0,
    out: Path | None = None,
    loud: bool = False,
    mode: Literal["up", "down"] = "up",
    unit: Unit = Unit.METRE,
    fail_at: int = -1,
    rate: float = 0.0,
):
    """Count numbers, 100% of them.

    count: how many there are
    """
    def scaled(x: N) -> N:
        if x.n == fail_at:
            raise ValueError("too far")
        return N(int(x.n * factor) * (-1 if mode == "down" else 1) * unit.value + (1000 if loud else 0))

    stream = ab.beacon(N, N, count=count, rate=rate or None).map(scaled)
    if out is None:
        stream.collect("numbers")
    else:
        stream.write_csv(out)
'''


@pytest.fixture
def app(tmp_path: Path) -> str:
    path = tmp_path / "numbers_app.py"
    path.write_text(APP)
    return str(path)


def write_app(tmp_path: Path, code: str) -> str:
    path = tmp_path / "app.py"
    path.write_text("import anabranch as ab\nfrom typing import NamedTuple\n" + textwrap.dedent(code))
    return str(path)


def test_parameters_become_options(app: str, tmp_path: Path) -> None:
    out = tmp_path / "numbers.csv"
    given = ["--count", "2", "--factor", "2.5", "--loud", "--mode", "down", "--unit", "MILE", "--out", str(out)]
    assert main(["run", app, *given]) == 0
    assert out.read_text() == "n\n1000\n996\n"


def test_the_help_of_an_app_shows_its_parameters(app: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["run", app, "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert "Count numbers, 100% of them." in text
    assert "how many there are (default: 3)" in text
    assert "--loud, --no-loud" in text
    assert "up|down" in text


def test_the_help_fits_on_one_screen_and_shows_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    text = capsys.readouterr().out
    assert len(text.splitlines()) <= 24
    assert max(len(line) for line in text.splitlines()) <= 110
    assert "anabranch run examples/mobility_fraud.py" in text


def test_what_is_collected_is_shown_as_a_table(app: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", app, "--count", "30"]) == 0
    text = capsys.readouterr().out
    assert "numbers: 30 tuples" in text
    assert "… and 10 more" in text


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--count", "many"], "'many' is no int"),
        (["--mode", "left"], "'left' is not one of up, down"),
        (["--unit", "INCH"], "'INCH' is not one of METRE, MILE"),
        (["--what", "1"], "error: unrecognized arguments: --what 1\n  try: anabranch run "),
        (["--cuont", "1"], "error: unrecognized arguments: --cuont 1\n  try: --count in place of --cuont\n"),
        (["--egnine=fused"], "error: unrecognized arguments: --egnine=fused\n  try: --engine in place of --egnine\n"),
        (["--engine", "steam"], "invalid choice: 'steam'"),
    ],
)
def test_a_wrong_option_is_said_in_one_line(
    app: str, given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["run", app, *given])
    assert stop.value.code == 2
    text = capsys.readouterr().err
    assert said in text
    assert text.startswith("error: ")
    assert text.count("\n") == 2


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("app.py", "anabranch run app.py"),
        ("app.py:numbers", "anabranch run app.py:numbers"),
        ("rnu", "anabranch run"),
        ("what", "use one of run, explain, examples, cache; anabranch --help says more"),
    ],
)
def test_what_is_no_command_is_said_with_what_was_meant(
    word: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([word]) == 2
    assert capsys.readouterr().err == f"error: there is no command '{word}'\n  try: {hint}\n"


def test_a_failing_operator_exits_with_1_and_keeps_what_was_written(
    app: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "numbers.csv"
    assert main(["run", app, "--count", "9", "--fail-at", "2", "--out", str(out)]) == 1
    assert Path(f"{out}.partial").read_text() == "n\n0\n1\n"
    text = capsys.readouterr().err
    assert "operator 'scaled' failed: ValueError: too far" in text
    assert "numbers_app.py:" in text
    assert "on N(n=2)" in text
    assert "Traceback" not in text


def test_debug_shows_the_traceback(app: str) -> None:
    command = [sys.executable, "-m", "anabranch.cli", "run", app, "--fail-at", "0", "--debug"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 1
    assert "Traceback" in ended.stderr


@pytest.mark.parametrize(
    ("code", "target", "said"),
    [
        ("x = 1", "", "has no app"),
        ("@ab.app\ndef a(): pass\n@ab.app\ndef b(): pass", "", "has several apps: a, b"),
        ("@ab.app\ndef a(): pass", ":b", "has no app named 'b'"),
        ("def broken(:", "", "broken(:"),
        ("import no_such_module", "", "could not be loaded: ModuleNotFoundError"),
        ("@ab.app\ndef a(engine: str = 'x'): pass", "", "is an option of the command itself"),
        ("@ab.app\ndef a(x: list = []): pass", "", "cannot become an option: class list"),
        ("@ab.app\ndef a(x: list[int] = []): pass", "", "cannot become an option: list[int]"),
        ("@ab.app\ndef a(): undefined()", "", "could not be built: NameError"),
    ],
)
def test_a_file_that_cannot_be_run_says_why(
    tmp_path: Path, code: str, target: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", write_app(tmp_path, code) + target]) == 2
    text = capsys.readouterr().err
    assert said in text
    assert "Traceback" not in text


def test_a_missing_file_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "nowhere.py"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "error: nowhere.py is not the file of an app: there is no such file",
        "  try: the app's file comes first: anabranch run app.py --param value",
    ]
    assert main(["explain", "nowhere.py"]) == 2
    assert "anabranch explain app.py --param value" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--engine", "fused", "--channels", "2"], "the engine 'fused' has no use for channels="),
        (["--engine", "sequential", "--form", "native"], "the engine 'sequential' generates no code"),
    ],
)
def test_a_wrong_call_is_at_no_line(
    app: str, options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", app, *options]) == 2
    text = capsys.readouterr().err
    assert text.startswith(f"error: {said}")
    assert " at " not in text


def test_an_app_among_several_is_addressed_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_app(
        tmp_path,
        """
        class N(NamedTuple):
            n: int

        @ab.app
        def one():
            ab.from_items(N, [N(1)]).collect("first")

        @ab.app
        def two():
            ab.from_items(N, [N(2)]).collect("second")
        """,
    )
    assert main(["run", f"{path}:two"]) == 0
    assert "second: 1 tuple" in capsys.readouterr().out


def test_without_a_terminal_there_is_no_progress(app: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "anabranch.cli", "run", app], capture_output=True, text=True, check=True, timeout=60
    )
    assert ended.stderr == ""


def test_without_a_terminal_it_is_said_why_a_program_was_not_parallel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_app(
        tmp_path,
        """
        class N(NamedTuple):
            n: int

        @ab.app
        def told():
            ab.generate(N, lambda: iter([N(1)])).for_each(lambda x: None)
        """,
    )
    assert main(["run", path, "--engine", "spark"]) == 0
    assert capsys.readouterr().err.startswith("told: all of it ran in the driver: ")
    assert main(["run", path, "--engine", "spark", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def on_a_terminal(*arguments: str) -> str:
    """What the command writes to a terminal as its standard error."""
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "anabranch.cli", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=terminal,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(terminal)
    chunks = []
    while True:
        try:
            chunk = os.read(controller, 4096)
        except OSError:  # the other end was closed
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(controller)
    process.wait(timeout=60)
    return b"".join(chunks).decode()


def test_on_a_terminal_progress_and_a_summary_are_shown(app: str, tmp_path: Path) -> None:
    text = on_a_terminal("run", app, "--count", "40", "--rate", "40", "--out", str(tmp_path / "n.csv"))
    assert "tuples/s" in text
    assert "40 in · 40 out" in text
    assert "n.csv: 40 tuples" in text


def test_brackets_and_colons_in_a_path_are_shown_as_they_are(app: str, tmp_path: Path) -> None:
    text = on_a_terminal("run", app, "--out", str(tmp_path / "out[old]" / "n[" / "x]:car:.csv"))
    assert "out[old]/n[/x]:car:.csv: 3 tuples" in text
    assert "Traceback" not in text


def test_quiet_shows_nothing_on_a_terminal(app: str, tmp_path: Path) -> None:
    assert on_a_terminal("run", app, "--quiet", "--out", str(tmp_path / "n.csv")) == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_stops_cleanly_and_keeps_what_was_written(
    app: str, tmp_path: Path, number: signal.Signals
) -> None:
    out = tmp_path / "numbers.csv"
    out.write_text("of an earlier run")
    process = subprocess.Popen(
        [sys.executable, "-m", "anabranch.cli", "run", app, "--count", "100000", "--rate", "50", "--out", str(out)],
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".*.part")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.0)
    process.send_signal(number)
    _, text = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopped after" in text
    assert "what was written so far is kept" in text
    assert f"{out}.partial: " in text
    assert "Traceback" not in text
    assert out.read_text() == "of an earlier run"
    rows = Path(f"{out}.partial").read_text().splitlines()
    assert rows[0] == "n"
    assert rows[1:] == [str(n) for n in range(len(rows) - 1)]
    assert len(rows) > 2
    assert not list(tmp_path.glob(".*.part"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--stream"], "a stream needs a folder for its state"),
        (["--stream", "--checkpoint", "state", "--engine", "fused"], "the engine 'fused' runs no streams"),
        (["--stream", "--checkpoint", "state", "--once", "--finish"], "use one of them"),
        (["--stream", "--checkpoint", "state", "--engine", "spark", "--batch-mb", "0"], "is not a size of batches"),
        (["--stream", "--checkpoint", "s3://bucket/state", "--engine", "spark"], "not an address"),
        (["--checkpoint", "state"], "--checkpoint is for streams"),
    ],
)
def test_options_of_a_stream_that_do_not_fit_are_said(
    app: str, options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", app, *options]) == 2
    text = capsys.readouterr().err
    assert said in text
    assert "starting Spark" not in text
