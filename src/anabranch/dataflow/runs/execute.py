"""Runs a plan as it is: in one job, in one for every round of a loop, or in one for what has come."""

from __future__ import annotations

from anabranch.dataflow.layout.verify_executable import verify_executable
from anabranch.dataflow.result import Result, carrying_result
from anabranch.dataflow.runs.as_it_comes import AsItComes
from anabranch.dataflow.runs.at_once import AtOnce
from anabranch.dataflow.runs.execution import Execution
from anabranch.dataflow.runs.in_rounds import InRounds
from anabranch.dataflow.runs.run_config import RunConfig
from anabranch.graph.places import Reading
from anabranch.graph.plan import Plan


def execute(config: RunConfig) -> Result:
    """Do what the plan says, and nothing else; what nobody could have decided is refused."""
    plan = config.plan
    verify_executable(plan)
    config.metrics.notes += notes_of(plan)
    execution = _execution_of(config)
    with carrying_result(execution.result):
        execution.run()
    return execution.result()


def _execution_of(config: RunConfig) -> Execution:
    plan = config.plan
    if plan.loop is not None:
        return InRounds(config, plan.loop)
    if plan.phases[0].reading is Reading.HERE:
        return AsItComes(config)
    return AtOnce(config)


def notes_of(plan: Plan) -> list[str]:
    """What a user may not expect of how the plan is laid out."""
    notes = []
    for phase in plan.phases:
        if phase.why:
            what = "the sources were read in the driver" if phase.reading is Reading.HERE else "in one place"
            notes.append(f"{what}: {phase.why}")
        notes += [f"in one place: {region}: {why}" for region, why in phase.layout.refused]
    return notes
