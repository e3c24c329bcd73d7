"""The native form against the oracle: random programs, random input, random chunks; values, order, errors and figures.

Programs are random text (`programs.py`); whether native code is left on the way must not be seen from outside.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.codegen.comparing import Comparison, check_same
from tests.codegen.programs import forget_modules, items, written

INPUTS = 4  # for each program, which takes much longer to compile than to run


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ANABRANCH_CACHE", str(tmp_path / "cache"))
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


# Those with these seeds are native, all together cover every operator of the palette, and compile quickly.
@pytest.mark.parametrize("seed", [1, 100, 103, 107, 111, 112, 113, 116, 127, 129])
def test_native_code_is_what_the_oracle_does(seed: int, tmp_path: Path) -> None:
    assert check_program(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1200, 20))
def test_random_programs_are_the_same_natively(first: int, tmp_path: Path) -> None:
    native = [check_program(seed, tmp_path) for seed in range(first, first + 20)]
    assert sum(native) > len(native) / 2  # else this shows nothing
