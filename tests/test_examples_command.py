"""`anabranch examples`, and `anabranch run app.py --generate N`: from nothing to a result in one step."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from anabranch.cli import main

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

APP = '''
from pathlib import Path
from typing import NamedTuple

import anabranch as ab

class Number(NamedTuple):
    n: int

@ab.app
def numbered(source: str, out: str = "out.csv", limit: int = 1000):
    """The numbers below a limit.

    source: a file of numbers
    """
    ab.read_csv(source, Number).filter(lambda t: t.n < limit).SINK

def generate(count: int, folder: Path, seed: int = 7):
    (folder / "in.csv").write_text("n\\n" + "".join(f"{n}\\n" for n in range(count)))
    return RETURNED
'''
RETURNED = '{"source": str(folder / "in.csv"), "out": str(folder / "out.csv")}'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to be in, on a screen of 100 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def app(sink: str = "write_csv(out)", returned: str = RETURNED, name: str = "numbered.py") -> str:
    Path(name).write_text(APP.replace("SINK", sink).replace("RETURNED", returned))
    return name


def error_of(capsys: pytest.CaptureFixture[str]) -> str:
    printed = capsys.readouterr()
    assert printed.out == ""
    return printed.err


# anabranch examples ---------------------------------------------------------------------------------------------


def test_every_example_is_listed_with_the_first_line_of_its_docstring(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)

    assert main(["examples"]) == 0

    listed = capsys.readouterr().out.splitlines()
    entries = dict(line.split(maxsplit=1) for line in listed if line.startswith("examples/"))
    assert sorted(entries) == [f"examples/{path.name}" for path in EXAMPLES]
    assert entries["examples/mobility_fraud.py"] == (
        "Count, every ten minutes, the phones of an area that moved faster than a phone can."
    )
    assert all(re.match(r"[A-Z].*\.$", summary) for summary in entries.values()), "each is a sentence"
    assert listed[-1] == "To run one on data made for it: anabranch run examples/NAME.py --generate 100000"


def test_examples_are_listed_in_an_order_in_which_2_comes_before_15(capsys: pytest.CaptureFixture[str]) -> None:
    Path("examples").mkdir()
    for name in ("q15", "q2", "q", "a9b10", "a9b9"):
        app(name=f"examples/{name}.py")

    assert main(["examples"]) == 0

    assert re.findall(r"examples/(\w+)\.py +The", capsys.readouterr().out) == ["a9b9", "a9b10", "q", "q2", "q15"]


def test_a_file_with_several_apps_has_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    Path("examples").mkdir()
    more = APP.replace("SINK", "write_csv(out)") + '\n@ab.app\ndef other():\n    """Another one."""\n'
    Path("examples/two.py").write_text(more)

    assert main(["examples"]) == 0

    assert capsys.readouterr().out.splitlines()[:2] == [
        "examples/two.py:numbered  The numbers below a limit.",
        "examples/two.py:other     Another one.",
    ]


def test_a_file_that_is_no_example_is_listed_with_the_reason_and_the_others_still_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("examples").mkdir()
    Path("examples/broken.py").write_text("import nothing_of_that_name\n")
    Path("examples/empty.py").write_text("")
    app(name="examples/good.py")

    assert main(["examples"]) == 0

    broken, empty, good, *_ = capsys.readouterr().out.splitlines()
    assert broken.startswith("examples/broken.py  examples/broken.py could not be loaded: ModuleNotFoundError:")
    assert empty == "examples/empty.py   it has no app"
    assert good == "examples/good.py    The numbers below a limit."


def test_it_is_said_where_there_are_no_examples(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["examples"]) == 2

    assert f"there are no examples here: {here} has no folder 'examples'" in error_of(capsys)


# anabranch run --generate ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_makes_its_data_runs_on_them_and_shows_what_it_wrote(
    path: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(path), "--generate", "500"]) == 0

    printed = capsys.readouterr()
    assert printed.err == ""
    results = re.findall(r"^(\S+): ([\d,]+) tuples?$", printed.out, flags=re.MULTILINE)
    assert results, "it shows its results"
    made = [entry for entry in here.rglob("*") if entry.is_file()]
    assert {here / name for name, _ in results} < set(made), "besides the results there are the data"
    assert all(entry.is_relative_to(here / "build" / path.stem) for entry in made)
    assert printed.out.endswith(f"The data are in build/{path.stem}.\n")


@pytest.mark.parametrize("size", ["0", "-3", "1000000000000000"])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_size_that_makes_no_sense_is_refused_in_one_line(
    path: Path, size: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(path), "--generate", size]) == 2

    error = error_of(capsys)
    assert re.fullmatch(r"error: no data can be made: .*(1 or more, not -?\d|need about).*\n", error)
    assert [entry for entry in here.rglob("*") if entry.is_file()] == []


def test_a_size_that_is_no_number_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["run", app(), "--generate", "many"])

    assert caught.value.code == 2
    assert "argument --generate: 'many' is not a whole number" in error_of(capsys)


def test_the_same_size_gives_the_same_data_in_the_same_place(here: Path) -> None:
    path = str(ROOT / "examples" / "mobility_fraud.py")
    main(["run", path, "--generate", "500"])
    first = {entry: entry.read_bytes() for entry in here.rglob("*.csv")}

    main(["run", path, "--generate", "700"])
    main(["run", path, "--generate", "500"])

    assert {entry: entry.read_bytes() for entry in here.rglob("*.csv")} == first


def test_what_is_said_explicitly_wins_over_what_is_generated(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", app(), "--generate", "20", "--out", "mine.csv", "--limit", "3"]) == 0

    assert Path("mine.csv").read_text() == "n\n0\n1\n2\n"
    assert not Path("build/numbered/out.csv").exists()
    assert capsys.readouterr().out.startswith("mine.csv: 3 tuples\n")


def test_a_required_parameter_may_be_generated_and_is_asked_for_otherwise(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", app(), "--generate", "2"]) == 0
    capsys.readouterr()

    with pytest.raises(SystemExit) as caught:
        main(["run", app()])

    assert caught.value.code == 2
    assert "the following arguments are required: --source" in error_of(capsys)


@pytest.mark.parametrize(
    "sink", ["write_csv(out)", "write_csv(out, header=False)", "write_jsonl(out)", "write_parquet(out)"]
)
def test_the_first_ten_rows_of_a_file_are_shown_whatever_its_format(
    sink: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", app(sink), "--generate", "1234", "--limit", "1012"]) == 0

    shown = capsys.readouterr().out
    assert shown.startswith("build/numbered/out.csv: 1,012 tuples\n")
    assert re.findall(r"│ +(\d+) │", shown) == [str(n) for n in range(10)]
    assert "\n… and 1,002 more\n" in shown


def test_a_file_of_lines_is_shown_too(capsys: pytest.CaptureFixture[str]) -> None:
    text = "class Line(NamedTuple):\n    text: str\n\n"
    sink = 'map(lambda t: Line(f"[bold]{t.n}" + "." * 100), out=Line).write_lines(out)'
    Path("numbered.py").write_text(
        APP.replace("SINK", sink).replace("RETURNED", RETURNED).replace("@ab.app", f"{text}@ab.app")
    )

    assert main(["run", "numbered.py", "--generate", "1"]) == 0

    assert f"│ [bold]0{'.' * 32}… │" in capsys.readouterr().out, "as it is, but not longer than a screen is wide"


def test_values_are_shown_in_short_for_the_file_has_them_whole(capsys: pytest.CaptureFixture[str]) -> None:
    types = """
