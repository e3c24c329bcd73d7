"""The plans that are kept as text: one for each example, and one for operators that cannot be parallel."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from anabranch.compiler import STAGE_NAMES, compile
from anabranch.explain import Explanation
from anabranch.graph.settings import Settings, Target
from anabranch.load import build, load_app

FOLDER = Path(__file__).parent / "plans"
ROOT = Path(__file__).resolve().parents[2]
SOURCES = {path.stem: path for path in sorted((ROOT / "examples").glob("*.py"))} | {
    "not_parallel": Path(__file__).parent / "not_parallel.py"
}
# The same on every machine, whatever files are there: a small one, with so many tuples that native code pays.
SETTINGS = Settings(Target("spark", cores=2), expected=10_000_000)


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
    plans = {name: compile(program.graph, SETTINGS) for name, program in programs.items()}
    print(json.dumps({name: str(Explanation(plan, STAGE_NAMES[-1])) for name, plan in plans.items()}))


if __name__ == "__main__":
    _print_plans()
