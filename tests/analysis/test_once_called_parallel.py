"""Programs that the analysis called parallel once, and that gave other tuples in parallel: none is any more.

Beside them stand attacks: programs that were written to be mistaken for parallel ones, whether they were or not.
"""

from __future__ import annotations

import csv
import decimal
import importlib.util
import locale
import os
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from anabranch.analysis import analyze_function, analyze_operator
from anabranch.graph.schema import schema_of

from .traps.ask import out_of_sight

HEADER = "from typing import NamedTuple\nclass T(NamedTuple):\n    k: int\n    v: float\n"


def _programs(folder: str) -> dict[str, str]:
    texts = [file.read_text() for file in sorted(Path(__file__).with_name(folder).glob("*.txt"))]
    parts = [part.split("\n", 1) for text in texts for part in re.split(r"^#### ", text, flags=re.MULTILINE)[1:]]
    programs = {name: source for name, source in parts}
    assert len(programs) == len(parts), "two programs have one name"
    return programs


PROGRAMS = _programs("once_called_parallel")
ATTACKS = _programs("attacks")
_SOME = list(ATTACKS) if os.environ.get("ANABRANCH_TESTS") == "full" else list(ATTACKS)[::12]


@pytest.fixture
def settings_of_the_process() -> Iterator[None]:
    """Some of the programs set them."""
    limits = csv.field_size_limit(), sys.getrecursionlimit(), sys.get_int_max_str_digits()
    language = locale.setlocale(locale.LC_ALL)
    with decimal.localcontext(), np.printoptions(), np.errstate(), warnings.catch_warnings():
        yield
    csv.field_size_limit(limits[0])
    sys.setrecursionlimit(limits[1])
    sys.set_int_max_str_digits(limits[2])
    locale.setlocale(locale.LC_ALL, language)


@pytest.mark.usefixtures("settings_of_the_process")
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_not_parallel(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _assert_not_parallel(PROGRAMS[name], tmp_path, monkeypatch)


@pytest.mark.usefixtures("settings_of_the_process")
@pytest.mark.parametrize("name", _SOME)
def test_an_attack_is_not_parallel(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _assert_not_parallel(ATTACKS[name], tmp_path, monkeypatch)


def _assert_not_parallel(program_text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, *others = re.split(r"^## file (\w+)\.py\n", program_text, flags=re.MULTILINE)
    for module_name, text in zip(others[::2], others[1::2], strict=True):
        (tmp_path / f"{module_name}.py").write_text(text)
    file = tmp_path / "generated_program.py"
    file.write_text(HEADER + source)
    monkeypatch.syspath_prepend(tmp_path)
    spec = importlib.util.spec_from_file_location("generated_program", file)
    assert spec is not None
    assert spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    with out_of_sight():
        sys.modules["generated_program"] = program
        try:
            spec.loader.exec_module(program)
            schema = schema_of(program.T)
            if hasattr(program, "Op"):
                shared = analyze_operator(program.Op, inputs={"process": schema}, output=schema).shared
            else:
                found = analyze_function(program.op, input=schema, output=schema, emits="one")
                shared = (*found.shared, *found.own)
        finally:
            for module_name in others[::2]:
                sys.modules.pop(module_name, None)
    assert shared
