"""Every example gives the oracle's files and tuples on the engine for the cores of one machine."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from anabranch.compiler import compile
from anabranch.dataflow.result import Metrics, Result
from anabranch.engines.multicore.transport import Multicore
from anabranch.engines.on_transport import run_on
from anabranch.graph.model import Program
from anabranch.graph.settings import Settings, multicore
from tests.equivalence.test_examples import EXAMPLES, check


def by_workers(program: Program, stretch: int) -> Result:
    plan = compile(program.graph, Settings(multicore(3)))
    return run_on(Multicore(3), plan, Metrics(), channels=2, stretch=stretch)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str, tmp_path: Path) -> None:
    check(name, tmp_path, [partial(by_workers, stretch=100)])
