"""The traps for the analysis, with the analysis switched off: what they change, and operators reach, is an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import pytest

import anabranch as ab
from anabranch.errors import SharedStateError
from anabranch.run import as_program
from tests.analysis.traps.ask import loaded
from tests.analysis.traps.generate import Trap, make_traps
from tests.tripwire.unsafe import run_unsafely

SAMPLE = 60


def _outcome(module: ModuleType, trap: Trap, operator: Any) -> str:
    """What became of a run in channels: the alarm, another error, or nothing."""
    stream: Any = ab.from_items(module.T, [module.T(n % 5, float(n)) for n in range(40)])
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
        run_unsafely(as_program(stream.collect("out")).graph)
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
    found = _outcomes(_reaching(None))
    figures = {outcome: len(traps) for outcome, traps in found.items()}
    record_property("outcomes", figures)
    with capsys.disabled():
        print(f"\ntripwire: {figures}")
    _expect_none_unnoticed(found)
