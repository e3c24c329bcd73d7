"""The plans that are kept as text: of each example, of queries of NEXMark, and of what is not in channels, or half."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from anabranch.compiler import STAGE_NAMES, compile
from anabranch.explain import Explanation
from anabranch.graph.model import Program
from anabranch.graph.places import SOURCES as READ
from anabranch.graph.places import Place, Reading
from anabranch.graph.plan import Plan
from anabranch.graph.settings import Settings, Target
from anabranch.load import build, load_app

FOLDER = Path(__file__).parent / "plans"
IN_CHANNELS = FOLDER.parent / "in_channels.txt"
ROOT = Path(__file__).resolve().parents[2]
QUERIES = ("q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "records")
SOURCES = (
    {path.stem: str(path.relative_to(ROOT)) for path in sorted((ROOT / "examples").glob("*.py"))}
    | {name: f"tests/golden/{name}.py" for name in ("not_parallel", "two_steps")}
    | {f"nexmark_{name}": f"tests/golden/nexmark.py:{name}" for name in QUERIES}
)
# Besides: with channels that are asked for, and as a stream.
OTHERWISE: dict[str, tuple[str, dict[str, Any]]] = {
    "mobility_fraud_in_channels": ("mobility_fraud", {"channels": 2}),
    "mobility_fraud_stream": ("mobility_fraud", {"target": Target("spark", cores=2).for_stream, "expected": None}),
}
# The same on every machine, whatever files are there: a small one, with so many tuples that native code pays.
SETTINGS = Settings(Target("spark", cores=2), expected=10_000_000)
_READ_BY_MANY = (Reading.SLICES, Reading.APART)


def plan_texts() -> dict[str, str]:
    """What `anabranch explain` prints for each, made in a process of its own, whose folder is the project's."""
    return _printed()["plans"]


def channel_table() -> str:
    """How many operators of each are in channels."""
    return "\n".join(_printed()["in_channels"].values()) + "\n"


def _printed() -> dict[str, dict[str, str]]:
    made = subprocess.run(
        [sys.executable, "-m", "tests.golden.plans_of_examples"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    texts: dict[str, dict[str, str]] = json.loads(made.stdout)
    return texts


def _print_plans() -> None:
    """With paths relative to the root of the project, which is the current folder."""
    programs = {name: build(load_app(target), {}) for name, target in SOURCES.items()}
    plans = {name: compile(program.graph, SETTINGS) for name, program in programs.items()}
    lines = {"": f"{'':18}{'operators':>10}{'in channels':>13}{'in two steps':>14}{'with --channels 2':>19}"}
    lines |= {name: _line(name, program, plans[name]) for name, program in programs.items()}
    texts = {name: str(Explanation(plan, STAGE_NAMES[-1])) for name, plan in plans.items()}
    for name, (program, changes) in OTHERWISE.items():
        plan = compile(programs[program].graph, replace(SETTINGS, **changes))
        texts[name] = str(Explanation(plan, STAGE_NAMES[-1]))
    print(json.dumps({"plans": texts, "in_channels": lines}))


def _line(name: str, program: Program, plan: Plan) -> str:
    asked = compile(program.graph, replace(SETTINGS, channels=2))
    inside = [each for each in plan.graph.operators if not each.is_source and not each.is_sink]
    steps = sum(len(phase.layout.first_steps) for phase in plan.phases)
    return f"{name:18}{len(inside):>10}{_in_channels(plan):>13}{steps:>14}{_in_channels(asked):>19}"


def _in_channels(plan: Plan) -> int:
    """The operators of a program, without sources and sinks, that run in channels or where a source is read by many."""
    found: set[str] = set()
    for phase in plan.phases:
        for place in phase.layout.places:
            first: Place = phase.layout.leading(place)
            if first.channels > 1 or (first.id == READ and phase.reading in _READ_BY_MANY):
                found |= set(place.operators)
    return sum(each.id in found and not each.is_source for each in plan.graph.operators)


if __name__ == "__main__":
    _print_plans()