from datetime import UTC, datetime

class Place(NamedTuple):
    x: float

class Row(NamedTuple):
    third: float
    large: float
    at: datetime
    day: datetime
    place: Place
    places: list[Place]

"""
    row = "Row(1 / 3, 61788.4, datetime(2024, 5, 6, 7, 8, 9, 120, UTC), datetime(2024, 5, 6), Place(0.5), [Place(1.5)])"
    sink = f"map(lambda t: {row}, out=Row).write_jsonl(out)"
    Path("numbered.py").write_text(
        APP.replace("SINK", sink).replace("RETURNED", RETURNED).replace("@ab.app", f"{types}@ab.app")
    )

    assert main(["run", "numbered.py", "--generate", "1"]) == 0

    row = capsys.readouterr().out.splitlines()[4]
    assert [cell.strip() for cell in row.strip("│").split("│")] == [
        "0.333333", "61788.4", "2024-05-06 07:08:09.000Z", "2024-05-06 00:00:00", "(0.5,)", "[(1.5,)]",
    ]  # fmt: skip


def test_a_file_that_few_rows_were_written_to_is_shown_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", app(), "--generate", "10"]) == 0

    shown = capsys.readouterr().out
    assert len(re.findall(r"│ +\d+ │", shown)) == 10
    assert "more" not in shown


def test_without_generate_the_command_prints_no_files(capsys: pytest.CaptureFixture[str]) -> None:
    Path("in.csv").write_text("n\n1\n")

    assert main(["run", app(), "--source", "in.csv"]) == 0

    assert capsys.readouterr().out == ""
    assert not Path("build").exists()


@pytest.mark.parametrize("code", ["", "from anabranch import generate\n", "generate = 5\n"])
def test_an_app_without_a_generator_says_what_is_missing(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = APP.replace("SINK", "write_csv(out)").partition("def generate")[0]
    Path("numbered.py").write_text(f"{text}\n{code}")

    assert main(["run", "numbered.py", "--generate", "5"]) == 2

    error = error_of(capsys)
    assert "app 'numbered' has no data of its own: there is no function 'generate' in its file" in error
    assert "try: def generate(count: int, folder: Path, seed: int = 7) -> dict[str, Any]" in error
    assert not Path("build").exists()


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ("None", "'generate' must return the parameters of app 'numbered', but returned None"),
        ('{"sources": "x"}', "'generate' returned 'sources', which is no parameter of app 'numbered'"),
        ("folder.nothing", "'generate' of app 'numbered' failed: AttributeError"),
        ("{}[1 / 0]", "'generate' of app 'numbered' failed: ZeroDivisionError: division by zero"),
    ],
)
def test_a_generator_that_does_something_else_is_shown_at_its_line(
    returned: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", app(returned=returned), "--generate", "5"]) == 2

    error = error_of(capsys)
    assert error.startswith(f"error: {message}")
    assert re.search(r"at numbered.py:\d+   (def generate|return)", error)


def test_a_folder_that_cannot_be_made_is_said_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("build").write_text("a file")

    assert main(["run", app(), "--generate", "5"]) == 2

    assert re.fullmatch(r"error: no data can be made: .*build.*\n", error_of(capsys))
