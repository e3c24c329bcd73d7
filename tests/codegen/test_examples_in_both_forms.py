"""Every example gives the same files in every form of generated code."""

from __future__ import annotations

import importlib
from functools import partial
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.api.app import App
from anabranch.passes.layout import expected_size

EXAMPLES = sorted(path.stem for path in (Path(__file__).parents[2] / "examples").glob("*.py") if path.stem[0] != "_")
COUNT = 1_500


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_writes_the_same_in_every_form(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module(f"examples.{name}")
    [app] = [each for each in map(partial(getattr, module), dir(module)) if isinstance(each, App)]
    options = module.generate(COUNT, tmp_path)
    collected = {"sequential": ab.run(app(**options)).collected}
    written = {"sequential": contents(tmp_path)}
    # Native wherever it can be, however few the tuples are.
    monkeypatch.setattr(expected_size, "_PAYS_FROM", 0)
    for form in ("python", "auto"):
        collected[form] = ab.run(app(**options), engine="fused", form=form).collected
        written[form] = contents(tmp_path)
    assert len(written["sequential"]) > 1 or collected["sequential"]
    assert written["python"] == written["auto"] == written["sequential"]
    assert collected["python"] == collected["auto"] == collected["sequential"]
