"""Ordinary programs give the oracle's tuples in channels, also where caches, loggers and fitted models are involved."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from anabranch.engines import fused
from tests.analysis.ordinary.programs import THEMES, alone, graph_of
from tests.dataflow.outcomes import expected, on_simulated, outcome
from tests.equivalence.test_on_spark import on_spark
from tests.examples_drawn import TIMES

EVERY = 1 if TIMES > 1 else 5  # a sample in `make test`


@pytest.mark.parametrize("theme", THEMES[1::EVERY])
def test_in_channels_and_fused(theme: str) -> None:
    with alone(theme):
        graph = graph_of(theme, 30)
        simulated = on_simulated(graph, 3, 7)
        assert outcome(fused.run, graph, form="python") == expected(graph) == simulated


@pytest.mark.parametrize("theme", ["caches", "logs"])
def test_on_spark(theme: str) -> None:
    with alone(theme):
        graph = graph_of(theme, 30)
        assert on_spark(graph, 3, 7) == expected(graph)


SHIPPED = """
import functools, pickle, sys
from anabranch.dataflow.transport.shipping import _JobPickler, _user_modules_by_value

(FOLDER / "helpers_of_mine.py").write_text('''
import functools, logging

log = logging.getLogger(__name__)

@functools.lru_cache(maxsize=2, typed=True)
def short(text):
    log.debug("shortening %s", text)
    return text[:2] if len(text) < 4 else short(text[:3])
''')
sys.path.insert(0, str(FOLDER))
import helpers_of_mine

helpers_of_mine.short("filled before")
with _user_modules_by_value(), open(FOLDER / "sent", "wb") as file:
    _JobPickler(file, "").dump(helpers_of_mine.short)
"""
RECEIVED = """
import pickle
with open(FOLDER / "sent", "rb") as file:
    short = pickle.load(file)
assert short.cache_info().currsize == 0 and short.cache_info().maxsize == 2 and short.cache_parameters()["typed"]
assert short("abcdef") == "ab" and short.cache_info().currsize == 2
"""


def test_a_cached_function_comes_to_workers_by_value_with_an_empty_cache(tmp_path: Path) -> None:
    for code in (SHIPPED, RECEIVED):
        subprocess.run(
            [sys.executable, "-c", f"from pathlib import Path\nFOLDER = Path({str(tmp_path)!r})\n{code}"], check=True
        )
