"""Notebooks, run by a real kernel: what cells show, and that operators of cells are what those of files are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
TOUR = ROOT / "examples" / "tour.ipynb"

IMPORTS = """
import anabranch as ab
from typing import NamedTuple

class Reading(NamedTuple):
    sensor: str
    value: float

class Total:
    def __init__(self):
        self.total = 0.0

    def process(self, reading: Reading) -> Reading:
        self.total += reading.value
        return Reading(reading.sensor, self.total)

@ab.app
def totals():
    readings = [Reading("ab"[n % 2], float(n)) for n in range(100)]
    ab.from_items(Reading, readings).process(Total, key="sensor").collect("out")
"""


def run(cells: list[str], folder: Path) -> list[Any]:
    """The outputs of each cell."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    ran = NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    return [cell.outputs for cell in ran.execute().cells]


def html_of(outputs: list[Any]) -> str:
    [shown] = [each["data"]["text/html"] for each in outputs if "text/html" in each.get("data", {})]
    return str(shown)


def text_of(outputs: list[Any]) -> str:
    return "".join(each.get("text", "") or each.get("data", {}).get("text/plain", "") for each in outputs)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    edited = IMPORTS.partition("class Total")[2].partition("@ab.app")[0].replace("+=", "-=")
    cells = [
        IMPORTS,
        "totals()",
        "ab.explain(totals, channels=2)",
        "result = ab.run(totals, engine='fused')\nresult",
        "print(repr(result), repr(ab.explain(totals)))",
        "print(ab.explain(totals).is_parallel('Total'), result.items('out')[-1])",
        "class Total" + edited,  # as someone edits the cell, and runs it again
        "print(ab.explain(totals).is_parallel('Total'), ab.run(totals, engine='fused').items('out')[-1])",
    ]
    return run(cells, tmp_path_factory.mktemp("notebook"))


def test_a_program_is_shown_as_a_drawing(shown: list[Any]) -> None:
    assert "<svg" in html_of(shown[1])
    assert "Total" in html_of(shown[1])


def test_an_explanation_is_shown_as_a_drawing_with_tables(shown: list[Any]) -> None:
    page = html_of(shown[2])
    assert "<svg" in page
    assert "Parallel regions" in page
    assert "<body" not in page


def test_a_result_is_shown_with_its_first_tuples_and_figures(shown: list[Any]) -> None:
    page = html_of(shown[3])
    assert re.search(r"<b>out</b>: 100 tuples, the first 10", page)
    assert "100 tuples in, 100 out" in page
    assert page.count("<td>a</td>") == 5
    assert text_of(shown[4]).startswith("<Result of totals: 100 tuples in, 100 out")
    assert "<Explanation of totals: 3 operators, 1 parallel region" in text_of(shown[4])
    assert len(text_of(shown[4])) < 300


def test_operators_of_cells_are_parallel_and_an_edited_cell_is_taken_as_it_is_now(shown: list[Any]) -> None:
    assert text_of(shown[5]).strip() == "True Reading(sensor='b', value=2500.0)"
    assert text_of(shown[7]).strip() == "True Reading(sensor='b', value=-2500.0)"


def test_operators_are_parallel_whose_imports_helpers_and_tables_are_in_other_cells(tmp_path: Path) -> None:
    cells = [
        "import math\nfrom typing import NamedTuple\nimport anabranch as ab",
        "RATES = {'a': 2.0, 'b': 3.0}",
        "class Reading(NamedTuple):\n    sensor: str\n    value: float",
        "def scaled(value):\n    return math.sqrt(value)",
        "def rated(reading: Reading) -> Reading:\n"
        "    return Reading(reading.sensor, RATES[reading.sensor] * scaled(reading.value))",
        "@ab.app\ndef app():\n    ab.from_items(Reading, [Reading('a', 4.0)]).map(rated).collect('out')",
        "print(ab.explain(app).is_parallel('rated'), ab.run(app, engine='fused').items('out'))",
        "RATES['a'] = 5.0",
        "print(ab.run(app, engine='fused').items('out'))",
    ]
    outputs = run(cells, tmp_path)
    assert text_of(outputs[6]).strip() == "True [Reading(sensor='a', value=4.0)]"
    assert text_of(outputs[8]).strip() == "[Reading(sensor='a', value=10.0)]"


@pytest.mark.slow
def test_a_run_and_a_stream_on_spark_in_a_kernel(tmp_path: Path) -> None:
    program = """
from pathlib import Path

def said(reading: Reading) -> Reading:
    print("seen", reading.value)
    return reading

def write(name, value):
    Path("in", f".{name}").write_text(f"sensor,value\\na,{value}\\n")
    Path("in", f".{name}").rename(Path("in", name))

@ab.app
def bounded():
    ab.from_items(Reading, [Reading("a", float(n)) for n in range(3)]).map(said).collect("out")

@ab.app
def live():
    ab.read_csv("in", Reading).process(Total, key="sensor").write_csv("out.csv")

Path("in").mkdir()
write("1.csv", 1)
"""
    cells = [
        IMPORTS,
        program,
        "print(ab.run(bounded, engine='spark', master='local[2]', channels=2).items('out'))",
        "query = ab.start(live, checkpoint='state', master='local[2]', channels=2)\nquery",
        "import time\nend = time.monotonic() + 100\n"
        "while not Path('out.csv').exists() or 'a,1.0' not in Path('out.csv').read_text():\n"
        "    assert time.monotonic() < end\n    time.sleep(0.2)\nwrite('2.csv', 2)\n",
        "result = query.finish()\ntime.sleep(1.5)\nprint(Path('out.csv').read_text())",
    ]
    outputs = run(cells, tmp_path)
    assert "seen 0.0\nseen 1.0\nseen 2.0\n" in text_of(outputs[2])
    assert "[Reading(sensor='a', value=0.0)" in text_of(outputs[2])
    assert "sensor,value\na,1.0\na,3.0" in text_of(outputs[5])
    page = html_of(outputs[3])  # as it was shown last
    assert "which has ended" in page, page


def test_what_goes_on_is_shown_live(tmp_path: Path) -> None:
    live = """
import time
from anabranch.engines.spark.streams.cells import show_live

class Counting:
    shown = 0

    def _repr_html_(self):
        self.shown += 1
        return f"<p>{self.shown}</p>"

end = time.monotonic() + 1.2
show_live(Counting(), lambda: time.monotonic() < end)
"""
    outputs = run([live, "time.sleep(2.5)"], tmp_path)
    shown = re.search(r"<p>(\d+)</p>", html_of(outputs[0]))
    assert shown is not None
    assert int(shown[1]) >= 3


def test_the_tour_runs(tmp_path: Path) -> None:
    notebook = nbformat.read(TOUR, as_version=4)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code")
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    last = notebook.cells[-1].outputs
    assert "True" in text_of(last)
