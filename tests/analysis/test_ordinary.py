"""What ordinary users write is recognised: nearly all of a large corpus of clean operators is called parallel."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from anabranch.engines.sequential import run as run_sequentially

from .ordinary.programs import THEMES, graph_of, operators_of

ALL = [one for theme in THEMES for one in operators_of(theme)]
RECOGNISED_AT_LEAST = 0.98
# Each of these gives the same however it is run, as it is used here; the analysis does not know that, and says why.
NOT_PARALLEL = {
    "caches.edit_distance": "it calls itself through its cache: how deep depends on what came before",
    "caches.fibonacci_of": "it calls itself through its cache: how deep depends on what came before",
    "control.precise_ratio": "what is computed within decimal.localcontext is not followed",
    "logs.guarded": "whether a logger is enabled differs between the program and its workers",
    "models.kmeans.assign": "np.asarray may give back the very array that fit was handed",
    "pipelines.chained_settings": "a ChainMap shows dictionaries that have other names",
    "pipelines.inverted": "keys and values of a dictionary are not told apart, and a set as text has no steady order",
}


def test_the_corpus_is_large_enough() -> None:
    assert len(ALL) >= 300
    assert len({one.id for one in ALL}) == len(ALL)


@pytest.mark.parametrize("theme", THEMES)
def test_ordinary_operators_are_real_programs(theme: str) -> None:
    result = run_sequentially(graph_of(theme))
    silent = [one.name for one in operators_of(theme) if not result.collected[one.output]]
    assert not silent, "these gave nothing"


def _missed_alone() -> dict[str, str]:
    """In a process of its own: what other tests have loaded would count as part of the program."""
    command = [sys.executable, "-m", "tests.analysis.ordinary.programs"]
    said = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True).stdout
    *lines, last = said.splitlines()
    assert "are called parallel" in last
    return dict(line.split(": ", 1) for line in lines)


def test_ordinary_operators_are_called_parallel(
    capsys: pytest.CaptureFixture[str], record_property: Callable[[str, object], None]
) -> None:
    found = _missed_alone()
    share = 1 - len(found) / len(ALL)
    figures = f"ordinary operators: {len(ALL) - len(found)} of {len(ALL)} ({share:.1%}) are called parallel"
    record_property("ordinary", figures)
    with capsys.disabled():
        print(f"\n{figures}")
    unexpected = {name: why for name, why in found.items() if name not in NOT_PARALLEL}
    assert not unexpected, "\n".join(f"{name}: {why}" for name, why in unexpected.items())
    assert not set(NOT_PARALLEL) - set(found), "these are parallel now"
    assert share >= RECOGNISED_AT_LEAST
