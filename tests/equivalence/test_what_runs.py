"""What is shown is what runs: what tasks and the driver really called and sent is what the plan's JSON says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anabranch.compiler import compile
from anabranch.dataflow.executed import Fact, Ran, Sent
from anabranch.dataflow.result import Metrics
from anabranch.engines.spark.runs.engine import run_on
from anabranch.explain import Explanation
from anabranch.graph.plan import Plan
from tests.dataflow.simulated import Simulated
from tests.equivalence.test_examples import EXAMPLES, program_of


def shown(plan: Plan) -> set[tuple[str, Fact]]:
    """The facts that `explain --json` shows."""
    told = Explanation(plan, "forms").to_dict()
    facts: set[tuple[str, Fact]] = set()
    for pe in told["pes"]:
        for segment in pe["segments"]:
            inside = tuple(name for each in pe["segments"] for name in each["operators"])
            facts.add((pe["phase"], Ran(pe["place"], inside, tuple(segment["operators"]), segment["form"])))
    for phase in told["phases"]:
        for place in phase["places"]:
            if place["follows"] is None:
                facts |= {(phase["name"], _sent(place, each)) for each in place["arrivals"] if each["clock"] is None}
    return facts


def _sent(place: dict[str, Any], arrival: dict[str, Any]) -> Sent:
    columns = sum("number_of" in step for step in arrival["order_key"])
    key = tuple(arrival["key"]) if place["channels"] > 1 else ()
    return Sent(arrival["from"], arrival["port"], place["id"], place["channels"], key, len(arrival["bounds"]), columns)


@pytest.mark.parametrize(("channels", "fuse"), [(1, "all"), (2, "all"), (3, "all"), (2, "none")])
@pytest.mark.parametrize("example", EXAMPLES)
def test_what_an_example_executes_is_what_its_plan_shows(
    example: str, channels: int, fuse: str, tmp_path: Path
) -> None:
    program = program_of(example, tmp_path)()
    metrics = Metrics()
    result = run_on(Simulated(), compile(program.graph), metrics, channels=channels, epoch=50, fuse=fuse)
    assert set(metrics.executed) == shown(result.plan)
