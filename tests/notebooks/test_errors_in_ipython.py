"""An operator that fails on Spark, in a program that was typed into an IPython shell.

Its classes are in no file and in no module that a worker has: there `__main__` is a program of Spark's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.notebooks.test_notebooks import IMPORTS

STRICT = """
class Strict:
    def __init__(self):
        self.total = 0.0

    def process(self, reading: Reading) -> Reading:
        if reading.value == 57.0:
            raise ValueError("too much")
        self.total += reading.value
        return Reading(reading.sensor, self.total)

readings = [Reading("ab"[n % 2], float(n)) for n in range(100)]
strict = ab.from_items(Reading, readings).process(Strict, key="sensor").collect("out")
"""
ASKED = """
def failing(**options):
    try:
        ab.run(strict, **options)
    except ab.OperatorError as error:
        kept = [tuple(item) for item in error.result.items("out")]
        return {"text": str(error), "item": repr(error.item), "is_theirs": type(error.item) is Reading, "kept": kept}

assert ab.explain(strict).is_parallel("Strict")
expected = failing(engine="sequential")
found = failing(engine="spark", channels=2, master="local[2]")
"""
# The shell of the command `ipython`, each cell typed into it; the first that fails ends it.
SHELL = """
import json, sys
from IPython.terminal.interactiveshell import TerminalInteractiveShell

shell = TerminalInteractiveShell.instance(simple_prompt=True, colors="nocolor")
for cell in json.loads(sys.argv[1]):
    shell.run_cell(cell, store_history=True).raise_error()
with open(sys.argv[2], "w") as file:
    json.dump([shell.user_ns["expected"], shell.user_ns["found"]], file)
"""


def test_an_operator_that_fails_on_spark_keeps_its_tuple(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SHELL, json.dumps([IMPORTS, STRICT, ASKED]), str(tmp_path / "said.json")]
    own = {"IPYTHONDIR": str(tmp_path / "ipython")}  # its settings and its history
    ended = subprocess.run(
        command, cwd=tmp_path, env=os.environ | own, capture_output=True, text=True, check=False, timeout=180
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    expected, found = json.loads((tmp_path / "said.json").read_text())
    assert expected["item"] == "Reading(sensor='b', value=57.0)"
    assert "\n  on Reading(sensor='b', value=57.0)" in expected["text"]
    assert found == expected
    assert found["is_theirs"]
    assert len(found["kept"]) == 57
