"""A stream of native code, started again by another process in which its program stands on other lines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines.spark.streams.test_streams_on_spark import Folder

PROGRAM = """
from typing import NamedTuple
import anabranch as ab

class Item(NamedTuple):
    n: int
    s: str

class Sum:
    def __init__(self):
        self.total = 0

    def process(self, item: Item) -> Item:
        self.total += item.n
        return Item(self.total, item.s)

@ab.app
def moving(source: str = "in", out: str = "out.csv"):
    ab.read_csv(source, Item).filter(lambda item: item.n % 5 != 0).process(Sum, key="s").write_csv(out)
"""


@pytest.mark.slow
def test_native_code_goes_on_where_lines_of_the_program_have_moved(tmp_path: Path) -> None:
    folder = Folder(tmp_path, None)
    anabranch = [sys.executable, "-m", "anabranch", "run", "moving.py"]
    once = ["--engine", "spark", "--stream", "--once", "--checkpoint", "state", "--form", "native", "--channels", "2"]
    for options in (once, once, ["--engine", "sequential", "--out", "expected.csv"]):
        folder.feed(0 if "sequential" in options else 300)
        (folder.path / "moving.py").write_text("# one line more\n" * folder.files + PROGRAM)
        done = subprocess.run([*anabranch, *options], cwd=folder.path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    expected = (folder.path / "expected.csv").read_text()
    assert expected.count("\n") > 400
    assert (folder.path / "out.csv").read_text() == expected
