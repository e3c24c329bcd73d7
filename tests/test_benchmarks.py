"""The benchmarks run, and end with figures that a program can read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_last_line_of_the_benchmarks_on_spark_is_one_json_object(tmp_path: Path) -> None:
    paths = [str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    ended = subprocess.run(
        [sys.executable, "-m", "benchmarks.spark", "--quick", "--only", "order_cost"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert ended.returncode == 0, ended.stderr
    figures = json.loads(ended.stdout.splitlines()[-1])
    assert figures["order_cost"] > 0
    assert figures["seconds"] >= 0
