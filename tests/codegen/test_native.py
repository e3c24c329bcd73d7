"""The native form against the oracle: random programs, random input, random chunks; values, order, errors and figures.

Programs are random text (`programs.py`); whether native code is left on the way must not be seen from outside.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anabranch.operators.aggregate import WindowAggregate
from tests.codegen.comparing import Comparison, check_same
from tests.codegen.programs import forget_modules, items, written

INPUTS = 4  # for each program, which takes much longer to compile than to run


@pytest.fixture(autouse=True)
def _alone(own_cache: Path) -> Iterator[None]:
    yield
    forget_modules()


def check_program(seed: int, folder: Path) -> bool:
    """Compare a random program with the oracle on several inputs; False where it is not native."""
    module = written(seed, folder)
    first: Comparison | None = None
    for number in range(INPUTS):
        given = items(module.Item, 10 * seed + number), items(module.Item, 10 * seed + number + 5)
        comparison = Comparison(*module.program(*given), like=first)
        if not comparison.is_native:
            assert comparison.refused is not None
            assert comparison.refused.operator in comparison.part.operators
            assert comparison.refused.refusal.reason
            assert comparison.refused.refusal.location is not None
            return False
        first = first or comparison
        check_same(comparison, seeds=2)
    return True


# All native, none large, and together they have every operator and every shape of window.
SEEDS = [423, 436, 478, 497, 537, 582, 585, 591, 598, 621, 683, 685, 713, 720, 743]
KINDS = {
    "map", "filter", "flat_map", "split", "union", "distinct", "process", "process by key", "connect", "connect by key",
    "count window", "count window by key", "own clock window", "own clock window by key", "shared clock window by key",
    "shared clock window of groups", "punctuated window", "punctuated window by key", "late tuples",
    "listed count window by key of groups", "listed time window by key", "listed time window by key of groups",
    "sliding count window by key of groups",
}  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
def test_native_code_does_what_the_oracle_does(seed: int, tmp_path: Path) -> None:
    assert check_program(seed, tmp_path)


def test_these_programs_have_every_operator_and_shape_of_window(tmp_path: Path) -> None:
    assert {kind for seed in SEEDS for kind in kinds(seed, tmp_path)} == KINDS


def kinds(seed: int, folder: Path) -> set[str]:
    comparison = Comparison(*written(seed, folder).program([], []))
    assert comparison.assembled is not None
    found = set()
    for name in comparison.part.operators:
        definition: Any = comparison.graph.operator(name).definition
        key = " by key" if definition.key else ""
        if isinstance(definition, WindowAggregate):
            groups = " of groups" if definition.group_by else ""
            record = comparison.assembled.records.get(name)  # None where a condition that never holds is in front
            if record is not None:
                found.add(f"{record.shape} window{key}{groups}")
                found |= {"late tuples"} if definition.late else set()
        else:
            kind = comparison.graph.operator(name).kind
            found.add(f"{kind}{key}" if kind in ("process", "connect") else kind)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1200, 20))
def test_random_programs_are_the_same_natively(first: int, tmp_path: Path) -> None:
    native = [check_program(seed, tmp_path) for seed in range(first, first + 20)]
    assert sum(native) > len(native) / 2  # else this shows nothing
