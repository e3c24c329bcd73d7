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
