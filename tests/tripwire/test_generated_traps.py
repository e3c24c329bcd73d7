"""The traps for the analysis, with the analysis switched off: what they change, and operators reach, is an error."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from types import ModuleType
from typing import Any

import pytest

import anabranch as ab
from anabranch.errors import SharedStateError
from anabranch.run import as_program
from tests.analysis.traps.ask import loaded
from tests.analysis.traps.generate import Trap, make_traps
from tests.tripwire.unsafe import Apart, run_unsafely

SAMPLE = 60
TUPLES = 9  # few: a trap may double a list with each


def _outcome(module: ModuleType, trap: Trap, operator: Any) -> str:
    """What became of a run in channels: the alarm, another error, or nothing."""
    stream: Any = ab.from_items(module.T, [module.T(n % 3, float(n)) for n in range(TUPLES)])
    match trap.kind:
        case "map":
            stream = stream.map(operator, out=module.T)
        case "filter":
            stream = stream.filter(operator)
        case "flat_map":
            stream = stream.flat_map(operator, out=module.T)
        case _:
            stream = stream.process(operator, key="k", out=module.T)
    try:
        run_unsafely(as_program(stream.collect("out")).graph, on=Apart(readers=1), stretch=3)
    except SharedStateError:
        return "caught"
    except Exception as problem:  # a class that cannot be sent to a worker, say: no wrong answer, either
        return f"stopped: {type(problem).__name__}"
    return "unnoticed"


def _outcomes(traps: Sequence[Trap]) -> dict[str, list[Trap]]:
    found: dict[str, list[Trap]] = {}
    for trap in traps:
        with loaded([trap]) as (module, [operator]):
            found.setdefault(_outcome(module, trap, operator), []).append(trap)
    return found


def _outcomes_of_all(traps: Sequence[Trap]) -> dict[str, list[Trap]]:
    """Some at a time in a process of their own: the analysis remembers every text that it has read."""
    found: dict[str, list[Trap]] = {}
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as apart:
        for some in apart.map(_outcomes, [traps[at : at + 500] for at in range(0, len(traps), 500)]):
            for outcome, those in some.items():
                found.setdefault(outcome, []).extend(those)
    return found


def _reaching(sample: int | None) -> list[Trap]:
    return [trap for trap in make_traps(sample=sample) if trap.changes_reached]


def _expect_none_unnoticed(found: dict[str, list[Trap]]) -> None:
    unnoticed = found.get("unnoticed", [])
    examples = "\n\n".join(f"# {trap.pair} ({trap.place}, {trap.effect})\n{trap.source}" for trap in unnoticed[:5])
    assert not unnoticed, f"{len(unnoticed)} unnoticed, among them\n{examples}"
    assert len(found["caught"]) > 0.8 * sum(map(len, found.values()))


def test_traps_of_a_sample_that_change_what_operators_reach_are_caught() -> None:
    _expect_none_unnoticed(_outcomes(_reaching(SAMPLE)))


@pytest.mark.slow
def test_all_traps_that_change_what_operators_reach_are_caught(
    capsys: pytest.CaptureFixture[str], record_property: Callable[[str, object], None]
) -> None:
    found = _outcomes_of_all(_reaching(None))
    figures = {outcome: len(traps) for outcome, traps in found.items()}
    record_property("outcomes", figures)
    with capsys.disabled():
        print(f"\ntripwire: {figures}")
    _expect_none_unnoticed(found)
