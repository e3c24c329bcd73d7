"""The plans that are kept as text: one for each example, and one for operators that cannot be parallel."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from anabranch.explain import explain
from anabranch.load import build, load_app

FOLDER = Path(__file__).parent / "plans"
ROOT = Path(__file__).resolve().parents[2]
SOURCES = {path.stem: path for path in sorted((ROOT / "examples").glob("*.py"))} | {
    "not_parallel": Path(__file__).parent / "not_parallel.py"
}


def plan_texts() -> dict[str, str]:
    """What `anabranch explain` prints for each, made in a process of its own.

    The analysis looks at every module that is loaded, and those of other tests have no part in this.
    """
    made = subprocess.run(
        [sys.executable, "-m", "tests.golden.plans_of_examples"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    texts: dict[str, str] = json.loads(made.stdout)
    return texts


def _print_plans() -> None:
    """With paths relative to the root of the project, which is the current folder."""
    programs = {name: build(load_app(str(path.relative_to(ROOT))), {}) for name, path in SOURCES.items()}
    print(json.dumps({name: str(explain(program)) for name, program in programs.items()}))


if __name__ == "__main__":
    _print_plans()
